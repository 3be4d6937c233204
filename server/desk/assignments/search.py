"""Search the conversations of a run by words, status and more; in pages, newest first."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, Select, func, or_, select

from server.db.runs.runs import RunEntry
from server.db.tables import Assignment, Conversation, Note, System, Turn, Worker
from server.desk.assignments.transcript_responses import ConversationHit, ConversationHits
from server.errors import SearchInvalid
from server.session.conversation import ConversationStatus

ON_A_PAGE = 25

Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class Search(BaseModel):
    """Search criteria; omitted ones do not count. `text`: words in any turn, in upper or lower case."""

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
    """The end of a page: the start time and the id of its last conversation."""

    started_at: datetime
    conversation: str

    def __str__(self) -> str:
        return f"{self.started_at.isoformat()}~{self.conversation}"

    @staticmethod
    def read(text: str) -> "_Mark":
        """Parse a mark. Raises SearchInvalid."""
        at, _, conversation = text.partition("~")
        try:
            return _Mark(datetime.fromisoformat(at).astimezone(UTC), conversation)
        except (ValueError, OverflowError) as error:
            raise SearchInvalid(f"`{text}` is not the end of a page") from error


def search(connection: Connection, run: RunEntry, wanted: Search) -> ConversationHits:
    """Return a page of the conversations that have begun and match. Raises SearchInvalid."""
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
            Conversation.c.id.label("conversation"),
            Assignment.c.id.label("assignment"),
            Worker.c.pseudonym.label("worker"),
            Assignment.c.simulated,
            Conversation.c.position,
            System.c.name.label("system"),
            Conversation.c.status,
            Conversation.c.started_at,
        )
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .join(Worker, Worker.c.id == Assignment.c.worker_id)
        .join(System, System.c.id == Conversation.c.system_id)
        .where(Assignment.c.run_id == run.id, Conversation.c.started_at.is_not(None))
        .order_by(Conversation.c.started_at.desc(), Conversation.c.id.desc())
    )
    if wanted.text:
        query = query.where(_lines_with(wanted.text).exists())
    if wanted.system:
        query = query.where(System.c.name == wanted.system)
    if wanted.worker:
        query = query.where(Worker.c.pseudonym.icontains(wanted.worker, autoescape=True))
    if wanted.status is not None:
        query = query.where(Conversation.c.status == wanted.status)
    if wanted.incidents:
        query = query.where(select(Note.c.id).where(Note.c.conversation_id == Conversation.c.id).exists())
    if wanted.simulated is not None:
        query = query.where(Assignment.c.simulated == wanted.simulated)
    if wanted.after:
        mark = _Mark.read(wanted.after)
        earlier = Conversation.c.started_at < mark.started_at
        same = (Conversation.c.started_at == mark.started_at) & (Conversation.c.id < mark.conversation)
        query = query.where(or_(earlier, same))
    return query


def _lines_with(text: str) -> Select[Any]:
    return select(Turn.c.text).where(
        Turn.c.conversation_id == Conversation.c.id, Turn.c.text.icontains(text, autoescape=True)
    )


def _hit(connection: Connection, row: Any, text: str) -> ConversationHit:
    lines = select(func.count()).where(Turn.c.conversation_id == row.conversation, Turn.c.author == "worker")
    notes = select(func.count()).where(Note.c.conversation_id == row.conversation)
    found = select(Turn.c.text).where(Turn.c.conversation_id == row.conversation).order_by(Turn.c.turn_index)
    if text:
        found = found.where(Turn.c.text.icontains(text, autoescape=True))
    return ConversationHit(
        **row._mapping,
        inputs=int(connection.execute(lines).scalar_one()),
        incidents=int(connection.execute(notes).scalar_one()),
        line=connection.execute(found.limit(1)).scalar_one_or_none(),
    )
