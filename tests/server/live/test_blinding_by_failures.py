"""Replies of a bot that often fails and is asked again come no later than those of other bots.

The measure is that of `test_blinding_in_time`. Workers chat side by side in virtual time, with the real
enrolment, rules, retries and replicas; only the bots are stand-ins.
"""

import asyncio
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from bots import BotError, Chat, Reply
from bots.serving import Replicas
from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.db.engine import open_engine
from server.db.sessions import read as stored_records
from server.db.sessions import write as rows
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse.bot_replies import Asking
from server.live.converse.sessions import restore
from server.recruiters.arrival import Arrival
from server.session.events import AskBot, BotGaveUp, BotReplied, BotStumbled, FromWorker, ShowReply
from server.session.plan import QC
from server.session.protocol import client_messages
from server.session.reply_time import ReplyTime
from server.session.state import Phase
from server.session.steps.step import step
from tests.server.live.test_blinding_in_time import aucs
from tests.server.support.database import make_run
from tests.server.support.study import AT, RATINGS, SYSTEMS, study_text
from tests.support.virtual_time import run_in_virtual_time

AUTH = Auth("secret", "token", 3600)
NATURAL = ReplyTime()
WORKERS, AT_ONCE, INPUTS = 120, 10, 10
FLAKY = "wombat_plain"


class Computes:
    """A replica that takes half of `slowest` seconds or more, and fails at a share of its calls."""

    def __init__(self, url: str, slowest: float, failures: float) -> None:
        self.url = url
        self._rng = random.Random(url)
        self._slowest = slowest
        self._failures = failures

    async def reply(self, chat: Chat) -> Reply:
        await asyncio.sleep(self._rng.uniform(0.5, 1.0) * self._slowest)
        if self._rng.random() < self._failures:
            raise BotError("it did not answer the question (status 500)")
        return Reply("Indeed.")

    async def probe(self) -> None:
        pass

    async def close(self) -> None:
        pass


class Workers:
    """Workers who go through their assignments, some at a time."""

    def __init__(self, connection: Connection, run: OpenRun, store: Store) -> None:
        self.connection = connection
        self.run = run
        self.asking_store = store
        self.seen: dict[str, list[float]] = defaultdict(list)
        self.replaced: Counter[str] = Counter()
        self.rated: list[int] = []  # conversations, by each worker

    async def come(self, number: int) -> None:
        """Have so many of them come, each as soon as another one is through."""
        numbers = iter(range(number))
        await asyncio.gather(*(self._one_after_the_other(numbers) for _ in range(AT_ONCE)))

    async def _one_after_the_other(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            await Worker(self, number).go_through()


class Worker:
    """One of them. Time is the event loop's."""

    def __init__(self, workers: Workers, number: int) -> None:
        self._workers = workers
        self._asking = Asking(workers.run, workers.asking_store)
        self._rng = random.Random(number)
        self._sent = 0
        who = ArrivingWorker(Arrival("link", f"w{number}"), f"W{number}", False, 1.0, f"{number:016x}")
        self._assignment = enrol(workers.connection, workers.run, who, self._now()).assignment
        row = stored_records.assignment_row(workers.connection, self._assignment)
        records = stored_records.read(workers.connection, row)
        self._state = restore(row.id, row.reply_pace, who.arrival, records, workers.run, AUTH)

    async def go_through(self) -> None:
        while self._state.phase is not Phase.FEEDBACK:
            await asyncio.sleep(self._rng.uniform(2, 8))
            await self._one_step_on()
        self._workers.rated.append(sum(c.status == "rated" for c in self._state.conversations))

    async def _one_step_on(self) -> None:
        current = self._state.current
        named = {"conversation": current.plan.position, "attempt": current.plan.attempt} if current else {}
        match self._state.phase:
            case Phase.INSTRUCTIONS:
                self._send(type="agree")
            case Phase.TOPIC:
                self._send(type="topic", **named, text="the sea", opinion="like")
            case Phase.CHAT if current and current.inputs < INPUTS:
                said = self._send(type="say", **named, turn=len(current.turns), text="Well.")
                await self._wait_for_reply(current.plan.system, *said)
            case Phase.CHAT:
                self._send(type="end_conversation", **named)
            case Phase.RATING:
                self._send(type="rate", **named, ratings=RATINGS)

    async def _wait_for_reply(self, system: str, *effects: Any) -> None:
        asked_at = self._now()
        asked = next(effect for effect in effects if isinstance(effect, AskBot))
        answer = await self._asking.answer(asked, self._state, self._note)
        match answer:
            case BotReplied():
                (shown,) = self._take(answer._replace(at=self._now()))
                assert isinstance(shown, ShowReply)
                self._workers.seen[system].append((shown.at - asked_at).total_seconds())
                await asyncio.sleep((shown.at - self._now()).total_seconds())
            case BotGaveUp():
                self._workers.replaced[system] += 1
                self._take(replace(answer, at=self._now()))

    async def _note(self, stumbled: BotStumbled) -> None:
        self._take(replace(stumbled, at=self._now()))

    def _send(self, **content: Any) -> tuple[Any, ...]:
        self._sent += 1
        message = client_messages.validate_python({"id": f"m{self._sent}", **content})
        return self._take(FromWorker(message, self._now()))

    def _take(self, event: Any) -> tuple[Any, ...]:
        outcome = step(self._state, event)
        rows.write(self._workers.connection, ((self._assignment, record) for record in outcome.records))
        self._state = outcome.state
        return outcome.effects

    @staticmethod
    def _now() -> Any:
        return AT + timedelta(seconds=asyncio.get_running_loop().time())


def chats(url: str, number: int, **changes: Any) -> Workers:
    """Return so many workers who have met bots of equal latencies, one of which fails at 3 calls in 10.

    Latencies are under the floor. `changes`: to the study.
    """

    async def meet() -> Workers:
        clock = asyncio.get_running_loop().time
        bots = {
            name: Replicas([Computes(name, NATURAL.floor, 0.3 if name == FLAKY else 0.0)], 20.0, clock)
            for name in (*SYSTEMS, QC)
        }
        study = study_text(minimum_inputs=INPUTS, reply_time=NATURAL.model_dump(), **changes)
        run = make_run(url, study, bots)
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        with engine.begin() as connection:
            workers = Workers(connection, run, Store(url))
            await workers.come(number)
        engine.dispose()
        return workers

    return run_in_virtual_time(meet())


def test_a_bot_that_fails_at_three_calls_in_ten_is_not_told_apart_and_costs_nobody_a_conversation(
    url: str,
) -> None:
    workers = chats(url, WORKERS)
    found = aucs(workers.seen)
    for name, auc in found.items():
        sys.stdout.write(f"{name}: AUC {auc:.3f}, {len(workers.seen[name])} replies\n")
    assert workers.seen.keys() == {*SYSTEMS, QC}
    # From 400 replies of a system on, the standard error of an AUC is at most sqrt(1 / (12 * 400)) = 0.014.
    assert min(map(len, workers.seen.values())) >= 400
    assert all(abs(auc - 0.5) <= 0.05 for auc in found.values()), found
    # The last try begins within the delay, which is `longest` at most, and takes up to the floor.
    assert max(workers.seen[FLAKY]) < NATURAL.longest + NATURAL.floor
    assert set(workers.replaced) == {FLAKY}
    assert workers.rated == [4] * WORKERS


def test_where_no_other_system_could_take_its_place_a_bot_is_asked_until_the_deadline(url: str) -> None:
    names = (FLAKY, "dugong_plain", "quokka_plain")
    systems = [{"name": name, "family": name, "bot": "bot://spec"} for name in names]
    simulate = {"quality": dict.fromkeys(names, 0.5)}
    workers = chats(url, 20, systems=systems, simulate=simulate)
    # Some 200 replies, of which 0.3^3 came after three failures: later than most delays.
    assert max(workers.seen[FLAKY]) > NATURAL.quantile(0.95)
    assert workers.rated == [4] * 20  # one that has failed at the last reply was judged as it was
