"""Read the workers of a run from the tables: first all of them, later only those that have changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select

from server.db.review import left_with_report
from server.db.tables import (
    AssignmentTable,
    ChoiceTable,
    ConversationTable,
    NoteTable,
    QuestionnaireTable,
    QuizTable,
    SystemTable,
    TurnTable,
    TutorialAnswerTable,
    WorkerTable,
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
    number of right answers in the tutorial. `submitted`: the submitted questionnaires, before or after the
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
    submitted: frozenset[str]
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
            AssignmentTable,
            WorkerTable.c.pseudonym,
            AssignmentTable.c.id.in_(left_with_report()).label("left_with_report"),
        )
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .where(chosen)
        .order_by(AssignmentTable.c.created_at.desc(), AssignmentTable.c.id)
    )
    conversations = _conversations(connection, chosen)
    answers = _right_answers(connection, chosen)
    submitted = _submitted(connection, chosen)
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
            submitted=submitted.get(row.id, frozenset()),
            conversations=conversations.get(row.id, ()),
            left_with_report=row.left_with_report,
        )
        for row in connection.execute(query)
    ]


def count_waiting(connection: Connection, run_id: int) -> int:
    """Return the number of a run's workers whose bot has failed to reply."""
    return len(_failed_tries(connection, _chosen(run_id, None)))


def _chosen(run_id: int, since: datetime | None) -> ColumnElement[bool]:
    in_run = AssignmentTable.c.run_id == run_id
    if since is None:
        return in_run
    return and_(in_run, or_(AssignmentTable.c.active_at >= since, AssignmentTable.c.ended_at >= since))


def _conversations(
    connection: Connection, chosen: ColumnElement[bool]
) -> dict[str, tuple[ConversationFacts, ...]]:
    lines = _lines(connection, chosen)
    failures = _failed_tries(connection, chosen)
    preferred = _preferred(connection, chosen)
    quizzed = _quizzed(connection, chosen)
    query = (
        select(
            ConversationTable.c.assignment_id,
            ConversationTable.c.id,
            ConversationTable.c.position,
            ConversationTable.c.attempt,
            ConversationTable.c.status,
            ConversationTable.c.side,
            SystemTable.c.name,
        )
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(chosen)
        .order_by(
            ConversationTable.c.assignment_id, ConversationTable.c.position, ConversationTable.c.attempt
        )
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
    by_bot = TurnTable.c.author == "bot"
    query = (
        select(
            TurnTable.c.conversation_id,
            func.sum(case((by_bot, 0), else_=1)).label("inputs"),
            func.sum(case((by_bot, 1), else_=0)).label("replies"),
            # As `overran` in the views: a late reply is shown as soon as it comes.
            func.sum(case((and_(by_bot, TurnTable.c.show_at == TurnTable.c.created_at), 1), else_=0)).label(
                "late"
            ),
        )
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(chosen)
        .group_by(TurnTable.c.conversation_id)
    )
    return {row.conversation_id: row for row in connection.execute(query)}


def _failed_tries(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, int]:
    """Return, by active conversation, the number of failed attempts since its last turn."""
    last_line = (
        select(func.max(TurnTable.c.created_at))
        .where(TurnTable.c.conversation_id == ConversationTable.c.id)
        .correlate(ConversationTable)
        .scalar_subquery()
    )
    query = (
        select(NoteTable.c.conversation_id, func.count().label("failed"))
        .join(ConversationTable, ConversationTable.c.id == NoteTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(chosen, ConversationTable.c.status == "active", AssignmentTable.c.status == "active")
        .where(NoteTable.c.kind == "bot_error", NoteTable.c.created_at >= last_line)
        .group_by(NoteTable.c.conversation_id)
    )
    return {row.conversation_id: int(row.failed) for row in connection.execute(query)}


def _right_answers(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, int]:
    query = (
        select(TutorialAnswerTable.c.assignment_id, func.count().label("right"))
        .join(AssignmentTable, AssignmentTable.c.id == TutorialAnswerTable.c.assignment_id)
        .where(chosen, TutorialAnswerTable.c.is_right)
        .group_by(TutorialAnswerTable.c.assignment_id)
    )
    return {row.assignment_id: int(row.right) for row in connection.execute(query)}


def _submitted(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, frozenset[str]]:
    query = (
        select(QuestionnaireTable.c.assignment_id, QuestionnaireTable.c.part)
        .join(AssignmentTable, AssignmentTable.c.id == QuestionnaireTable.c.assignment_id)
        .where(chosen)
        .order_by(QuestionnaireTable.c.assignment_id)
    )
    return {
        assignment: frozenset(row.part for row in rows)
        for assignment, rows in _grouped(connection.execute(query), "assignment_id")
    }


def _preferred(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    """Return the left conversations of pairs for which the worker has stated a preference."""
    query = (
        select(ChoiceTable.c.conversation_id)
        .join(ConversationTable, ConversationTable.c.id == ChoiceTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(chosen)
        .distinct()
    )
    return set(connection.execute(query).scalars())


def _quizzed(connection: Connection, chosen: ColumnElement[bool]) -> set[str]:
    """Return the conversations with an unanswered quiz."""
    query = (
        select(QuizTable.c.conversation_id)
        .join(ConversationTable, ConversationTable.c.id == QuizTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(chosen, QuizTable.c.why_not.is_(None), QuizTable.c.choice.is_(None))
    )
    return set(connection.execute(query).scalars())


def _grouped(rows: Iterable[Any], key: str) -> Iterable[tuple[str, Iterable[Any]]]:
    return groupby(rows, key=attrgetter(key))
