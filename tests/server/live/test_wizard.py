"""Researchers who answer in a chatbot's place: who waits, whose answer counts, what follows without."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from server.bots.opened_bots import OpenedBots
from server.bots.people import WizardBot
from server.study import WIZARD
from tests.server.support.bots import Echo
from tests.server.support.database import make_run, query
from tests.server.support.page import Page
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text
from tests.support.waiting import wait_until

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])

CONSENT = {"text": "Some of your partners may be people, who read what you write.", "version": "1"}
AGREED = {"consent": "1", "ticked": []}
PERSONA = ["I keep bees.", "I live in a van."]
Serve = Callable[..., House]


def study(inputs: int = 2, **people: Any) -> str:
    """Return a study with one conversation, with a researcher."""
    settings = {"take_over": "builtin:reflect", "reply": 600.0, "consent_says_so": True}
    return study_text(
        systems=[{"name": "oz", "family": "oz", "bot": WIZARD, "persona": PERSONA}],
        systems_per_assignment=1,
        minimum_inputs=inputs,
        qc_per_assignment=0,
        people=settings | people,
        texts={"consent": CONSENT},
        simulate={"quality": {"oz": 0.9}},
    )


def opened(serve: Serve, url: str, **settings: Any) -> House:
    """Serve a run of the study, where an Echo takes over."""
    run, bots = make_run(url, study(**settings)), OpenedBots(refuse_private=False)
    wizard = WizardBot(run.study, Echo(), bots.people)
    served = dataclasses.replace(run, bots=run.bots | {"oz": wizard}, people={"oz": wizard})
    return serve(url, served, opened_bots=bots)


def start(page: Page, line: str) -> None:
    page.agree(**AGREED)
    page.open_topic()
    page.send("say", text=line)


def queue(house: House) -> list[dict[str, Any]]:
    answer = house.desk(f"/runs/{RUN}/wizard")
    assert answer.status_code == 200, answer.text
    waiting: list[dict[str, Any]] = answer.json()["waiting"]
    return waiting


def waiting(house: House, count: int = 1) -> list[dict[str, Any]]:
    wait_until(lambda: len(queue(house)) == count, f"{count} waiting")
    return queue(house)


def say(house: House, line: dict[str, Any], text: str) -> int:
    body = {"conversation": line["conversation"], "turn": line["turn"], "text": text}
    return house.desk(f"/runs/{RUN}/wizard", method="POST", json=body).status_code


@pytest.mark.databases("sqlite", "postgresql")
def test_who_waits_is_shown_with_the_persona_and_the_first_answer_counts(url: str, serve: Serve) -> None:
    house = opened(serve, url)
    with house.page("ann") as ann:
        start(ann, "Hi!")
        (line,) = waiting(house)
        assert line["persona"] == PERSONA
        assert line["turns"] == [{"author": "worker", "text": "Hi!"}]
        assert (line["turn"], line["system"]) == (1, "oz")
        assert 0 < line["seconds_left"] <= 600
        assert say(house, line | {"turn": 3}, "Too early.") == 409
        assert say(house, line, "Hello, I keep bees.") == 204
        assert say(house, line, "Me too!") == 409
        # Who has not heard that it was stored says it again: before it is shown, and after.
        assert say(house, line, "Hello, I keep bees.") == 204
        assert ann.until("said")["text"] == "Hello, I keep bees."
        assert say(house, line, "Hello, I keep bees.") == 204
        assert say(house, line, "And later still.") == 409
        assert queue(house) == []
        frames = "".join(ann.frames)
    assert "wizard" not in frames
    (who,) = query(url, "SELECT DISTINCT answered_by FROM v1_wizard_line")
    assert query(url, "SELECT model, replica FROM v1_bot_call") == [(WIZARD, *who)]
    assert query(url, "SELECT partner_conversation_id, taken_over_by FROM v1_human_conversation") == [
        (None, None)
    ]


def test_where_nobody_answers_in_time_a_bot_takes_over_for_good(url: str, serve: Serve) -> None:
    house = opened(serve, url, reply=0.2)
    with house.page("ann") as ann:
        start(ann, "Hi!")
        assert ann.until("said")["text"] == "Reply 0 to: Hi!"
        ann.send("say", text="Who is this?")
        assert ann.until("said")["text"] == "Reply 1 to: Who is this?"
    rows = query(url, "SELECT taken_over_by, taken_over_from, taken_over_because FROM v1_human_conversation")
    assert rows == [("builtin:reflect", 1, "silent")]


def test_a_study_may_have_the_chat_end_instead(url: str, serve: Serve) -> None:
    house = opened(serve, url, reply=0.2, when_left="end")
    with house.page("ann") as ann:
        start(ann, "Hi!")
        ann.until("feedback_due")  # there is no other system, and nothing to rate after one line
    assert query(url, "SELECT kind, failure FROM v2_note") == [("bot_gave_up", "gone")]


def test_whoever_left_waits_no_more(url: str, serve: Serve) -> None:
    house = opened(serve, url)
    with house.page("ann") as ann, house.page("bob") as bob:
        start(ann, "Hi!")
        waiting(house)
        start(bob, "Hello.")
        both = waiting(house, 2)
        assert [line["turns"][0]["text"] for line in both] == ["Hi!", "Hello."]  # who waits longest is first
        ann.send("leave")
        ann.until("ended")
        (line,) = waiting(house)
        assert line["turns"][0]["text"] == "Hello."
        assert say(house, both[0], "Too late.") == 409
