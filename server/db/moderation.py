"""Find lines that the moderation service has not judged, and store its judgements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, insert, literal, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from bots import Judgement
from server.db.models import REMOVED, Assignment, Conversation, ModeratedLine, Note, Turn, columns

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
MODERATED = columns(ModeratedLine)
TURN = columns(Turn)
_KINDS = {"bot": "flagged_reply", "worker": "flagged_input"}  # of notes
_UNNAMED = "flagged"  # where the service names no category


@dataclass(frozen=True, slots=True)
class UnjudgedLine:
    """A line that the service has not judged."""

    conversation: str
    index: int
    author: str
    text: str


def unjudged_lines(
    connection: Connection, run_ids: Sequence[int], most: int, since: datetime | None
) -> list[UnjudgedLine]:
    """Return the oldest lines of people's conversations in these runs that are not judged, `most` of them.

    `since`: those of assignments that ended before it are judged, and not looked at; None: look at all.
    """
    judged = and_(MODERATED.conversation_id == TURN.conversation_id, MODERATED.turn_index == TURN.turn_index)
    query = (
        select(TURN.conversation_id, TURN.turn_index, TURN.author, TURN.text)
        .join(Conversation, CONVERSATION.id == TURN.conversation_id)
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .outerjoin(ModeratedLine, judged)
        .where(
            ASSIGNMENT.run_id.in_(run_ids),
            ASSIGNMENT.simulated.is_(False),
            MODERATED.conversation_id.is_(None),
            TURN.text != REMOVED,
        )
        .order_by(TURN.created_at, TURN.conversation_id, TURN.turn_index)
        .limit(most)
    )
    if since is not None:
        query = query.where(or_(ASSIGNMENT.ended_at.is_(None), ASSIGNMENT.ended_at >= since))
    return [UnjudgedLine(*row) for row in connection.execute(query)]


def store_judgements(
    connection: Connection, judged: Mapping[UnjudgedLine, Judgement | None], at: datetime
) -> None:
    """Store what the service says of lines, and note those that it flags; None: it would not judge the line.

    A line whose words were removed meanwhile is left out: what is said of it would say what they were.
    """
    for line, judgement in judged.items():
        is_new = _store(connection, line, judgement, at)
        if is_new and judgement is not None and judgement.flagged:
            why = ", ".join(judgement.categories) or _UNNAMED
            noted = {"conversation_id": line.conversation, "kind": _KINDS[line.author], "text": why}
            connection.execute(insert(Note).values(noted | {"created_at": at}))


def _store(connection: Connection, line: UnjudgedLine, judgement: Judgement | None, at: datetime) -> bool:
    """Store what is said of a line; return False where it is judged already, or not there any more."""
    values = {
        MODERATED.flagged: None if judgement is None else judgement.flagged,
        MODERATED.categories: "" if judgement is None else ", ".join(judgement.categories),
        MODERATED.score: None if judgement is None else judgement.score,
        MODERATED.model: None if judgement is None else judgement.model,
        MODERATED.judged_at: at,
    }
    judged = [literal(value, column.type) for column, value in values.items()]
    said = select(TURN.conversation_id, TURN.turn_index, *judged).where(
        TURN.conversation_id == line.conversation, TURN.turn_index == line.index, TURN.text == line.text
    )
    # Who removes the words waits until this is stored, and blanks it; while they do, the line is left out.
    said = said.with_for_update(read=True, skip_locked=True)
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    names = ["conversation_id", "turn_index", *(column.name for column in values)]
    added = dialect.insert(ModeratedLine).from_select(names, said).on_conflict_do_nothing()
    return connection.execute(added.returning(MODERATED.turn_index)).one_or_none() is not None
