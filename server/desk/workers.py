"""The workers of a run as the tables have them: read whole once, then only what has changed since."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from server.db.message_reports import left_with_report
from server.db.models import (
    Assignment,
    Choice,
    Conversation,
    Note,
    Questionnaire,
    Quiz,
    System,
    Turn,
    TutorialAnswer,
    Worker,
    columns,
)
from server.session.comparison import Side, number_on_page
from server.session.conversation import ConversationStatus
from server.session.records import Closing

ASSIGNMENT = columns(Assignment)
CHOICE = columns(Choice)
CONVERSATION = columns(Conversation)
NOTE = columns(Note)
QUESTIONNAIRE = columns(Questionnaire)
QUIZ = columns(Quiz)
SYSTEM = columns(System)
TURN = columns(Turn)
TUTORIAL_ANSWER = columns(TutorialAnswer)
WORKER = columns(Worker)


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """A conversation of an assignment, or an item of it.

    `inputs`, `replies` count lines of the worker and of the bot, `late` the replies that came after the
    delay drawn for them. `failed_tries`: how often the bot was asked in vain for the line that is due.
    `side`: of two that stand beside each other, which one; `is_chosen`: its worker has preferred one of them.
    `is_quizzed`: its worker is asked which of some lines its chatbot said, and has not answered.
    """

    position: int
    attempt: int
    system: str
    status: ConversationStatus
    inputs: int
    replies: int
    late: int
    failed_tries: int
    side: Side | None = None
    is_chosen: bool = False
    is_quizzed: bool = False

    @property
    def is_open(self) -> bool:
        """Whether its worker has something left to do of it."""
        return self.status in {"planned", "active", "ended"} or self.is_quizzed

    @property
    def number(self) -> int:
        """Its number as the worker counts, from 1: two that stand beside each other are one."""
        return number_on_page(self.position, self.side)


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """An assignment with its conversations, in their order.

    `left_with_report`: they have left with the report of a message, and have a code as who has finished.
    `answers`: right ones to test questions. `handed_in`: the questionnaires, before and after all of them.
    """

    assignment: str
    worker: str
    simulated: bool
    status: Literal["active"] | Closing
    created_at: datetime
    agreed_at: datetime | None
    active_at: datetime
    ended_at: datetime | None
    answers: int
    handed_in: frozenset[str]
    conversations: tuple[ConversationFacts, ...]
    left_with_report: bool = False

    @property
    def current(self) -> ConversationFacts | None:
        """The conversation that the worker is in, was in at the end, or comes to; None after the last."""
        return next((c for c in self.conversations if c.is_open), None)

    def count(self, *statuses: ConversationStatus) -> int:
        """Return how many conversations stand at one of these."""
        return sum(c.status in statuses for c in self.conversations)


def read_workers(connection: Connection, run_id: int, since: datetime | None = None) -> list[WorkerFacts]:
    """Return the assignments of a run, newest first.

    Args:
        connection: any transaction.
        run_id: of the run.
        since: only those of which something was stored from then on; all where it is None.
    """
    chosen = _chosen(run_id, since)
    query = (
        select(Assignment, WORKER.pseudonym, ASSIGNMENT.id.in_(left_with_report()).label("left_with_report"))
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .where(chosen)
        .order_by(ASSIGNMENT.created_at.desc(), ASSIGNMENT.id)
    )
    conversations = _conversations(connection, chosen)
    answers = _right_answers(connection, chosen)
    handed_in = _handed_in(connection, chosen)
    return [
        WorkerFacts(
            assignment=row.id,
            worker=row.pseudonym,
            simulated=row.simulated,
            status=row.status,
            created_at=row.created_at,
            agreed_at=row.agreed_at,
            active_at=row.active_at,
            ended_at=row.ended_at,
            answers=answers.get(row.id, 0),
            handed_in=handed_in.get(row.id, frozenset()),
            conversations=conversations.get(row.id, ()),
            left_with_report=row.left_with_report,
        )
        for row in connection.execute(query)
    ]


def count_waiting(connection: Connection, run_id: int) -> int:
    """Return how many workers of a run wait for a line that their bot was asked for in vain."""
    return len(_failed_tries(connection, _chosen(run_id, None)))


def _chosen(run_id: int, since: datetime | None) -> ColumnElement[bool]:
    in_run = ASSIGNMENT.run_id == run_id
    if since is None:
        return in_run
    return and_(in_run, or_(ASSIGNMENT.active_at >= since, ASSIGNMENT.ended_at >= since))


def _conversations(
    connection: Connection, chosen: ColumnElement[bool]
) -> dict[str, tuple[ConversationFacts, ...]]:
    lines = _lines(connection, chosen)
    failures = _failed_tries(connection, chosen)
    preferred = _preferred(connection, chosen)
    quizzed = _quizzed(connection, chosen)
    query = (
        select(
            CONVERSATION.assignment_id,
            CONVERSATION.id,
            CONVERSATION.position,
            CONVERSATION.attempt,
            CONVERSATION.status,
            CONVERSATION.side,
            SYSTEM.name,
        )
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(chosen)
        .order_by(CONVERSATION.assignment_id, CONVERSATION.position, CONVERSATION.attempt)
    )

    def facts(row: Any) -> ConversationFacts:
        said = lines.get(row.id)
        return ConversationFacts(
            position=row.position,
            attempt=row.attempt,
            system=row.name,
            status=row.status,
            inputs=int(said.inputs) if said else 0,
            replies=int(said.replies) if said else 0,
            late=int(said.late) if said else 0,
            failed_tries=failures.get(row.id, 0),
            side=row.side,
            is_chosen=row.id in preferred,
            is_quizzed=row.id in quizzed,
        )

    return {
        assignment: tuple(facts(row) for row in rows)
        for assignment, rows in _grouped(connection.execute(query), "assignment_id")
    }


def _lines(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, Any]:
    by_bot = TURN.author == "bot"
    query = (
        select(
            TURN.conversation_id,
            func.sum(case((by_bot, 0), else_=1)).label("inputs"),
            func.sum(case((by_bot, 1), else_=0)).label("replies"),
            # As `overran` of the views: shown as soon as it came.
            func.sum(case((and_(by_bot, TURN.show_at == TURN.created_at), 1), else_=0)).label("late"),
        )
        .join(Conversation, CONVERSATION.id == TURN.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(chosen)
        .group_by(TURN.conversation_id)
    )
    return {row.conversation_id: row for row in connection.execute(query)}


def _failed_tries(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, int]:
    """Return, by conversation that is under way, the tries that failed after its last line."""
    last_line = (
        select(func.max(TURN.created_at))
        .where(TURN.conversation_id == CONVERSATION.id)
        .correlate(Conversation)
        .scalar_subquery()
    )
    query = (
        select(NOTE.conversation_id, func.count().label("failed"))
        .join(Conversation, CONVERSATION.id == NOTE.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(chosen, CONVERSATION.status == "active", ASSIGNMENT.status == "active")
        .where(NOTE.kind == "bot_error", NOTE.created_at >= last_line)
        .group_by(NOTE.conversation_id)
    )
    return {row.conversation_id: int(row.failed) for row in connection.execute(query)}


def _right_answers(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, int]:
    query = (
        select(TUTORIAL_ANSWER.assignment_id, func.count().label("right"))
        .join(Assignment, ASSIGNMENT.id == TUTORIAL_ANSWER.assignment_id)
        .where(chosen, TUTORIAL_ANSWER.is_right)
        .group_by(TUTORIAL_ANSWER.assignment_id)
    )
    return {row.assignment_id: int(row.right) for row in connection.execute(query)}


def _handed_in(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, frozenset[str]]:
    query = (
        select(QUESTIONNAIRE.assignment_id, QUESTIONNAIRE.part)
        .join(Assignment, ASSIGNMENT.id == QUESTIONNAIRE.assignment_id)
        .where(chosen)
        .order_by(QUESTIONNAIRE.assignment_id)
    )
    return {
        assignment: frozenset(row.part for row in rows)
        for assignment, rows in _grouped(connection.execute(query), "assignment_id")
    }


def _preferred(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    """Return the conversations on the left of pairs of which the worker has preferred one."""
    query = (
        select(CHOICE.conversation_id)
        .join(Conversation, CONVERSATION.id == CHOICE.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(chosen)
        .distinct()
    )
    return set(connection.execute(query).scalars())


def _quizzed(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    """Return the conversations of which a quiz waits for its answer."""
    query = (
        select(QUIZ.conversation_id)
        .join(Conversation, CONVERSATION.id == QUIZ.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(chosen, QUIZ.why_not.is_(None), QUIZ.choice.is_(None))
    )
    return set(connection.execute(query).scalars())


def _grouped(rows: Iterable[Any], key: str) -> Iterable[tuple[str, Iterable[Any]]]:
    return groupby(rows, key=attrgetter(key))
