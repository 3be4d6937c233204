"""Two workers who chat with each other, each in the place of the other's bot, over real servers."""

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.bots.people import HumanBot
from server.db import partners
from server.db.engine import open_engine
from server.study import PARTNER
from tests.server.support.bots import Echo
from tests.server.support.database import make_run, query
from tests.server.support.page import Page
from tests.server.support.server import House
from tests.server.support.study import AT, RATINGS, study_text
from tests.support.waiting import wait_until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

CONSENT = {"text": "Some of your partners may be people.", "version": "1"}
AGREED = {"consent": "1", "ticked": []}
LONG = 600.0
House2 = Callable[..., House]


def study(inputs: int = 2, **people_: Any) -> str:
    """Return a study with one conversation, of two inputs, with a person."""
    settings = {"take_over": "builtin:reflect", "wait": LONG, "reply": LONG, "consent_says_so": True}
    return study_text(
        systems=[{"name": "person", "family": "person", "bot": PARTNER}],
        systems_per_assignment=1,
        minimum_inputs=inputs,
        qc_per_assignment=0,
        personas="corpus",
        people=settings | people_,
        texts={"consent": CONSENT},
        simulate={"quality": {"person": 0.9}},
    )


def served(run: OpenRun, human: HumanBot) -> OpenRun:
    return dataclasses.replace(run, bots=run.bots | {"person": human}, people={"person": human})


def opened(serve: House2, url: str, run: Any) -> House:
    """Serve `run` by a process with people of its own; an Echo takes over."""
    bots = OpenedBots(refuse_private=False)
    human = HumanBot(run.study, Echo(), bots.people)
    return serve(url, served(run, human), opened_bots=bots)


def start(url: str, page: Page, line: str) -> None:
    """Say the first line, and wait for a person: whoever starts after that comes second."""
    before = waiting(url)
    page.agree(**AGREED)
    page.open_topic()
    page.send("say", text=line)
    wait_until(lambda: waiting(url) > before, "the worker to wait")


def waiting(url: str) -> int:
    return int(query(url, "SELECT count(*) FROM human_conversation")[0][0])


def said(page: Page) -> str:
    return str(page.until("said")["text"])


def humans(house: House) -> list[tuple[Any, ...]]:
    return query(
        house.url,
        "SELECT taken_over_by, taken_over_from, taken_over_because FROM v1_human_conversation"
        " ORDER BY waiting_since",
    )


@pytest.mark.databases("sqlite", "postgresql")
def test_two_workers_at_two_processes_chat_and_rate_each_other(url: str, serve: House2) -> None:
    run = make_run(url, study())
    here, there = opened(serve, url, run), opened(serve, url, run)
    with here.page("ann") as ann, there.page("bob") as bob:
        start(url, ann, "Hi!")
        start(url, bob, "Hello, I sail.")
        assert said(ann) == "Hello, I sail."
        ann.send("say", text="Where?")
        assert said(bob) == "Hi! Where?"
        bob.send("say", text="On a lake.")
        assert said(ann) == "On a lake."
        ann.send("end_conversation")
        ann.until("rating_due")
        bob.until("rating_due")  # the partner has ended the chat, and there were inputs enough
        for page in (ann, bob):
            page.send("rate", ratings=RATINGS)
            page.until("feedback_due")
        frames = "".join([*ann.frames, *bob.frames])
    assert "person" not in frames.replace("persona", "").replace("Some of your partners may be people", "")
    assert "human" not in frames
    both = query(url, "SELECT conversation_id, partner_conversation_id FROM v1_human_conversation")
    assert {own for own, _ in both} == {other for _, other in both}
    assert all(own != other for own, other in both)
    assert humans(here) == [(None, None, None)] * 2
    notes = query(url, "SELECT kind, failure FROM v2_note")
    assert notes == [("ended_by_partner", None)], "no failure of the system"
    assert query(url, "SELECT status FROM v1_conversation") == [("rated",)] * 2


def test_a_bot_takes_over_where_nobody_comes_and_who_comes_later_waits_anew(url: str, serve: House2) -> None:
    house = opened(serve, url, make_run(url, study(wait=0.2)))
    with house.page("ann") as ann:
        start(url, ann, "Hi!")
        assert said(ann) == "Reply 0 to: Hi!"
        with house.page("bob") as bob:
            start(url, bob, "Hello.")
            assert said(bob) == "Reply 0 to: Hello."
    assert humans(house) == [("builtin:reflect", 1, "nobody_came")] * 2


def test_who_falls_silent_is_given_up_and_finds_a_bot_too(url: str, serve: House2) -> None:
    house = opened(serve, url, make_run(url, study(inputs=9, reply=0.5)))
    with house.page("ann") as ann, house.page("bob") as bob:
        start(url, ann, "Hi!")
        start(url, bob, "Hello.")
        assert said(ann) == "Hello."
        assert said(bob) == "Reply 0 to: Hello."  # ann says nothing more
        ann.send("say", text="Sorry, I was away.")
        assert said(ann) == "Reply 1 to: Sorry, I was away."
    assert humans(house) == [("builtin:reflect", 3, "left"), ("builtin:reflect", 1, "silent")]


def test_a_study_may_end_the_chat_where_the_partner_leaves_early(url: str, serve: House2) -> None:
    house = opened(serve, url, make_run(url, study(when_left="end", reply=0.5)))
    with house.page("ann") as ann, house.page("bob") as bob:
        start(url, ann, "Hi!")
        start(url, bob, "Hello.")
        assert said(ann) == "Hello."
        bob.until("feedback_due")  # there is no other system, and nothing to rate after one line
    assert query(url, "SELECT kind, failure FROM v2_note") == [("bot_gave_up", "gone")]
    assert humans(house) == [(None, None, None)] * 2


def test_a_restart_loses_nobody(url: str, serve: House2) -> None:
    house = opened(serve, url, make_run(url, study()))
    with house.page("ann") as ann:
        start(url, ann, "Hi!")
        ann.until("typing")
        house.stop()
    house.opened_bots = OpenedBots(refuse_private=False)
    run = house.runs[0]
    human = HumanBot(run.study, Echo(), house.opened_bots.people)
    house.runs = [served(run, human)]
    house.start()
    with house.page("bob") as bob, house.page("ann") as ann:
        start(url, bob, "Hello.")
        assert said(ann) == "Hello."
        ann.send("say", text="There you are.")
        assert said(bob) == "Hi! There you are."


def test_simulated_workers_are_never_paired_with_people(url: str, serve: House2) -> None:
    house = opened(serve, url, make_run(url, study(wait=0.5)))
    researcher = {"Authorization": f"Bearer {house.auth.researcher_token}"}
    body = {"run": house.runs[0].slug, "worker": "robot", "simulated": True}
    token = house.http("POST", "/api/join", json=body, headers=researcher).json()["token"]
    with house.page("ann") as ann, house.open(token) as robot:
        start(url, ann, "Hi!")
        start(url, robot, "Beep.")
        assert said(ann) == "Reply 0 to: Hi!"
        assert said(robot) == "Reply 0 to: Beep."


@pytest.mark.databases("sqlite", "postgresql")
def test_a_process_that_was_stopped_does_not_take_over_from_who_has_answered(url: str, serve: House2) -> None:
    house = opened(serve, url, make_run(url, study()))
    with house.page("ann") as ann, house.page("bob") as bob:
        start(url, ann, "Hi!")
        start(url, bob, "Hello.")
        assert said(ann) == "Hello."
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        (first,) = query(url, "SELECT conversation_id FROM human_conversation WHERE came_first")[0]
        for why in ("nobody_came", "silent", "left"):
            with engine.begin() as connection:
                assert not partners.give_up_partner(connection, first, 1, why, "late", AT)  # type: ignore[arg-type]
        with engine.begin() as connection:
            again = partners.enter(connection, first, AT, AT - timedelta(days=1))
        engine.dispose()
    assert again is None
    assert humans(house) == [(None, None, None)] * 2
