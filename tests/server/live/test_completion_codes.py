"""Completion codes: one of each assignment, that nobody has before it is earned; no call takes one."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.support.database import make_run
from tests.server.support.server import House
from tests.server.support.study import study_text

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
Serve = Callable[..., House]
CODE = re.compile(r"[A-Z2-7]{4}-[A-Z2-7]{4}")


def finished(house: House, token: str) -> str:
    """Go all the way; return the code, of which nothing was sent before."""
    with house.open(token) as page:
        page.agree()
        for number in range(1, 5):
            page.converse()
            page.rate("topic_due" if number < 4 else "feedback_due")
        assert not CODE.search("".join(page.frames))
        page.send("feedback", text="")
        return str(page.until("completed")["code"])


def test_an_assignment_has_one_code_however_often_it_is_asked_for(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url))
    token = house.token("ann")
    code = finished(house, token)
    assert CODE.fullmatch(code)
    for again in (token, house.token("ann")):  # in this browser, and in another
        with house.open(again) as page:
            assert page.snapshot["code"] == code
    house.stop()
    house.start()
    with house.open(token) as page:
        assert page.snapshot["code"] == code


def test_a_code_is_of_no_other_worker_run_or_study(url: str, serve: Serve) -> None:
    runs = [make_run(url), make_run(url, slug="second"), make_run(url, study_text(name="pier"), slug="pier")]
    house = serve(url, *runs)
    codes = [
        finished(house, str(house.join(worker, run=run.slug).json()["token"]))
        for run in runs
        for worker in ("ann", "bob")
    ]
    assert len(set(codes)) == 6
    # Of two assignments out of 2,000 some 2e-6 would share one of 2 ** 40.
    assert len({house.auth.completion_code(f"{number:016x}") for number in range(2_000)}) == 2_000
    assert sorted(filter(None, shown(house, runs))) == sorted(codes)


def shown(house: House, runs: list[Any]) -> list[str | None]:
    """Return the codes that researchers see, with which those are compared that people have handed in."""
    return [
        row["completion_code"] for run in runs for row in house.desk(f"/runs/{run.slug}").json()["workers"]
    ]


def test_who_has_not_finished_has_no_code_and_none_is_told_of_them(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url))
    sent = []
    for worker in ("ann", "bob"):
        with house.open(house.token(worker)) as page:
            page.agree()
            page.converse()
            if worker == "bob":
                page.ask("leave")
            sent += page.frames
    with house.open(house.token("bob")) as page:
        sent += page.frames
    assert not CODE.search("".join(sent))
    assert shown(house, house.runs) == [None, None]
