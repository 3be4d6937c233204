"""Conversations of a run by what was said in them, and how they stand; page by page, newest first."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, Select, func, or_, select

from server.db.models import Assignment, Conversation, Note, System, Turn, Worker, columns
from server.db.runs import RunEntry
from server.desk.transcript_responses import ConversationHit, ConversationHits
from server.errors import SearchInvalid
from server.session.conversation import ConversationStatus

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
NOTE = columns(Note)
SYSTEM = columns(System)
TURN = columns(Turn)
WORKER = columns(Worker)
ON_A_PAGE = 25

Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class Search(BaseModel):
    """What is looked for; what is not given is not looked at. `text`: in any line, capitals or not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Short = ""
    system: Short = ""
    worker: Short = ""
    status: ConversationStatus | None = None
    incidents: bool = False
    simulated: bool | None = None
    after: Annotated[str, Field(max_length=120)] = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a page ends: the start and the id of its last conversation."""

    started_at: datetime
    conversation: str

    def __str__(self) -> str:
        return f"{self.started_at.isoformat()}~{self.conversation}"

    @staticmethod
    def read(text: str) -> "_Mark":
        """Return the mark that `text` is. Raises SearchInvalid."""
        at, _, conversation = text.partition("~")
        try:
            return _Mark(datetime.fromisoformat(at).astimezone(UTC), conversation)
        except (ValueError, OverflowError) as error:
            raise SearchInvalid(f"`{text}` is not the end of a page") from error


def search(connection: Connection, run: RunEntry, wanted: Search) -> ConversationHits:
    """Return the conversations that have begun and are as wanted. Raises SearchInvalid."""
    rows = connection.execute(_query(run, wanted).limit(ON_A_PAGE + 1)).all()
    page = rows[:ON_A_PAGE]
    last = page[-1] if len(rows) > ON_A_PAGE else None
    return ConversationHits(
        conversations=[_hit(connection, row, wanted.text) for row in page],
        after=None if last is None else str(_Mark(last.started_at, last.conversation)),
    )


def _query(run: RunEntry, wanted: Search) -> Select[Any]:
    query = (
        select(
            CONVERSATION.id.label("conversation"),
            ASSIGNMENT.id.label("assignment"),
            WORKER.pseudonym.label("worker"),
            ASSIGNMENT.simulated,
            CONVERSATION.position,
            SYSTEM.name.label("system"),
            CONVERSATION.status,
            CONVERSATION.started_at,
        )
        .join(Assignment, ASSIGNMENT.id == CONVERSATION.assignment_id)
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(ASSIGNMENT.run_id == run.id, CONVERSATION.started_at.is_not(None))
        .order_by(CONVERSATION.started_at.desc(), CONVERSATION.id.desc())
    )
    if wanted.text:
        query = query.where(_lines_with(wanted.text).exists())
    if wanted.system:
        query = query.where(SYSTEM.name == wanted.system)
    if wanted.worker:
        query = query.where(WORKER.pseudonym.icontains(wanted.worker, autoescape=True))
    if wanted.status is not None:
        query = query.where(CONVERSATION.status == wanted.status)
    if wanted.incidents:
        query = query.where(select(NOTE.id).where(NOTE.conversation_id == CONVERSATION.id).exists())
    if wanted.simulated is not None:
        query = query.where(ASSIGNMENT.simulated == wanted.simulated)
    if wanted.after:
        mark = _Mark.read(wanted.after)
        earlier = CONVERSATION.started_at < mark.started_at
        same = (CONVERSATION.started_at == mark.started_at) & (CONVERSATION.id < mark.conversation)
        query = query.where(or_(earlier, same))
    return query


def _lines_with(text: str) -> Select[Any]:
    return select(TURN.text).where(
        TURN.conversation_id == CONVERSATION.id, TURN.text.icontains(text, autoescape=True)
    )


def _hit(connection: Connection, row: Any, text: str) -> ConversationHit:
    lines = select(func.count()).where(TURN.conversation_id == row.conversation, TURN.author == "worker")
    notes = select(func.count()).where(NOTE.conversation_id == row.conversation)
    found = select(TURN.text).where(TURN.conversation_id == row.conversation).order_by(TURN.turn_index)
    if text:
        found = found.where(TURN.text.icontains(text, autoescape=True))
    return ConversationHit(
        **row._mapping,
        inputs=int(connection.execute(lines).scalar_one()),
        incidents=int(connection.execute(notes).scalar_one()),
        line=connection.execute(found.limit(1)).scalar_one_or_none(),
    )
