"""Store what researchers review: reports of messages, and lines that the moderation service flagged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from bots.serving import ModerationJudgement
from server.db.tables import (
    REMOVED,
    AssignmentTable,
    ConversationTable,
    HumanConversationTable,
    MessageReportTable,
    ModeratedLineTable,
    NoteTable,
    TurnTable,
)
from server.errors import FlagNotFound, ReportNotFound


@dataclass(frozen=True, slots=True)
class MarkedSeen:
    """A report or a flagged line that was marked as seen: its run. `is_new`: nobody had marked it before."""

    run: int
    is_new: bool


def left_with_report() -> Select[tuple[str]]:
    """Return the query for the assignments whose workers left with a report, and are paid in full."""
    of_report = select(ConversationTable.c.assignment_id).join(
        MessageReportTable, MessageReportTable.c.conversation_id == ConversationTable.c.id
    )
    return of_report.where(MessageReportTable.c.leaves)


def earned_all() -> ColumnElement[bool]:
    """Return the condition that an assignment's full pay is due: it was submitted, or left with a report."""
    return or_(AssignmentTable.c.status == "completed", AssignmentTable.c.id.in_(left_with_report()))


def count_left(connection: Connection, run_id: int) -> int:
    """Return how many people have left a run with a report."""
    query = select(func.count()).where(
        AssignmentTable.c.run_id == run_id,
        AssignmentTable.c.simulated.is_(False),
        AssignmentTable.c.id.in_(left_with_report()),
    )
    return int(connection.execute(query).scalar_one())


def unseen_reports(connection: Connection, run_id: int) -> list[str]:
    """Return the assignments of a run's unseen reports that were not taken back, one entry per report."""
    query = (
        select(ConversationTable.c.assignment_id)
        .join(MessageReportTable, MessageReportTable.c.conversation_id == ConversationTable.c.id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(
            AssignmentTable.c.run_id == run_id,
            MessageReportTable.c.taken_back_at.is_(None),
            MessageReportTable.c.seen_at.is_(None),
        )
        .order_by(MessageReportTable.c.id)
    )
    return list(connection.execute(query).scalars())


def reports_of(connection: Connection, conversation: str) -> list[Any]:
    """Return the rows of a conversation's reports, oldest first, including those taken back."""
    query = (
        select(MessageReportTable)
        .where(MessageReportTable.c.conversation_id == conversation)
        .order_by(MessageReportTable.c.id)
    )
    return list(connection.execute(query))


def mark_report_seen(
    connection: Connection, assignment: str, report: int, by: str, at: datetime
) -> MarkedSeen:
    """Mark a report of an assignment as seen; the first researcher's mark stays.

    Raises:
        ReportNotFound: The assignment has no report of this number.
    """
    query = (
        select(AssignmentTable.c.run_id)
        .join(ConversationTable, ConversationTable.c.assignment_id == AssignmentTable.c.id)
        .join(MessageReportTable, MessageReportTable.c.conversation_id == ConversationTable.c.id)
        .where(MessageReportTable.c.id == report, AssignmentTable.c.id == assignment)
    )
    run = connection.execute(query).scalar_one_or_none()
    if run is None:
        raise ReportNotFound(f"Assignment “{assignment}” has no report {report} of a message")
    marked = update(MessageReportTable).where(
        MessageReportTable.c.id == report, MessageReportTable.c.seen_at.is_(None)
    )
    changed = connection.execute(marked.values(seen_at=at, seen_by=by)).rowcount
    return MarkedSeen(run, changed == 1)


_KINDS = {"bot": "flagged_reply", "worker": "flagged_input"}  # of notes
_UNNAMED = "flagged"  # if the service names no category


@dataclass(frozen=True, slots=True)
class UnjudgedLine:
    """A line that the service has not judged yet."""

    conversation: str
    index: int
    author: str
    text: str


def unjudged_lines(
    connection: Connection, run_ids: Sequence[int], most: int, since: datetime | None
) -> list[UnjudgedLine]:
    """Return the oldest lines of people's conversations in these runs that are not judged, at most `most`.

    `since`: skip assignments that ended before it, because their lines are judged; None skips nothing.
    """
    judged = and_(
        ModeratedLineTable.c.conversation_id == TurnTable.c.conversation_id,
        ModeratedLineTable.c.turn_index == TurnTable.c.turn_index,
    )
    query = (
        select(TurnTable.c.conversation_id, TurnTable.c.turn_index, TurnTable.c.author, TurnTable.c.text)
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .outerjoin(ModeratedLineTable, judged)
        .where(
            AssignmentTable.c.run_id.in_(run_ids),
            AssignmentTable.c.simulated.is_(False),
            ModeratedLineTable.c.conversation_id.is_(None),
            TurnTable.c.text != REMOVED,
        )
        .order_by(TurnTable.c.created_at, TurnTable.c.conversation_id, TurnTable.c.turn_index)
        .limit(most)
    )
    if since is not None:
        query = query.where(or_(AssignmentTable.c.ended_at.is_(None), AssignmentTable.c.ended_at >= since))
    return [UnjudgedLine(*row) for row in connection.execute(query)]


def store_judgements(
    connection: Connection, judged: Mapping[UnjudgedLine, ModerationJudgement | None], at: datetime
) -> None:
    """Store the service's judgements of lines, and note flagged lines; None: it would not judge the line.

    A line whose text was removed meanwhile is left out, because its judgement would tell about the text.
    """
    for line, judgement in judged.items():
        is_new = _store(connection, line, judgement, at)
        if is_new and judgement is not None and judgement.flagged:
            why = ", ".join(judgement.categories) or _UNNAMED
            noted = {"conversation_id": line.conversation, "kind": _KINDS[line.author], "text": why}
            connection.execute(insert(NoteTable).values(noted | {"created_at": at}))


def _store(
    connection: Connection, line: UnjudgedLine, judgement: ModerationJudgement | None, at: datetime
) -> bool:
    """Store a line's judgement; return False if the line is judged already, or does not exist any more."""
    values = {
        ModeratedLineTable.c.flagged: None if judgement is None else judgement.flagged,
        ModeratedLineTable.c.categories: "" if judgement is None else ", ".join(judgement.categories),
        ModeratedLineTable.c.score: None if judgement is None else judgement.score,
        ModeratedLineTable.c.model: None if judgement is None else judgement.model,
        ModeratedLineTable.c.judged_at: at,
    }
    judged = [literal(value, column.type) for column, value in values.items()]
    said = select(TurnTable.c.conversation_id, TurnTable.c.turn_index, *judged).where(
        TurnTable.c.conversation_id == line.conversation,
        TurnTable.c.turn_index == line.index,
        TurnTable.c.text == line.text,
    )
    # A removal waits until this is stored, and blanks it; while one is in progress, the line is skipped.
    said = said.with_for_update(read=True, skip_locked=True)
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    names = ["conversation_id", "turn_index", *(column.name for column in values)]
    added = dialect.insert(ModeratedLineTable).from_select(names, said).on_conflict_do_nothing()
    return connection.execute(added.returning(ModeratedLineTable.c.turn_index)).one_or_none() is not None


_is_its_turn = and_(
    TurnTable.c.conversation_id == ModeratedLineTable.c.conversation_id,
    TurnTable.c.turn_index == ModeratedLineTable.c.turn_index,
)


@dataclass(frozen=True, slots=True)
class FlaggedLine:
    """A flagged line: its assignment and its author."""

    assignment: str
    author: str


def unseen_flags(connection: Connection, run_id: int) -> list[FlaggedLine]:
    """Return a run's flagged lines that nobody has seen, in the order in which they were judged.

    Copies are left out. A message to two chatbots side by side is stored in both conversations, and counts in
    the left one. A message to another worker is stored on both sides, and counts on its writer's.
    """
    of_other_worker = exists().where(
        HumanConversationTable.c.conversation_id == TurnTable.c.conversation_id,
        HumanConversationTable.c.partner_id.is_not(None),
        or_(
            HumanConversationTable.c.taken_over_from.is_(None),
            TurnTable.c.turn_index < HumanConversationTable.c.taken_over_from,
        ),
    )
    is_copy = or_(
        and_(TurnTable.c.author == "worker", ConversationTable.c.side.is_not_distinct_from("right")),
        and_(TurnTable.c.author == "bot", of_other_worker),
    )
    query = (
        select(ConversationTable.c.assignment_id, TurnTable.c.author)
        .select_from(ModeratedLineTable)
        .join(TurnTable, _is_its_turn)
        .join(ConversationTable, ConversationTable.c.id == ModeratedLineTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(
            AssignmentTable.c.run_id == run_id,
            ModeratedLineTable.c.flagged.is_(True),
            ModeratedLineTable.c.seen_at.is_(None),
        )
        .where(~is_copy, TurnTable.c.text != REMOVED)
        .order_by(
            ModeratedLineTable.c.judged_at,
            ModeratedLineTable.c.conversation_id,
            ModeratedLineTable.c.turn_index,
        )
    )
    return [FlaggedLine(*row) for row in connection.execute(query)]


def mark_flag_seen(
    connection: Connection, assignment: str, position: int, attempt: int, line: int, by: str, at: datetime
) -> MarkedSeen:
    """Mark a flagged line as seen; the first researcher's mark stays. A pair's copies are marked together.

    Args:
        connection: A transaction.
        assignment: The line's assignment.
        position: The position of its conversation.
        attempt: The attempt at that position.
        line: The line's number, from 0.
        by: The researcher's name.
        at: The time now.

    Raises:
        FlagNotFound: No line of this number is flagged there.
    """
    query = (
        select(AssignmentTable.c.run_id, TurnTable.c.conversation_id, TurnTable.c.client_id)
        .select_from(ModeratedLineTable)
        .join(TurnTable, _is_its_turn)
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.id == assignment, ConversationTable.c.position == position)
        .where(
            ConversationTable.c.attempt == attempt,
            TurnTable.c.turn_index == line,
            ModeratedLineTable.c.flagged.is_(True),
        )
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        where = f"attempt {attempt} at conversation {position} of assignment “{assignment}”"
        raise FlagNotFound(f"There is no flag on message {line} in {where}")
    same = (
        select(TurnTable.c.conversation_id)
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .where(ConversationTable.c.assignment_id == assignment, TurnTable.c.client_id == found.client_id)
    )
    marked = update(ModeratedLineTable).where(
        or_(
            ModeratedLineTable.c.conversation_id == found.conversation_id,
            ModeratedLineTable.c.conversation_id.in_(same),
        ),
        ModeratedLineTable.c.turn_index == line,
        ModeratedLineTable.c.flagged.is_(True),
        ModeratedLineTable.c.seen_at.is_(None),
    )
    return MarkedSeen(found.run_id, connection.execute(marked.values(seen_at=at, seen_by=by)).rowcount > 0)
