"""Lines that the moderation service flags, as researchers read them; and that somebody has seen one."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, exists, or_, select, update

from server.db.models import (
    REMOVED,
    Assignment,
    Conversation,
    HumanConversation,
    ModeratedLine,
    Turn,
    columns,
)
from server.errors import FlagNotFound

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
HUMAN = columns(HumanConversation)
MODERATED = columns(ModeratedLine)
TURN = columns(Turn)
_is_its_turn = and_(
    TURN.conversation_id == MODERATED.conversation_id, TURN.turn_index == MODERATED.turn_index
)


@dataclass(frozen=True, slots=True)
class FlaggedLine:
    """A line that is flagged: in which assignment, and whose it is."""

    assignment: str
    author: str


@dataclass(frozen=True, slots=True)
class SeenFlag:
    """A flagged line that is marked as seen: of which run. `is_new`: nobody had marked it before."""

    run: int
    is_new: bool


def unseen_flags(connection: Connection, run_id: int) -> list[FlaggedLine]:
    """Return a run's flagged lines that nobody has seen, as they were judged.

    What was said once is one of them: an input side by side is stored in both conversations, and counts in
    the left one; a line to another worker is stored on both sides, and counts on its writer's.
    """
    of_other_worker = exists().where(
        HUMAN.conversation_id == TURN.conversation_id,
        HUMAN.partner_id.is_not(None),
        or_(HUMAN.taken_over_from.is_(None), TURN.turn_index < HUMAN.taken_over_from),
    )
    is_copy = or_(
        and_(TURN.author == "worker", CONVERSATION.side.is_not_distinct_from("right")),
        and_(TURN.author == "bot", of_other_worker),
    )
    query = (
        select(CONVERSATION.assignment_id, TURN.author)
        .select_from(ModeratedLine)
        .join(Turn, _is_its_turn)
        .join(Conversation, CONVERSATION.id == MODERATED.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.run_id == run_id, MODERATED.flagged.is_(True), MODERATED.seen_at.is_(None))
        .where(~is_copy, TURN.text != REMOVED)
        .order_by(MODERATED.judged_at, MODERATED.conversation_id, MODERATED.turn_index)
    )
    return [FlaggedLine(*row) for row in connection.execute(query)]


def mark_flag_seen(
    connection: Connection, assignment: str, position: int, attempt: int, line: int, by: str, at: datetime
) -> SeenFlag:
    """Store who has seen a flagged line; who did so first stays. An input side by side is seen on both sides.

    Args:
        connection: a transaction.
        assignment: in which it was said.
        position: of its conversation.
        attempt: at that.
        line: its number, from 0.
        by: the researcher's name.
        at: now.

    Raises:
        FlagNotFound: no line of this number is flagged there.
    """
    query = (
        select(ASSIGNMENT.run_id, TURN.conversation_id, TURN.client_id)
        .select_from(ModeratedLine)
        .join(Turn, _is_its_turn)
        .join(Conversation, CONVERSATION.id == TURN.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .where(ASSIGNMENT.id == assignment, CONVERSATION.position == position)
        .where(CONVERSATION.attempt == attempt, TURN.turn_index == line, MODERATED.flagged.is_(True))
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        where = f"attempt {attempt} at conversation {position} of assignment `{assignment}`"
        raise FlagNotFound(f"no line {line} is flagged in {where}")
    same = (
        select(TURN.conversation_id)
        .join(Conversation, CONVERSATION.id == TURN.conversation_id)
        .where(CONVERSATION.assignment_id == assignment, TURN.client_id == found.client_id)
    )
    marked = update(ModeratedLine).where(
        or_(MODERATED.conversation_id == found.conversation_id, MODERATED.conversation_id.in_(same)),
        MODERATED.turn_index == line,
        MODERATED.flagged.is_(True),
        MODERATED.seen_at.is_(None),
    )
    return SeenFlag(found.run_id, connection.execute(marked.values(seen_at=at, seen_by=by)).rowcount > 0)
