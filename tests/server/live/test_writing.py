"""Tests of how messages were written: stored with them, shown to the worker, removed with their words."""

from collections.abc import Callable

import pytest

from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import study_text
from tests.server.support.writing import WRITING

pytestmark = pytest.mark.databases("sqlite", "postgresql")
KEPT = f"SELECT turn_index, {', '.join(WRITING)} FROM v1_writing ORDER BY turn_index"  # noqa: S608
VALUES = tuple(WRITING.values())


def served(url: str, serve: Callable[..., House], **settings: object) -> House:
    return serve(url, make_run(url, study_text(**settings)))


def own_data(house: House, what: str) -> object:
    answer = house.http("POST", f"/api/own-data/{what}", json={"token": house.token("ann")})
    return answer.json() if answer.content else None


def test_it_is_stored_with_the_input_and_removed_with_it(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve, records_writing=True, withdrawal_days=7)
    with house.page("ann") as page:
        assert page.snapshot["study"]["records_writing"] is True
        page.agree()
        page.open_topic()
        page.send("say", "mine", text="Hello?", writing=WRITING)
        page.until("said")
        assert stored(house, KEPT) == [(0, *VALUES)], "acknowledged is stored"
    with house.page("ann") as page:  # what was sent is sent again where no answer came
        assert page.ask("say", "mine", turn=0, text="Hello?", writing=WRITING)["type"] == "accepted"
        assert page.ask("say", text="And now?", writing=WRITING | {"pasted": -1})["type"] == "error"
        page.say("And now?")
    assert stored(house, KEPT) == [(0, *VALUES)]
    data = own_data(house, "download")
    assert isinstance(data, dict)
    assert [line["writing"] for line in data["conversations"][0]["lines"]] == [WRITING, None, None, None]
    forgotten = house.desk("/workers/forget", method="POST", json={"worker": "ann", "extent": "words"})
    assert forgotten.status_code == 200
    assert stored(house, KEPT) == []


def test_withdrawing_takes_it_back(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve, records_writing=True, withdrawal_days=7)
    with house.page("ann") as page:
        page.agree()
        page.open_topic()
        page.ask("say", text="Hello?", writing=WRITING)
    assert stored(house, KEPT) != []
    own_data(house, "withdraw")
    assert stored(house, KEPT) == []


def test_the_desk_shows_a_worker_beside_the_others(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve, records_writing=True)
    shares = {"ann": (100, 0), "bob": (0, 100), "cleo": (50, 50)}  # typed, pasted
    for worker, (typed, pasted) in shares.items():
        with house.page(worker) as page:
            page.agree()
            page.open_topic()
            line = f"I am {worker}.".ljust(100, "!")
            told = WRITING | {"typed": typed, "pasted": pasted, "composed": 0, "writing_ms": 30_000}
            assert page.ask("say", text=line, writing=told)["type"] == "accepted"
    names = dict(
        stored(
            house,
            "SELECT text, assignment_id FROM v1_turn JOIN conversation "
            "ON conversation.id = conversation_id WHERE author = 'worker'",
        )
    )
    detail = house.desk(f"/assignments/{names['I am bob.'.ljust(100, '!')]}").json()
    rows = {
        row["measure"]: (row["value"], row["low"], row["median"], row["high"]) for row in detail["writing"]
    }
    # Of 0, 0.5 and 1 the quartiles are 0.25, 0.5 and 0.75; 200, 100 and 0 characters a minute.
    assert rows["pasted"] == (1.0, 0.25, 0.5, 0.75)
    assert rows["pace"] == (0.0, 50.0, 100.0, 150.0)
    assert rows["away"] == (2.0, 2.0, 2.0, 2.0)
    first = detail["conversations"][0]["turns"][0]
    assert first["pasted"] == 100


@pytest.mark.databases("sqlite")
def test_nothing_is_stored_where_the_study_does_not_say_so(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve)
    with house.page("ann") as page:
        assert page.snapshot["study"]["records_writing"] is False
        page.agree()
        page.open_topic()
        assert page.ask("say", text="Hello?", writing=WRITING)["type"] == "accepted"
    assert stored(house, "SELECT text FROM v1_turn WHERE author = 'worker'") == [("Hello?",)]
    assert stored(house, KEPT) == []
