"""State is a fold of stored rows: whatever happens, in whatever order, what is read back is what is live.

A machine plays a worker who sends anything at any time (legal, illegal, twice), bots that answer,
stumble, give up or answer too late, and a clock that runs on. After every step the records are written
through `rows` to a real migrated database, read back, folded, and compared with the live state.
"""

import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.db.counts import differences
from server.db.engine import migrate, open_engine
from server.db.sessions import read as stored_records
from server.db.sessions import write as rows
from server.errors import RefusedMessage
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse.sessions import restore
from server.recruiters.arrival import Arrival
from server.session.events import (
    Accept,
    AskBot,
    BotGaveUp,
    BotReplied,
    BotStumbled,
    FromWorker,
    ShowReply,
)
from server.session.protocol import client_messages
from server.session.records import Closed, QuizLine, Record, WorkerSaid
from server.session.state import Phase, State, fold
from server.session.steps.pairs import choice_due
from server.session.steps.step import resume, step
from tests.server.support.database import make_run
from tests.server.support.drawn_messages import ids, messages, texts
from tests.server.support.items import QUESTIONS, items_text, make_items_run
from tests.server.support.questions import ANSWERS, ASKED, SCALES
from tests.server.support.quiz import ELSEWHERE, SAID
from tests.server.support.study import AT, CRITERIA, pairs_text, seconds, study_text
from tests.support.examples import examples

# In which order the phases may follow each other within one conversation, and the conversations each other.
STAGE = {
    Phase.INSTRUCTIONS: 0,
    Phase.QUESTIONS_BEFORE: 0,
    Phase.TUTORIAL: 0,
    Phase.QUESTIONS_AFTER: 2,
    Phase.FEEDBACK: 2,
    Phase.DONE: 3,
    Phase.EXPIRED: 3,
    Phase.RETURNED: 3,
}
MODES = (
    "free",
    "icebreaker",
    "some unrated",
    "items",
    "asking",
    "quiz",
    "pairs",
    "pairs by turn",
    "pairs rated",
)
WITHIN = {Phase.TOPIC: 0, Phase.CHAT: 1, Phase.CHOICE: 2, Phase.RATING: 3, Phase.QUIZ: 4}
AUTH = Auth("secret", "token", 60)
Database = tuple[Engine, dict[str, OpenRun]]


def progress(state: State) -> tuple[int, int, int, int]:
    """How far a session has come; never less than before."""
    if (current := state.current) is None or state.phase in STAGE:
        return STAGE[state.phase], len(state.answers), len(state.submitted), 0
    return 1, current.plan.position, current.plan.attempt, WITHIN[state.phase]


class Replay(RuleBasedStateMachine):
    """One session, live and stored. Every example is a transaction that is rolled back."""

    database: Database

    def __init__(self) -> None:
        super().__init__()
        engine, self.runs = self.database
        self.connection: Connection = engine.connect()
        self.transaction = self.connection.begin()
        self.sent: list[dict[str, Any]] = []
        self.taken: set[str] = set()
        self.asked: list[AskBot] = []
        self.now: datetime = AT
        self.reached = (0, 0, 0, 0)

    @initialize(
        mode=st.sampled_from(MODES),
        pace=st.sampled_from([0.0, 1.0]),
    )
    def arrive(self, mode: str, pace: float) -> None:
        self.run = self.runs[mode]
        # What is drawn for an assignment goes by its id: the same one in every example, so that each repeats.
        guest = ArrivingWorker(Arrival("link", "ann"), "W1", False, pace, "0123456789abcdef")
        enrolment = enrol(self.connection, self.run, guest, AT)
        self.assignment = enrolment.assignment
        other = ArrivingWorker(Arrival("link", "bob"), "W2", False, pace, "fedcba9876543210")
        elsewhere = enrol(self.connection, self.run, other, AT).assignment
        self.others = tuple(QuizLine(text, f"{elsewhere}-1.1", 1) for text in ELSEWHERE)
        self.live = self.stored()
        assert self.live == self.restored(pace, enrolment.planned or ())  # which is not read to be opened

    def teardown(self) -> None:
        assert differences(self.connection) == []
        self.transaction.rollback()
        self.connection.close()

    def stored(self) -> State:
        """Return the session as another process would find it."""
        row = stored_records.assignment_row(self.connection, self.assignment)
        records = stored_records.read(self.connection, row)
        return self.restored(row.reply_pace, records)

    def restored(self, pace: float, records: Sequence[Record]) -> State:
        return restore(self.assignment, pace, Arrival("link", "ann"), records, self.run, AUTH)

    def take(self, event: Any) -> None:
        """Decide, store, perform: as the runtime does."""
        before = self.live
        try:
            outcome = step(before, event)
        except RefusedMessage:
            assert isinstance(event, FromWorker)  # only a worker is refused
            return
        if isinstance(event, FromWorker):
            again = event.message.id in self.taken
            assert outcome.effects[-1] == Accept(event.message.id)
            assert not (again and outcome.records)
            if outcome.records and event.message.type != "leave":
                self.taken.add(event.message.id)
        rows.write(self.connection, ((self.assignment, record) for record in outcome.records))
        self.live = outcome.state
        self.asked += [effect for effect in outcome.effects if isinstance(effect, AskBot)]

    # ---- what may happen

    @rule(message=messages, id_=ids)
    def send(self, message: dict[str, Any], id_: str) -> None:
        content = {"id": id_, **message}
        self.sent.append(content)
        self.take(self.from_worker(content))

    def from_worker(self, content: dict[str, Any]) -> FromWorker:
        return FromWorker(client_messages.validate_python(content), self.now, self.others)

    @rule(data=st.data(), steps=st.integers(1, 8))
    def go_on(self, data: st.DataObject, steps: int) -> None:
        """Do what belongs to the phase, a few times, so that sessions come far."""
        for _ in range(steps):
            self.one_step_on(data)

    def one_step_on(self, data: st.DataObject) -> None:
        current = self.live.current
        named = (
            {"conversation": current.plan.number, "attempt": current.plan.attempt}
            if current is not None
            else {}
        )
        free = self.run.study.topic_mode == "free"
        by_phase: dict[Phase, dict[str, Any]] = {
            Phase.TUTORIAL: {
                "type": "answer",
                "question": self.live.question,
                "answer": data.draw(st.integers(1, 2)),
            },
            Phase.QUESTIONS_BEFORE: {"type": "questionnaire", "part": "before", "answers": ANSWERS["before"]},
            Phase.QUESTIONS_AFTER: {"type": "questionnaire", "part": "after", "answers": ANSWERS["after"]},
            Phase.TOPIC: {"type": "topic", **named, "opinion": "like"}
            | ({"text": "the sea"} if free else {}),
            Phase.RATING: {
                "type": "rate",
                **named,
                "ratings": {c: 3 if c in self.run.rules.points else 50 for c in self.run.rules.criteria},
                "answers": ANSWERS["conversation"] if self.run.rules.points else {},
                "edit": "Something else altogether.",
                "side": current.plan.side if current is not None else None,
            },
            Phase.CHOICE: {
                "type": "choose",
                **named,
                "turn": 2 * current.inputs - 1 if current is not None else 0,
                "preference": data.draw(st.sampled_from(["left", "tie", "right"])),
            },
            Phase.QUIZ: {"type": "answer_quiz", **named, "choice": data.draw(st.integers(1, 2))},
            Phase.FEEDBACK: {"type": "feedback", "text": "Fine."},
        }
        if self.live.phase is Phase.CHAT and current is not None:
            both = self.live.pair or (current,)
            current = next((c for c in both if c.awaits_reply()), current)
            turn = len(current.turns)
            if current.awaits_reply():
                if data.draw(st.integers(0, 5)) == 0:
                    return self.take(
                        BotGaveUp(current.plan.conversation, turn, "out of order", self.now, "error")
                    )
                said = SAID[turn // 2 % len(SAID)]
                return self.take(BotReplied(current.plan.conversation, turn, said, 3, self.now))
            self.now = max(self.now, *(line.show_at for c in both for line in c.turns), AT)
            if self.live.pair is not None and choice_due(self.live, self.live.pair) is not None:
                return self.send({**by_phase[Phase.CHOICE]}, f"on{len(self.sent)}")
            points = self.run.rules.turn_points
            if points is not None and turn and data.draw(st.booleans()):  # the reply that came last
                value = data.draw(st.integers(1, points))
                rated = {"type": "rate_turn", **named, "turn": turn - 1, "value": value}
                self.send(rated, f"on{len(self.sent)}")
            enough = current.inputs >= self.run.study.minimum_inputs
            say = {"type": "say", **named, "turn": turn, "text": "Well."}
            return self.send({"type": "end_conversation", **named} if enough else say, f"on{len(self.sent)}")
        return self.send(by_phase.get(self.live.phase, {"type": "agree"}), f"on{len(self.sent)}")

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        self.take(self.from_worker(data.draw(st.sampled_from(self.sent))))

    @precondition(lambda self: self.asked)
    @rule(text=texts, latency=st.integers(0, 10**6), data=st.data())
    def replied(self, text: str, latency: int, data: st.DataObject) -> None:
        """The bot answers any question it was ever asked: the last, or one that is long settled."""
        asked = data.draw(st.sampled_from(self.asked[::-1]))
        self.take(BotReplied(asked.conversation, asked.index, text, latency, self.now))

    @precondition(lambda self: self.asked)
    @rule(text=texts, data=st.data(), final=st.booleans())
    def failed(self, text: str, data: st.DataObject, final: bool) -> None:
        asked = data.draw(st.sampled_from(self.asked[::-1]))
        event = BotGaveUp if final else BotStumbled
        self.take(event(asked.conversation, asked.index, text, self.now, "timeout"))

    @rule(microseconds=st.integers(0, 20_000_000))
    def time_passes(self, microseconds: int) -> None:
        self.now += seconds(microseconds / 1e6)

    @rule(chance=st.integers(0, 39), id_=ids)
    def leaves(self, chance: int, id_: str) -> None:
        if chance == 0:
            self.send({"type": "leave"}, id_)

    @rule(chance=st.integers(0, 39))
    def expires(self, chance: int) -> None:
        """The enrolment of another worker stores it, and the session is loaded again."""
        if chance == 0 and self.live.closed is None:
            rows.write(self.connection, [(self.assignment, Closed("expired", self.now))])
            self.live = fold(self.live, [Closed("expired", self.now)])

    # ---- what always holds

    @invariant()
    def what_is_stored_is_what_is_live(self) -> None:
        stored = self.stored()
        assert stored == self.live
        assert stored.seen.union(*(c.seen for c in stored.conversations)) == self.taken

    @invariant()
    def nothing_goes_back(self) -> None:
        reached = progress(self.live)
        assert reached >= self.reached
        self.reached = reached

    @invariant()
    def turns_alternate_and_have_one_index_each(self) -> None:
        turn = "SELECT turn_index, author FROM turn WHERE conversation_id = ? ORDER BY turn_index"
        for conversation in self.live.conversations:
            found = self.connection.exec_driver_sql(turn, (conversation.plan.conversation,)).all()
            assert [tuple(row) for row in found] == [
                (index, "bot" if index % 2 else "worker") for index in range(len(found))
            ]
            assert len(found) == len(conversation.turns)

    @invariant()
    def one_conversation_at_a_time(self) -> None:
        statuses = [c.status for c in self.live.conversations]
        assert sum(status in {"active", "ended"} for status in statuses) <= len(self.live.pair or (1,))
        for conversation in self.live.conversations:
            if conversation.status in {"ended", "rated", "unrated"} and conversation.plan.item is None:
                assert conversation.inputs >= self.run.study.minimum_inputs

    @invariant()
    def what_is_under_way_is_taken_up_again(self) -> None:
        """After a restart the bot is asked exactly when the last word of an open chat is the worker's."""
        current = self.live.current
        expected: tuple[Any, ...] = ()
        if self.live.phase is Phase.CHAT and current is not None and current.turns:
            both = self.live.pair or (current,)
            waiting = [c for c in both if c.turns[-1].author == "worker"]
            shown = max(c.turns[-1].show_at for c in both)
            if waiting:
                expected = tuple(AskBot(c.plan.conversation, len(c.turns)) for c in waiting)
            elif shown > self.now:
                expected = (ShowReply(both[0].plan.conversation, len(current.turns) - 1, shown),)
        assert resume(self.live, self.now) == expected


@pytest.fixture(scope="module")
def database() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'candor.db'}"
        migrate(url)
        slow = {"reply_time": {"median": 2, "spread": 0.5, "longest": 8}}
        runs = {
            mode: make_run(url, study_text(topic_mode=mode, records_writing=True, **slow), slug=mode)
            for mode in ("free", "icebreaker")
        }
        runs["some unrated"] = make_run(url, study_text(rate_share=0.5, **slow), slug="unrated")
        by_turn = {"choose": "turn", "history": "chosen"}
        rated = [{"label": label, "statement": f"It was {label}."} for label in CRITERIA]
        runs["pairs"] = make_run(url, pairs_text(**slow), slug="pairs")
        runs["pairs by turn"] = make_run(url, pairs_text(by_turn, **slow), slug="by_turn")
        runs["pairs rated"] = make_run(url, pairs_text(criteria=rated, **slow), slug="rated")
        asking = study_text(
            turn_ratings=5,
            questionnaires=ASKED,
            criteria=SCALES,
            scenarios=[{"label": "lamp", "text": "A lamp."}],
            **slow,
        )
        runs["asking"] = make_run(url, asking, slug="asking")
        quiz = study_text(quiz={"choices": 2}, minimum_inputs=3, **slow)
        runs["quiz"] = make_run(url, quiz, slug="quiz")
        improved = items_text(tutorial=QUESTIONS, post_edit={"criterion": "clear"})
        runs["items"] = make_items_run(url, improved)
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        yield engine, runs
        engine.dispose()


def test_a_session_is_a_fold_of_its_rows(database: Database) -> None:
    Replay.database = database
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        Replay,
        settings=settings(
            max_examples=examples(25), stateful_step_count=60, suppress_health_check=[HealthCheck.too_slow]
        ),  # how fast it is says nothing here
    )


def test_the_database_itself_refuses_a_second_turn_of_the_same_index(database: Database) -> None:
    engine, runs = database
    with engine.connect() as connection, connection.begin() as transaction:
        guest = ArrivingWorker(Arrival("link", "bob"), "W2", False, 1.0)
        assignment = enrol(connection, runs["free"], guest, AT).assignment
        said = _said(f"{assignment}-1.1", 0)
        rows.write(connection, [(assignment, said)])
        with pytest.raises(IntegrityError):
            rows.write(connection, [(assignment, said)])
        transaction.rollback()


def _said(conversation: str, index: int) -> Record:
    return WorkerSaid(conversation, index, "Hi.", AT, "m1")
