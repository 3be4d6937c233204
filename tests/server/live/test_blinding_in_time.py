"""Reply times tell no systems apart: as decided, as stored, and as received by a page.

The measure is the AUC of one system against all the rest: the chance that a reply of the system took longer
than a reply of another one, ties counting half. At 0.5 its reply times say nothing.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

from bots import Chat, Reply
from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.engine import open_engine
from server.db.sessions import read as stored_records
from server.db.sessions import write as rows
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse.sessions import LiveSessions, restore
from server.news import News
from server.recruiters.arrival import Arrival
from server.session import protocol as wire
from server.session.events import AskBot, BotReplied, FromWorker, ShowReply
from server.session.plan import QC
from server.session.protocol import ServerMessage, client_messages
from server.session.reply_time import ReplyTime, reply_delay
from server.session.state import Phase
from server.session.steps.step import resume, step
from tests.server.support.database import make_run, query
from tests.server.support.study import AT, RATINGS, SYSTEMS, seconds, study_text
from tests.support.waiting import PATIENCE

AUTH = Auth("secret", "token", 3600)
NATURAL = ReplyTime()
WORKERS, INPUTS = 150, 12
Latency = Callable[[random.Random], float]

# p95 below the floor, and nothing else in common.
UNDER_THE_FLOOR: dict[str, Latency] = {
    "quokka_plain": lambda rng: 0.0,
    "quokka_warm": lambda rng: NATURAL.floor,
    "marmot_plain": lambda rng: rng.uniform(0.0, NATURAL.floor),
    "marmot_warm": lambda rng: 0.02 if rng.random() < 0.5 else 0.9 * NATURAL.floor,
    "wombat_plain": lambda rng: min(rng.expovariate(3.0), NATURAL.floor),
    "dugong_plain": lambda rng: 30.0 if rng.random() < 0.04 else 0.1,  # now and then it hangs
    QC: lambda rng: 0.001,
}
SLOW = "wombat_plain"
ONE_SLOW = UNDER_THE_FLOOR | {SLOW: lambda rng: rng.gauss(4.0, 0.5)}


def aucs(times: Mapping[str, Iterable[float]]) -> dict[str, float]:
    """Return the AUC of every system against all the rest."""
    names = [name for name, of_system in times.items() for _ in of_system]
    ranks = rankdata([time for of_system in times.values() for time in of_system])
    found = {}
    for system in times:
        own = np.array([name == system for name in names])
        n, rest = int(own.sum()), int((~own).sum())
        found[system] = float((ranks[own].sum() - n * (n + 1) / 2) / (n * rest))
    return found


class Clockwork:
    """Workers who go through their assignments on a clock of their own; nobody waits."""

    def __init__(self, url: str, latencies: Mapping[str, Latency]) -> None:
        reply_time = NATURAL.model_dump()
        self.run = make_run(url, study_text(minimum_inputs=INPUTS, reply_time=reply_time))
        self.latencies = latencies
        self.rng = random.Random(4)
        self.seen: dict[str, list[float]] = defaultdict(list)
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        with engine.begin() as self.connection:
            for number in range(WORKERS):
                self.hold(number)
        engine.dispose()

    def hold(self, number: int) -> None:
        worker = ArrivingWorker(Arrival("link", f"w{number}"), f"W{number}", False, 1.0)
        assignment = enrol(self.connection, self.run, worker, AT).assignment
        row = stored_records.assignment_row(self.connection, assignment)
        records = stored_records.read(self.connection, row)
        self.state = restore(row.id, row.reply_pace, worker.arrival, records, self.run, AUTH)
        self.now, self.sent = AT, 0
        while self.state.phase is not Phase.FEEDBACK:
            self.one_step_on(assignment)

    def one_step_on(self, assignment: str) -> None:
        current = self.state.current
        named = {"conversation": current.plan.position, "attempt": current.plan.attempt} if current else {}
        match self.state.phase:
            case Phase.INSTRUCTIONS:
                self.send(assignment, type="agree")
            case Phase.TOPIC:
                self.send(assignment, type="topic", **named, text="the sea", opinion="like")
            case Phase.CHAT if current and current.inputs < INPUTS:
                self.exchange(assignment, current.plan.system, named, len(current.turns))
            case Phase.CHAT:
                self.send(assignment, type="end_conversation", **named)
            case Phase.RATING:
                self.send(assignment, type="rate", **named, ratings=RATINGS)

    def exchange(self, assignment: str, system: str, named: dict[str, int], turn: int) -> None:
        """Say a line and wait for the bot's; note how long the worker looked at an empty line."""
        asked_at = self.now
        asked = next(
            effect
            for effect in self.send(assignment, type="say", **named, turn=turn, text="Well.")
            if isinstance(effect, AskBot)
        )
        latency = max(self.latencies[system](self.rng), 0.0)
        answered_at = asked_at + seconds(latency)
        event = BotReplied(asked.conversation, asked.index, "Indeed.", round(latency * 1000), answered_at)
        (shown,) = self.take(assignment, event)
        assert isinstance(shown, ShowReply)
        still_hidden = (shown,) if shown.at > answered_at else ()
        assert resume(self.state, answered_at) == still_hidden  # after a restart, too
        self.seen[system].append((shown.at - asked_at).total_seconds())
        self.now = shown.at + seconds(1)

    def send(self, assignment: str, **content: Any) -> tuple[Any, ...]:
        self.sent += 1
        message = client_messages.validate_python({"id": f"m{self.sent}", **content})
        return self.take(assignment, FromWorker(message, self.now))

    def take(self, assignment: str, event: Any) -> tuple[Any, ...]:
        outcome = step(self.state, event)
        rows.write(self.connection, ((assignment, record) for record in outcome.records))
        self.state = outcome.state
        return outcome.effects


def overruns(url: str) -> dict[str, tuple[int, int]]:
    """Return, as an analyst reads them, how many replies of every system there are and how many overran."""
    found = query(
        url,
        "SELECT system, count(*), sum(overran) FROM v1_turn JOIN v1_conversation USING (conversation_id) "
        "WHERE author = 'bot' GROUP BY system",
    )
    return {system: (replies, overran) for system, replies, overran in found}


def test_latencies_under_the_floor_tell_no_system_apart(url: str) -> None:
    clockwork = Clockwork(url, UNDER_THE_FLOOR)
    assert clockwork.seen.keys() == {*SYSTEMS, QC}
    # From 600 replies of a system on, the standard error of an AUC is at most sqrt(1 / (12 * 600)) = 0.012.
    assert min(map(len, clockwork.seen.values())) >= 600
    found = aucs(clockwork.seen)
    assert all(abs(auc - 0.5) <= 0.05 for auc in found.values()), found


def test_a_system_over_the_floor_is_told_apart_and_its_overruns_are_recorded(url: str) -> None:
    clockwork = Clockwork(url, ONE_SLOW)
    found = aucs(clockwork.seen)
    assert found[SLOW] > 0.7, found
    recorded = overruns(url)
    assert {name: replies for name, (replies, _) in recorded.items()} == {
        name: len(times) for name, times in clockwork.seen.items()
    }
    replies, overran = recorded[SLOW]
    # A delay of 4 s is 1.34 standard deviations up, exp(1.34 * 0.35) * 2.5 = 4: nine in ten are shorter.
    assert overran > 0.8 * replies
    assert recorded["quokka_plain"][1] == recorded[QC][1] == 0


def test_the_bound_that_the_floor_promises_is_not_exceeded() -> None:
    """The worst that the floor lets through: 95 % of replies at the floor, 5 % later than any delay."""
    rng = random.Random(2)
    drawn = [reply_delay(NATURAL, 1.0, seed, 1).total_seconds() for seed in range(20_000)]
    times = {
        "prompt": drawn[::2],
        "worst": [max(delay, 60.0 if rng.random() < 0.05 else NATURAL.floor) for delay in drawn[1::2]],
    }
    # 0.95 * (0.5 + 0.05^2 / 2) + 0.05 = 0.526; the standard error is sqrt(1 / (6 * 10000)) = 0.004.
    assert aucs(times)["worst"] == pytest.approx(0.526, abs=0.012)


# ---- over the real runtime -------------------------------------------------------------------


class Takes:
    """Answers after `latency` seconds."""

    def __init__(self, latency: float) -> None:
        self._latency = latency

    async def reply(self, chat: Chat) -> Reply:
        await asyncio.sleep(self._latency)
        return Reply("Indeed.")


class TimedPage:
    """A page that notes when it is sent what."""

    def __init__(self) -> None:
        self.heard: list[tuple[datetime, ServerMessage]] = []
        self._news = asyncio.Event()

    def send(self, *messages: ServerMessage) -> None:
        self.heard.extend((utc_now(), message) for message in messages)
        self._news.set()

    def close(self) -> None:
        raise AssertionError("nobody takes this session over")

    async def hears(self, type_: str, times: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while sum(message.type == type_ for _, message in self.heard) < times:
                self._news.clear()
                await self._news.wait()


SHORT = ReplyTime(median=0.2, spread=0.35, longest=1.0)
LIVE_LATENCIES = dict.fromkeys([*SYSTEMS, QC], 0.0) | {"quokka_plain": 0.05, "marmot_plain": 0.5}


async def chat_through(live: LiveSessions, run: OpenRun, store: Store, worker: str) -> TimedPage:
    """Hold the first conversations of an assignment, two inputs each, and return what the page heard."""
    worker = ArrivingWorker(Arrival("link", worker), f"W-{worker}", False, 1.0)
    at = utc_now()
    enrolment = await store.submit(lambda connection: enrol(connection, run, worker, at))
    session, page = await live.open(enrolment.assignment), TimedPage()
    await session.attach(page)
    sent = replies = 0

    async def send(**content: Any) -> None:
        nonlocal sent
        sent += 1
        message = client_messages.validate_python({"id": f"m{sent}", **content})
        await session.receive(FromWorker(message, utc_now()), page)

    await send(type="agree")
    for conversation in range(1, 5):
        named = {"conversation": conversation, "attempt": 1}
        await send(type="topic", **named, text="the sea", opinion="like")
        for turn in (0, 2):
            await send(type="say", **named, turn=turn, text="Well.")
            replies += 1
            await page.hears("said", replies)
        await send(type="end_conversation", **named)
        await send(type="rate", **named, ratings=RATINGS)
    await send(type="leave")
    return page


async def test_what_a_page_hears_comes_no_earlier_than_its_delay_and_looks_the_same_for_all(url: str) -> None:
    bots = {system: Takes(latency) for system, latency in LIVE_LATENCIES.items()}
    run = make_run(url, study_text(reply_time=SHORT.model_dump()), bots)
    store = Store(url)
    store.start()
    live = LiveSessions(store, {run.id: run}, AUTH, News())
    try:
        pages = await asyncio.gather(*(chat_through(live, run, store, worker) for worker in _workers()))
    finally:
        store.stop()
    # Whichever systems a worker met, the page was told the same, in the same order.
    assert len({tuple(message.type for _, message in page.heard) for page in pages}) == 1
    shown_at = {worker: _told(page) for worker, page in zip(_workers(), pages, strict=True)}
    stored = query(
        url,
        "SELECT w.external_id, s.name, c.position, c.seed, t.turn_index, q.created_at, t.created_at, "
        "t.show_at "
        "FROM turn t JOIN conversation c ON c.id = t.conversation_id JOIN system s ON s.id = c.system_id "
        "JOIN assignment a ON a.id = c.assignment_id JOIN worker w ON w.id = a.worker_id "
        "JOIN turn q ON q.conversation_id = t.conversation_id AND q.turn_index = t.turn_index - 1 "
        "WHERE t.author = 'bot' ORDER BY w.external_id, c.position, t.turn_index",
    )
    assert {system for _, system, *_ in stored} == {*SYSTEMS, QC}
    assert len(stored) == 12 * 4 * 2
    for worker, _, position, seed, index, *times in stored:
        asked, answered, shows = map(_as_time, times)
        drawn = reply_delay(SHORT, 1.0, seed, index)
        assert shows == max(asked + drawn, answered)
        assert shown_at[worker][position, index] >= shows
    slow = [row for row in stored if row[1] == "marmot_plain"]
    assert any(row[6] == row[7] for row in slow), "0.5 s exceed hardly all of the delays around 0.2 s"


def _workers() -> list[str]:
    return [f"w{number}" for number in range(12)]


def _told(page: TimedPage) -> dict[tuple[int, int], datetime]:
    """Return when the page was told which line: by conversation and index."""
    return {
        (message.conversation, message.turn): at
        for at, message in page.heard
        if isinstance(message, wire.SaidByBot)
    }


def _as_time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=AT.tzinfo)
