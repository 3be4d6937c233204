"""A worker's frames from two processes (PostgreSQL, Redis) do not depend on the system that answers."""

import asyncio
import json
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import compress
from operator import not_
from typing import Any

import pytest

from bots import Chat, Reply
from server.bots.opened_bots import OpenedBots
from server.bots.people import HumanBot
from server.session.plan import QC
from server.study import PARTNER
from tests.server.live.test_people import AGREED, CONSENT, LONG, served, waiting
from tests.server.support.bots import Echo
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


class Talk:
    """A worker's conversations, each step at the other of two processes than the one before.

    `beside`: how many systems answer at once.
    """

    def __init__(self, houses: tuple[House, House], worker: str, seen: Seen, beside: int = 1) -> None:
        self.houses, self.seen, self._beside = houses, seen, beside
        answer = houses[0].join(worker)
        self.token, self.assignment = answer.json()["token"], answer.json()["assignment"]
        self._at = 0

    def begin(self, stack: ExitStack) -> None:
        self._opened(stack).open_topic()

    def say(self, stack: ExitStack, turn: int) -> Page:
        """Say a line; return the page, opened anew while a bot or a person is to answer."""
        page = self._opened(stack)
        self.seen.note(f"before line {turn}", page.snapshot)
        page.send("say", text="What do you think?")
        self.seen.note(f"accepted {turn}", page.until("accepted"))
        return self.wait(stack, turn)

    def wait(self, stack: ExitStack, turn: int) -> Page:
        page = self._opened(stack)
        self.seen.note(f"waiting {turn}", page.snapshot, self._own())
        return page

    def hear(self, stack: ExitStack, page: Page, turn: int) -> None:
        """Hear the answer, and open the page anew."""
        self.seen.note(f"said {turn}", page.receive())
        self.seen.note(f"after line {turn}", self._opened(stack).snapshot, self._own())

    def end(self, stack: ExitStack) -> None:
        page = self._opened(stack)
        page.send("end_conversation")
        if page.until_any("choice_due", "rating_due") == "rating_due":
            page.send("rate", ratings=RATINGS)
        else:
            named = {"conversation": page.conversation, "attempt": page.attempt}
            page.send("choose", **named, turn=3, preference="left")
        page.until_any("topic_due", "feedback_due")

    def _opened(self, stack: ExitStack) -> Page:
        self._at = 1 - self._at
        return stack.enter_context(self.houses[self._at].open(self.token))

    def _own(self) -> Any:
        """Return the conversation, or both, in what the worker gets of their own data."""
        house = self.houses[self._at]
        answer = house.http("POST", "/api/own-data/download", json={"token": self.token})
        return answer.json()["conversations"][-self._beside :]


def planned(house: House, assignment: str) -> list[str]:
    """Return the systems of an assignment, by position."""
    sql = (
        "SELECT system.name FROM conversation JOIN system ON system.id = system_id "
        "WHERE assignment_id = ? ORDER BY position"
    )
    return [name for (name,) in query(house.url, sql, assignment)]


def has_answers(talk: Talk, number: int) -> bool:
    """Return whether bots have said so many lines in the latest conversation, or in both, shown or not."""
    sql = (
        "SELECT count(*) FROM turn JOIN conversation ON conversation.id = conversation_id "
        "WHERE assignment_id = ? AND author = 'bot' AND status = 'active'"
    )
    return query(talk.houses[0].url, sql, talk.assignment) == [(number,)]


def talk_with(talk: Talk, bots: list[Held]) -> None:
    """Hold a conversation, or two side by side; the bots answer each line one after the other."""
    with ExitStack() as stack:
        talk.begin(stack)
        for turn in (0, 2):
            page = talk.say(stack, turn)
            for earlier, bot in enumerate(bots):
                if earlier:
                    there = len(bots) * turn // 2 + earlier
                    wait_until(partial(has_answers, talk, there), "the faster one's answer")
                    page = talk.wait(stack, turn)
                bot.may.set()
            talk.hear(stack, page, turn)
            for bot in bots:
                bot.may.clear()
        talk.end(stack)


@pytest.mark.parametrize(
    "beside", [pytest.param(1, id="alone"), pytest.param(2, id="side by side", marks=pytest.mark.soak)]
)
def test_whichever_system_answers_first_a_page_is_sent_the_same(
    url: str, serve: Serve, redis: RedisServer, beside: int
) -> None:
    changes: dict[str, Any] = {"display": {"streaming": True}, "withdrawal_days": 3}
    bots = {name: Held() for name in (*SYSTEMS, QC)}
    run = make_run(url, pairs_text(**changes) if beside == 2 else study_text(**changes), bots)
    houses = serve(url, run, redis_url=redis.url), serve(url, run, redis_url=redis.url)
    seen, met = Seen(), set[str]()
    for worker in range(4):
        talk = Talk(houses, f"w{worker}", seen, beside)
        with houses[0].open(talk.token) as page:
            page.agree()
        systems = planned(houses[0], talk.assignment)
        for start in range(0, len(systems), beside):
            quickest_first = systems[start : start + beside][:: 1 if (worker + start // beside) % 2 else -1]
            met.update(quickest_first)
            talk_with(talk, [bots[name] for name in quickest_first])
    assert met == bots.keys()
    assert min(seen.stages.values()) >= 12
    assert seen.differing == {}


def talk_with_each_other(ann: Talk, bob: Talk) -> None:
    """Hold a conversation of two people: who comes first hears the other one's first line as an answer."""
    with ExitStack() as stack:
        ann.begin(stack)
        bob.begin(stack)
        anns = ann.say(stack, 0)
        wait_until(lambda: waiting(ann.houses[0].url) == 1, "the first of both")
        bobs = bob.say(stack, 0)
        ann.hear(stack, anns, 0)
        anns = ann.say(stack, 2)
        bob.hear(stack, bobs, 0)
        bob.say(stack, 2)
        ann.hear(stack, anns, 2)
        bobs = bob.wait(stack, 2)
        ann.end(stack)
        bobs.until("rating_due")  # as the study's guide says, a person may end the chat
        bobs.send("rate", ratings=RATINGS)
        bobs.until_any("topic_due", "feedback_due")


def test_a_person_is_not_told_from_a_bot(url: str, serve: Serve, redis: RedisServer) -> None:
    """Two workers meet each other and a bot, each at one of two processes, and open their pages anew."""
    text = study_text(
        systems=[
            {"name": "person", "family": "person", "bot": PARTNER},
            {"name": "robot", "family": "robot", "bot": "robot://spec"},
        ],
        systems_per_assignment=2,
        qc_per_assignment=0,
        personas="corpus",
        people={"take_over": "builtin:reflect", "wait": LONG, "reply": LONG, "consent_says_so": True},
        texts={"consent": CONSENT},
        simulate={"quality": {"person": 0.9, "robot": 0.5}},
        withdrawal_days=3,
    )
    bot = Held()
    run = make_run(url, text, {"robot": bot})
    houses = []
    for _ in range(2):
        opened = OpenedBots(refuse_private=False)
        people = served(run, HumanBot(run.study, Echo(), opened.people))
        houses.append(serve(url, people, opened_bots=opened, redis_url=redis.url))
    here, there = houses
    seen = Seen()
    talks = Talk((here, there), "ann", seen), Talk((there, here), "bob", seen)
    for talk in talks:
        with talk.houses[0].open(talk.token) as page:
            page.agree(**AGREED)
    begins_with_bot = [planned(here, talk.assignment)[0] == "robot" for talk in talks]
    for talk in compress(talks, begins_with_bot):
        talk_with(talk, [bot])
    talk_with_each_other(*talks)
    for talk in compress(talks, map(not_, begins_with_bot)):
        talk_with(talk, [bot])
    assert seen.stages["said 0"] == 4  # of the bot to both, and of each to the other
    assert seen.differing == {}
