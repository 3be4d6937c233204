"""A session has one owner: whatever processes, pages, bots, news and the database do, in whatever order.

A machine plays several processes over one real store, the pages of one worker at all of them, bots that
answer when they like, news that is late or lost, processes that stop for a while or die, and commits of which
nobody hears. After every step what is stored is compared with a model of it: what pages have sent and were
told.
"""

import asyncio
import itertools
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from bots import BotError
from bots.core.failures import BotGone
from bots.crowd.view import PageView
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.engine import migrate
from server.db.store import Store
from server.errors import CandorError
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse import bot_replies
from server.news import News
from server.recruiters.arrival import Arrival
from server.session.events import FromWorker
from server.session.protocol import client_messages
from tests.server.support.database import audit, execute, make_run, query
from tests.server.support.processes import Bots, Gossip, HeldStore, Message, Page, Process
from tests.server.support.study import AT, RATINGS, study_text

T = TypeVar("T")
PROCESSES = 3
# A number that picks one of a list. Its limits must not depend on the state of the processes: that may differ
# when Hypothesis repeats an example, which it refuses as flaky.
PICKS = st.integers(0, 255)
SOAK = bool(os.environ.get("CANDOR_SOAK"))  # `make soak`
# No try is given up because this machine is slow: only the machine's rules end one.
UNHURRIED = {"timeouts": {"bot_try": 3000, "bot_total": 3000}}
ENOUGH_TURNS_OF_THE_LOOP = 25  # until every task waits for something that only a rule can bring
# Which number the database had when a line was written.
WITNESS = (
    "CREATE TABLE witness (conversation_id TEXT, turn_index INTEGER, fence INTEGER)",
    """CREATE TRIGGER witness_of_turns AFTER INSERT ON turn BEGIN
           INSERT INTO witness SELECT NEW.conversation_id, NEW.turn_index, assignment.fence
           FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
           WHERE conversation.id = NEW.conversation_id;
       END""",
)
# Every message of the worker's that is stored: its id, what it was, and what it said.
STORED = """
    SELECT client_id, 'say', text FROM turn JOIN conversation ON conversation.id = conversation_id
    WHERE author = 'worker' AND assignment_id = :one
    UNION ALL SELECT client_id, CASE ordinal WHEN 0 THEN 'topic' ELSE 'topic_change' END, topic
    FROM topic_mark JOIN conversation ON conversation.id = conversation_id WHERE assignment_id = :one
    UNION ALL SELECT ended_by, 'end_conversation', '' FROM conversation
    WHERE ended_by IS NOT NULL AND assignment_id = :one
    UNION ALL SELECT rated_by, 'rate', '' FROM conversation
    WHERE rated_by IS NOT NULL AND assignment_id = :one
    UNION ALL SELECT agreed_by, 'agree', '' FROM assignment WHERE agreed_by IS NOT NULL AND id = :one
    UNION ALL SELECT feedback_by, 'feedback', feedback FROM assignment
    WHERE feedback_by IS NOT NULL AND id = :one"""
LINES = """
    SELECT position, attempt, turn_index, author, text, client_id, conversation.id FROM turn
    JOIN conversation ON conversation.id = conversation_id WHERE assignment_id = ?
    ORDER BY position, attempt, turn_index"""
STANDING = "SELECT position, attempt, status, topic FROM conversation LEFT JOIN topic_mark ON\
 conversation_id = conversation.id AND ordinal = 0 WHERE assignment_id = ?"


class Ownership(RuleBasedStateMachine):
    """Three processes and one worker, who may have any number of pages."""

    url: str
    runs: tuple[OpenRun, Bots]
    names = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.errors: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.errors.append(context))
        self.run, self.bots = self.runs
        self.bots.at_once = False
        self.bots.asked.clear()
        self.gossip = Gossip()
        self.pages: list[Page] = []
        self.sent: dict[str, Message] = {}
        self.accepted: list[str] = []
        self.written: dict[tuple[str, int], int] = {}
        self.tried: dict[tuple[str, int], set[int]] = {}
        self.busy: set[asyncio.Task[Any]] = set()
        self.order = asyncio.Lock()
        self.store = Store(self.url)
        self.store.start()
        self.processes = [self.new_process() for _ in range(PROCESSES)]

    def new_process(self) -> Process:
        held = HeldStore(self.store, self.order, self.written, self.tried, self.busy)
        return Process(held, self.gossip, self.run)

    @initialize()
    def arrive(self) -> None:
        worker = ArrivingWorker(Arrival("link", f"w{next(self.names)}"), f"W{next(self.names)}", False, 1.0)

        async def work() -> str:
            return (
                await self.store.submit(lambda connection: enrol(connection, self.run, worker, AT))
            ).assignment

        self.assignment = self.loop.run_until_complete(work())

    def settle(self, act: Callable[[], None]) -> None:
        """Do something, and let everything that follows from it happen, as far as no rule holds it up."""

        async def run() -> None:
            act()
            for _ in range(ENOUGH_TURNS_OF_THE_LOOP):
                await asyncio.sleep(0)
                while self.busy:
                    await asyncio.wait(tuple(self.busy))
                    await asyncio.sleep(0)

        self.loop.run_until_complete(run())

    # ---- what may happen

    @rule(number=st.integers(0, PROCESSES - 1))
    def open(self, number: int) -> None:
        process = self.processes[number]
        page = Page(process)
        self.pages.append(page)
        self.settle(lambda: process.spawn(self._connect(page)))

    async def _connect(self, page: Page) -> None:
        session = await page.process.live.open(self.assignment)
        if not page.cut:
            await session.attach(page)
            page.session = session
            if page.cut:
                session.detach(page)
        page.process.live.release(self.assignment)

    @rule(pick=PICKS, early=st.booleans())
    def send_next(self, pick: int, early: bool) -> None:
        """Send what the worker does on the page that they see; `early`: they end a chat once they may."""
        page = self._some_page(pick)
        if page is None:
            return
        assert page.view is not None
        content = _next(page.view, early)
        if content is not None:
            message_id = f"m{len(self.sent)}"
            self.sent[message_id] = {"id": message_id, **content}
            page.outbox.append(message_id)
            self._send(page, message_id)

    @rule(pick=PICKS, which=PICKS)
    def send_again(self, pick: int, which: int) -> None:
        """Any page sends what any page has sent before: browsers share what they keep."""
        page, message = self._some_page(pick), _picked(list(self.sent), which)
        if page is not None and message is not None:
            self._send(page, message)

    def _some_page(self, pick: int) -> Page | None:
        return _picked([page for page in self.pages if page.alive], pick)

    def _send(self, page: Page, message_id: str) -> None:
        self.settle(lambda: page.process.spawn(self._deliver(page, message_id)))

    async def _deliver(self, page: Page, message_id: str) -> None:
        message = FromWorker(client_messages.validate_python(self.sent[message_id]), utc_now())
        assert page.session is not None
        try:
            await page.session.receive(message, page)
        except CandorError as error:
            if not page.closed and not page.cut:
                page.told.append({"type": "error", "id": message_id, "retry": error.retry})

    @rule(pick=PICKS)
    def disconnect(self, pick: int) -> None:
        page = self._some_page(pick)
        if page is not None:
            self.settle(lambda: self._leave(page))

    def _leave(self, page: Page) -> None:
        page.cut = True
        if page.session is not None:
            page.session.detach(page)
            page.process.live.release(self.assignment)

    @rule(pick=PICKS, how=st.sampled_from(["answers", "answers", "answers", "stumbles", "gives up"]))
    def bot(self, pick: int, how: str) -> None:
        asked = _picked(self.bots.asked, pick)
        if asked is None:
            return
        errors = {"stumbles": BotError("out of breath"), "gives up": BotGone("gone")}

        def act() -> None:
            if not asked.done():
                asked.set_exception(errors[how]) if how in errors else asked.set_result("Reply")

        self.settle(act)

    @rule(pick=PICKS, lost=st.booleans())
    def news(self, pick: int, lost: bool) -> None:
        found = _picked(self.gossip.under_way, pick)
        if found is None:
            return
        self.gossip.under_way.remove(found)
        member, topic, payload = found
        if not lost:
            self.settle(lambda: News.publish(member, topic, payload))

    @rule(number=st.integers(0, PROCESSES - 1), where=st.sampled_from(["before", "behind"]))
    def stop_for_a_while(self, number: int, where: str) -> None:
        """A process stops, before what it asks of the database or before it hears the answer."""
        getattr(self.processes[number].store, where).clear()

    @rule(number=st.integers(0, PROCESSES - 1))
    def go_on(self, number: int) -> None:
        self.settle(self.processes[number].go_on)

    @rule(
        number=st.integers(0, PROCESSES - 1),
        how=st.sampled_from(["nothing stored", "stored, and nobody told"]),
    )
    def fail_to_store(self, number: int, how: str) -> None:
        """The next records of a process are not stored, or are, while the connection is lost."""
        self.processes[number].store.fails = [how]

    @rule(number=st.integers(0, PROCESSES - 1))
    def crash(self, number: int) -> None:
        """A process is gone without a word; another takes its number."""
        gone = self.processes[number]

        def act() -> None:
            self.gossip.members.remove(gone.news)
            self.gossip.under_way = [told for told in self.gossip.under_way if told[0] is not gone.news]
            for page in self.pages:
                page.cut = page.cut or page.process is gone
            for task in gone.tasks:
                task.cancel()
            for session in gone.live._sessions.values():
                session._replies.cancel()
            for task in gone.live._looking:
                task.cancel()
            gone.go_on()
            self.processes[number] = self.new_process()

        self.settle(act)

    @rule(pick=PICKS, number=st.integers(0, PROCESSES - 1), steps=st.integers(1, 6))
    def get_on(self, pick: int, number: int, steps: int) -> None:
        """A worker on a page gets on for a while, undisturbed, so that sessions come far."""
        if not any(page.alive for page in self.pages):
            self.open(number)
        for _ in range(steps):
            if not any(page.alive for page in self.pages):
                return
            if self.bots.asked:
                self.settle(lambda: self.bots.asked[-1].done() or self.bots.asked[-1].set_result("Reply"))
            else:
                self.send_next(pick, True)

    # ---- what always holds

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return query(self.url, sql.replace(":one", f"'{self.assignment}'"))

    @invariant()
    def what_was_acknowledged_is_stored_once_and_nothing_else_is(self) -> None:
        stored = self.rows(STORED)
        ids = Counter(row[0] for row in stored)
        for page in self.pages:
            for message in page.told:
                assert message["type"] != "accepted" or ids[message["id"]] == 1, (message, ids)
        for client_id, type_, text in stored:
            sent = self.sent[client_id]
            assert (type_, text) == (sent["type"], sent.get("text") or sent.get("topic") or ""), sent

    @invariant()
    def lines_stand_where_they_were_said_and_alternate(self) -> None:
        lines = query(self.url, LINES, self.assignment)
        for place, of_one in itertools.groupby(lines, key=lambda line: line[:2]):
            for index, (_, _, turn, author, _, client_id, _) in enumerate(of_one):
                assert (turn, author) == (index, "bot" if index % 2 else "worker")
                if author == "worker":
                    sent = self.sent[client_id]
                    assert (sent["conversation"], sent["attempt"], sent["turn"]) == (*place, turn)

    @invariant()
    def only_the_owner_has_written(self) -> None:
        found = {(row[6], row[2]): row for row in query(self.url, LINES, self.assignment)}
        witnesses = query(
            self.url,
            f"SELECT * FROM witness WHERE conversation_id LIKE '{self.assignment}-%'",  # noqa: S608
        )
        assert len(witnesses) == len(found)
        for conversation, turn, fence in witnesses:
            written = self.written.get((conversation, turn))
            assert fence in self.tried[conversation, turn] if written is None else fence == written

    @invariant()
    def no_page_is_told_what_is_not_so(self) -> None:
        lines = {tuple(row[:3]): (row[3], row[4]) for row in query(self.url, LINES, self.assignment)}
        standing = {row[:2]: row[2:] for row in query(self.url, STANDING, self.assignment)}
        (status,) = query(self.url, "SELECT status FROM assignment WHERE id = ?", self.assignment)[0]
        for page in self.pages:
            for message in page.told:
                place = (message.get("conversation"), message.get("attempt"))
                match message["type"]:
                    case "said":
                        assert lines[(*place, message["turn"])] == ("bot", message["text"])
                    case "snapshot" if card := message["conversation"]:
                        at = (card["conversation"], card["attempt"])
                        for turn in card["turns"]:
                            assert lines[(*at, turn["turn"])] == (turn["author"], turn["text"])
                    case "conversation_started":
                        assert standing[place][1] == message["topic"]
                    case "rating_due":
                        assert standing[place][0] in {"ended", "rated"}
                    case "replaced":
                        assert standing[place[0], place[1] - 1][0] == "failed"  # type: ignore[operator]
                    case "completed":
                        assert status == "completed"
            assert [m["type"] for m in page.told].count("taken_over") <= 1
            assert not page.told or all(m["type"] != "taken_over" for m in page.told[:-1])

    @invariant()
    def nothing_has_failed(self) -> None:
        assert not self.errors, self.errors

    # ---- the end

    def teardown(self) -> None:
        """Whatever has happened, a worker who connects once more can finish; then everything is closed."""
        try:
            if hasattr(self, "assignment"):
                self._finish()
        finally:
            self._close()

    def _finish(self) -> None:
        self.bots.at_once = True
        for process in self.processes:
            process.store.fails = []
            self.settle(process.go_on)
        for asked in tuple(self.bots.asked):
            self.settle(lambda asked=asked: asked.done() or asked.set_result("Reply"))  # type: ignore[misc]
        page = Page(self.processes[0])
        self.pages.append(page)
        self.settle(lambda: page.process.spawn(self._connect(page)))
        assert page.view is not None
        for _ in range(100):
            if page.view.phase == "done":
                break
            content = _next(page.view, early=True)
            if content is None:
                self.settle(lambda: None)
                continue
            message_id = f"m{len(self.sent)}"
            self.sent[message_id] = {"id": message_id, **content}
            self._send(page, message_id)
            assert page.told[-1] == {"type": "accepted", "id": message_id} or page.view.phase == "chat", (
                page.told
            )
        assert page.view.phase == "done", page.view
        for check in (
            self.what_was_acknowledged_is_stored_once_and_nothing_else_is,
            self.lines_stand_where_they_were_said_and_alternate,
            self.only_the_owner_has_written,
            self.no_page_is_told_what_is_not_so,
            self.nothing_has_failed,
        ):
            check()
        assert audit(self.url) == []

    def _close(self) -> None:
        for number in range(PROCESSES):
            self.crash(number)
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.store.stop()
        self.loop.close()


def _picked(of: Sequence[T], pick: int) -> T | None:
    """Return one of the latest first; None if there is none."""
    return of[::-1][pick % len(of)] if of else None


def _next(view: PageView, early: bool) -> Message | None:
    """Return what a worker does on a page; None where there is nothing to do."""
    named = {"conversation": view.conversation, "attempt": view.attempt}
    match view.phase:
        case "instructions":
            return {"type": "agree"}
        case "topic":
            return {"type": "topic", **named, "text": "the sea", "opinion": "like"}
        case "chat" if not view.typing:
            if early and view.inputs >= view.minimum_inputs:
                return {"type": "end_conversation", **named}
            return {"type": "say", **named, "turn": view.turns, "text": f"Line {view.turns}."}
        case "rating":
            return {"type": "rate", **named, "ratings": RATINGS}
        case "feedback":
            return {"type": "feedback", "text": "Fine."}
    return None


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again at once: the machine's rules decide what comes between."""

    def pauses() -> Iterator[float]:
        return itertools.repeat(0.0)

    monkeypatch.setattr(bot_replies, "pauses", pauses)


@pytest.mark.usefixtures("impatient")
def test_a_session_has_one_owner_whatever_happens() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Ownership.url = f"sqlite:///{Path(folder) / 'candor.db'}"
        migrate(Ownership.url)
        bots = Bots()
        text = study_text(systems_per_assignment=2, qc_per_assignment=0, **UNHURRIED)
        Ownership.runs = make_run(Ownership.url, text, bots), bots
        for statement in WITNESS:
            execute(Ownership.url, statement)
        run_state_machine_as_test(
            Ownership,
            settings=settings(
                max_examples=1_000 if SOAK else 30,  # without a fence, the 25th or so fails
                stateful_step_count=40,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
