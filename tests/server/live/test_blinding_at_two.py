"""What a worker is sent by two processes over PostgreSQL and Redis, whichever system answers, or a person."""

import asyncio
import json
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from bots import Chat, Reply
from server.session.plan import QC
from tests.server.support.database import make_run, query
from tests.server.support.page import Page
from tests.server.support.server import House
from tests.server.support.study import RATINGS, SYSTEMS, pairs_text, study_text
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.databases("postgresql")
Serve = Callable[..., House]
WORDS = "The same words."
# What is said, and what is drawn or counted for a conversation whichever system it is with.
SCRUBBED = {"id", "conversation", "text", "left", "right", "topic", "pace", "shown_for", "at"}


class Held:
    """Answers once it may, with the words of all the others."""

    def __init__(self) -> None:
        self.may = threading.Event()

    async def reply(self, chat: Chat) -> Reply:
        while not self.may.is_set():  # noqa: ASYNC110  (set from another thread)
            await asyncio.sleep(0.005)
        return Reply(WORDS)


def scrubbed(given: Any) -> Any:
    """Return a message without what may differ; the order of its fields stays."""
    if isinstance(given, list):
        return [scrubbed(each) for each in given]
    if not isinstance(given, dict):
        return given
    return {
        key: "scrubbed" if key in SCRUBBED and isinstance(value, str | int) else scrubbed(value)
        for key, value in given.items()
    }


class Seen:
    """What was sent at each stage of a conversation, as text; at each it should be one and the same."""

    def __init__(self) -> None:
        self._texts: dict[str, set[str]] = defaultdict(set)
        self.stages: dict[str, int] = defaultdict(int)

    def note(self, stage: str, *messages: Any) -> None:
        self.stages[stage] += 1
        self._texts[stage].add(json.dumps(scrubbed(list(messages))))

    @property
    def differing(self) -> dict[str, set[str]]:
        return {stage: texts for stage, texts in self._texts.items() if len(texts) > 1}


def downloaded(house: House, token: str) -> Any:
    """Return the conversations in what a worker gets of their own data."""
    answer = house.http("POST", "/api/own-data/download", json={"token": token})
    assert answer.is_success, answer.text
    return answer.json()["conversations"]


class Talk:
    """A worker's conversations, each step at the other of two processes than the one before."""

    def __init__(self, houses: tuple[House, House], worker: str, bots: dict[str, Held], seen: Seen) -> None:
        self.houses, self.bots, self.seen = houses, bots, seen
        answer = houses[0].join(worker)
        self.token, self.assignment = answer.json()["token"], answer.json()["assignment"]
        self.quicker: set[tuple[str, int]] = set()
        self._at = 0

    def open(self, stack: ExitStack) -> Page:
        self._at = 1 - self._at
        return stack.enter_context(self.houses[self._at].open(self.token))

    def exchange(self, number: int, systems: list[str], turn: int) -> None:
        """Say a line; the bots answer one after the other, and the page is opened anew before each."""
        with ExitStack() as stack:
            page = self.open(stack)
            self.seen.note(f"before line {turn}", page.snapshot)
            page.send("say", text="What do you think?")
            self.seen.note(f"accepted {turn}", page.until("accepted"))
            for count, system in enumerate(systems, start=1):
                page = self.open(stack)
                self.seen.note(f"waiting {turn}", page.snapshot, self._own(len(systems)))
                self.bots[system].may.set()
                if count < len(systems):
                    wait_until(lambda: self._answers(number) == turn + 1, "the first answer")
            self.seen.note(f"said {turn}", page.receive())
            for system in systems:
                self.bots[system].may.clear()
            page = self.open(stack)
            self.seen.note(f"after line {turn}", page.snapshot, self._own(len(systems)))

    def _own(self, last: int) -> Any:
        return downloaded(self.houses[self._at], self.token)[-last:]

    def _answers(self, number: int) -> int:
        """Return how many lines the bots of pair `number` have said."""
        sql = (
            "SELECT count(*) FROM turn JOIN conversation ON conversation.id = conversation_id "
            "WHERE assignment_id = ? AND position IN (?, ?) AND author = 'bot'"
        )
        found = query(self.houses[0].url, sql, self.assignment, 2 * number - 1, 2 * number)
        return int(found[0][0])


def planned(house: House, assignment: str) -> list[str]:
    """Return the systems of an assignment, by position."""
    sql = (
        "SELECT system.name FROM conversation JOIN system ON system.id = system_id "
        "WHERE assignment_id = ? ORDER BY position"
    )
    return [name for (name,) in query(house.url, sql, assignment)]


@pytest.mark.parametrize("side_by_side", [False, True], ids=["alone", "side by side"])
def test_whichever_system_answers_first_a_page_is_sent_the_same(
    url: str, serve: Serve, redis: RedisServer, side_by_side: bool
) -> None:
    changes = {"display": {"streaming": True}, "withdrawal_days": 3}
    text = pairs_text(**changes) if side_by_side else study_text(**changes)
    bots = {name: Held() for name in (*SYSTEMS, QC)}
    run = make_run(url, text, bots)
    houses = tuple(serve(url, run, redis_url=redis.url) for _ in range(2))
    seen, first = Seen(), set()
    for worker in range(4):
        talk = Talk(houses, f"w{worker}", bots, seen)
        with houses[0].open(talk.token) as page:
            page.agree()
        systems = planned(houses[0], talk.assignment)
        together = 2 if side_by_side else 1
        for number in range(1, len(systems) // together + 1):
            held = systems[together * (number - 1) : together * number]
            held = held if (worker + number) % 2 else held[::-1]
            first.add(held[0])
            with houses[0].open(talk.token) as page:
                page.open_topic()
            for turn in (0, 2):
                talk.exchange(number, held, turn)
            with houses[0].open(talk.token) as page:
                page.send("end_conversation")
                if side_by_side:
                    page.until("choice_due")
                    page.send("choose", conversation=number, attempt=1, turn=3, preference="left")
                else:
                    page.until("rating_due")
                    page.send("rate", ratings=RATINGS)
                page.until_any("topic_due", "feedback_due")
    assert first == bots.keys()
    assert min(seen.stages.values()) >= 12
    assert seen.differing == {}
