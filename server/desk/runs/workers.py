"""Read the workers of a run from the tables: first all of them, later only those that have changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from server.db.review.message_reports import left_with_report
from server.db.tables import (
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
)
from server.session.conversation import ConversationStatus
from server.session.instrument import Side, number_on_page
from server.session.records import Closing


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """A conversation or an item of an assignment.

    `inputs`: the worker's messages; `replies`: the bot's; `late`: replies that came after their delay.
    `failed_tries`: failed attempts to get the reply that is due. `side`: left or right of a side-by-side
    pair; `is_chosen`: the worker has stated a preference. `is_quizzed`: a quiz about it is not answered yet.
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
        """Whether the worker has something left to do in it."""
        return self.status in {"planned", "active", "ended"} or self.is_quizzed

    @property
    def number(self) -> int:
        """Its number on the worker's page, from 1; a side-by-side pair has one number."""
        return number_on_page(self.position, self.side)


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """An assignment with its conversations, in order.

    `left_with_report`: the worker reported a message and left, and has a completion code. `answers`: the
    number of right answers in the tutorial. `handed_in`: the submitted questionnaires, before or after the
    conversations.
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
        """The first conversation that is not finished; None if all are."""
        return next((c for c in self.conversations if c.is_open), None)

    def count(self, *statuses: ConversationStatus) -> int:
        """Return the number of conversations with one of these statuses."""
        return sum(c.status in statuses for c in self.conversations)


def read_workers(connection: Connection, run_id: int, since: datetime | None = None) -> list[WorkerFacts]:
    """Return the assignments of a run, newest first.

    Args:
        connection: any transaction.
        run_id: of the run.
        since: return only those that have changed since then; None returns all.
    """
    chosen = _chosen(run_id, since)
    query = (
        select(
            Assignment, Worker.c.pseudonym, Assignment.c.id.in_(left_with_report()).label("left_with_report")
        )
        .join(Worker, Worker.c.id == Assignment.c.worker_id)
        .where(chosen)
        .order_by(Assignment.c.created_at.desc(), Assignment.c.id)
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
    """Return the number of a run's workers whose bot has failed to reply."""
    return len(_failed_tries(connection, _chosen(run_id, None)))


def _chosen(run_id: int, since: datetime | None) -> ColumnElement[bool]:
    in_run = Assignment.c.run_id == run_id
    if since is None:
        return in_run
    return and_(in_run, or_(Assignment.c.active_at >= since, Assignment.c.ended_at >= since))


def _conversations(
    connection: Connection, chosen: ColumnElement[bool]
) -> dict[str, tuple[ConversationFacts, ...]]:
    lines = _lines(connection, chosen)
    failures = _failed_tries(connection, chosen)
    preferred = _preferred(connection, chosen)
    quizzed = _quizzed(connection, chosen)
    query = (
        select(
            Conversation.c.assignment_id,
            Conversation.c.id,
            Conversation.c.position,
            Conversation.c.attempt,
            Conversation.c.status,
            Conversation.c.side,
            System.c.name,
        )
        .join(System, System.c.id == Conversation.c.system_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(chosen)
        .order_by(Conversation.c.assignment_id, Conversation.c.position, Conversation.c.attempt)
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
    by_bot = Turn.c.author == "bot"
    query = (
        select(
            Turn.c.conversation_id,
            func.sum(case((by_bot, 0), else_=1)).label("inputs"),
            func.sum(case((by_bot, 1), else_=0)).label("replies"),
            # As `overran` in the views: a late reply is shown as soon as it comes.
            func.sum(case((and_(by_bot, Turn.c.show_at == Turn.c.created_at), 1), else_=0)).label("late"),
        )
        .join(Conversation, Conversation.c.id == Turn.c.conversation_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(chosen)
        .group_by(Turn.c.conversation_id)
    )
    return {row.conversation_id: row for row in connection.execute(query)}


def _failed_tries(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, int]:
    """Return, by active conversation, the number of failed attempts since its last turn."""
    last_line = (
        select(func.max(Turn.c.created_at))
        .where(Turn.c.conversation_id == Conversation.c.id)
        .correlate(Conversation)
        .scalar_subquery()
    )
    query = (
        select(Note.c.conversation_id, func.count().label("failed"))
        .join(Conversation, Conversation.c.id == Note.c.conversation_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(chosen, Conversation.c.status == "active", Assignment.c.status == "active")
        .where(Note.c.kind == "bot_error", Note.c.created_at >= last_line)
        .group_by(Note.c.conversation_id)
    )
    return {row.conversation_id: int(row.failed) for row in connection.execute(query)}


def _right_answers(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, int]:
    query = (
        select(TutorialAnswer.c.assignment_id, func.count().label("right"))
        .join(Assignment, Assignment.c.id == TutorialAnswer.c.assignment_id)
        .where(chosen, TutorialAnswer.c.is_right)
        .group_by(TutorialAnswer.c.assignment_id)
    )
    return {row.assignment_id: int(row.right) for row in connection.execute(query)}


def _handed_in(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, frozenset[str]]:
    query = (
        select(Questionnaire.c.assignment_id, Questionnaire.c.part)
        .join(Assignment, Assignment.c.id == Questionnaire.c.assignment_id)
        .where(chosen)
        .order_by(Questionnaire.c.assignment_id)
    )
    return {
        assignment: frozenset(row.part for row in rows)
        for assignment, rows in _grouped(connection.execute(query), "assignment_id")
    }


def _preferred(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    """Return the left conversations of pairs for which the worker has stated a preference."""
    query = (
        select(Choice.c.conversation_id)
        .join(Conversation, Conversation.c.id == Choice.c.conversation_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(chosen)
        .distinct()
    )
    return set(connection.execute(query).scalars())


def _quizzed(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    """Return the conversations with an unanswered quiz."""
    query = (
        select(Quiz.c.conversation_id)
        .join(Conversation, Conversation.c.id == Quiz.c.conversation_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(chosen, Quiz.c.why_not.is_(None), Quiz.c.choice.is_(None))
    )
    return set(connection.execute(query).scalars())


def _grouped(rows: Iterable[Any], key: str) -> Iterable[tuple[str, Iterable[Any]]]:
    return groupby(rows, key=attrgetter(key))
