"""Find lines flagged by the moderation service for researchers, and mark them as seen."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, exists, or_, select, update

from server.db.tables import (
    REMOVED,
    Assignment,
    Conversation,
    HumanConversation,
    ModeratedLine,
    Turn,
)
from server.errors import FlagNotFound

_is_its_turn = and_(
    Turn.c.conversation_id == ModeratedLine.c.conversation_id, Turn.c.turn_index == ModeratedLine.c.turn_index
)


@dataclass(frozen=True, slots=True)
class FlaggedLine:
    """A flagged line: its assignment and its author."""

    assignment: str
    author: str


@dataclass(frozen=True, slots=True)
class SeenFlag:
    """A flagged line that was marked as seen: its run. `is_new`: nobody had marked it before."""

    run: int
    is_new: bool


def unseen_flags(connection: Connection, run_id: int) -> list[FlaggedLine]:
    """Return a run's flagged lines that nobody has seen, in the order in which they were judged.

    Copies are left out. A message to two chatbots side by side is stored in both conversations, and counts in
    the left one. A message to another worker is stored on both sides, and counts on its writer's.
    """
    of_other_worker = exists().where(
        HumanConversation.c.conversation_id == Turn.c.conversation_id,
        HumanConversation.c.partner_id.is_not(None),
        or_(
            HumanConversation.c.taken_over_from.is_(None),
            Turn.c.turn_index < HumanConversation.c.taken_over_from,
        ),
    )
    is_copy = or_(
        and_(Turn.c.author == "worker", Conversation.c.side.is_not_distinct_from("right")),
        and_(Turn.c.author == "bot", of_other_worker),
    )
    query = (
        select(Conversation.c.assignment_id, Turn.c.author)
        .select_from(ModeratedLine)
        .join(Turn, _is_its_turn)
        .join(Conversation, Conversation.c.id == ModeratedLine.c.conversation_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(
            Assignment.c.run_id == run_id,
            ModeratedLine.c.flagged.is_(True),
            ModeratedLine.c.seen_at.is_(None),
        )
        .where(~is_copy, Turn.c.text != REMOVED)
        .order_by(ModeratedLine.c.judged_at, ModeratedLine.c.conversation_id, ModeratedLine.c.turn_index)
    )
    return [FlaggedLine(*row) for row in connection.execute(query)]


def mark_flag_seen(
    connection: Connection, assignment: str, position: int, attempt: int, line: int, by: str, at: datetime
) -> SeenFlag:
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
        select(Assignment.c.run_id, Turn.c.conversation_id, Turn.c.client_id)
        .select_from(ModeratedLine)
        .join(Turn, _is_its_turn)
        .join(Conversation, Conversation.c.id == Turn.c.conversation_id)
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(Assignment.c.id == assignment, Conversation.c.position == position)
        .where(
            Conversation.c.attempt == attempt, Turn.c.turn_index == line, ModeratedLine.c.flagged.is_(True)
        )
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        where = f"attempt {attempt} at conversation {position} of assignment `{assignment}`"
        raise FlagNotFound(f"no line {line} is flagged in {where}")
    same = (
        select(Turn.c.conversation_id)
        .join(Conversation, Conversation.c.id == Turn.c.conversation_id)
        .where(Conversation.c.assignment_id == assignment, Turn.c.client_id == found.client_id)
    )
    marked = update(ModeratedLine).where(
        or_(
            ModeratedLine.c.conversation_id == found.conversation_id,
            ModeratedLine.c.conversation_id.in_(same),
        ),
        ModeratedLine.c.turn_index == line,
        ModeratedLine.c.flagged.is_(True),
        ModeratedLine.c.seen_at.is_(None),
    )
    return SeenFlag(found.run_id, connection.execute(marked.values(seen_at=at, seen_by=by)).rowcount > 0)
