"""Search the conversations of a run by words, status and more, and find workers of all runs by pseudonym."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection, Select, func, or_, select

from server.access.actor import Allowed, Caller
from server.access.parts import Database
from server.db.runs.runs import RunEntry, find_run
from server.db.tables import (
    AssignmentTable,
    ConversationTable,
    NoteTable,
    RunTable,
    StudyTable,
    SystemTable,
    TurnTable,
    WorkerTable,
)
from server.desk.assignments.transcript_responses import (
    ConversationHit,
    ConversationHits,
    WorkerHit,
    WorkerHits,
)
from server.errors import SearchInvalid
from server.session.conversation import ConversationStatus

ON_A_PAGE = 25
WORKERS_AT_ONCE = 8

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
            raise SearchInvalid(f"“{text}” is not the end of a page") from error


router = APIRouter()


@router.get(
    "/api/desk/runs/{run}/conversations", tags=["runs"], dependencies=[Depends(Allowed("read_transcripts"))]
)
async def search_conversations(
    run: str, wanted: Annotated[Search, Query()], store: Database
) -> ConversationHits:
    """List conversations of a run that match a search, newest first, page by page."""
    return await store.read(lambda c: search(c, find_run(c, run), wanted))


@router.get("/api/desk/workers", tags=["runs"], dependencies=[Depends(Allowed("see_runs"))])
async def find_workers(
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)],
    actor: Caller,
    store: Database,
) -> WorkerHits:
    """Find workers by a part of their pseudonym, in all runs that the caller may see, newest first."""
    query = (
        select(
            AssignmentTable.c.id.label("assignment"),
            WorkerTable.c.pseudonym.label("worker"),
            RunTable.c.slug.label("run"),
            StudyTable.c.name.label("study"),
        )
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .join(RunTable, RunTable.c.id == AssignmentTable.c.run_id)
        .join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
        .where(WorkerTable.c.pseudonym.icontains(text, autoescape=True), RunTable.c.kind == "study")
        .order_by(AssignmentTable.c.created_at.desc(), AssignmentTable.c.id)
    )

    def read(connection: Connection) -> list[WorkerHit]:
        seen = (row for row in connection.execute(query) if actor.may("see_runs", row.study))
        return [WorkerHit(**row._mapping) for row in islice(seen, WORKERS_AT_ONCE)]

    return WorkerHits(workers=await store.read(read))


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
            ConversationTable.c.id.label("conversation"),
            AssignmentTable.c.id.label("assignment"),
            WorkerTable.c.pseudonym.label("worker"),
            AssignmentTable.c.simulated,
            ConversationTable.c.position,
            SystemTable.c.name.label("system"),
            ConversationTable.c.status,
            ConversationTable.c.started_at,
        )
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
        .where(AssignmentTable.c.run_id == run.id, ConversationTable.c.started_at.is_not(None))
        .order_by(ConversationTable.c.started_at.desc(), ConversationTable.c.id.desc())
    )
    if wanted.text:
        query = query.where(_lines_with(wanted.text).exists())
    if wanted.system:
        query = query.where(SystemTable.c.name == wanted.system)
    if wanted.worker:
        query = query.where(WorkerTable.c.pseudonym.icontains(wanted.worker, autoescape=True))
    if wanted.status is not None:
        query = query.where(ConversationTable.c.status == wanted.status)
    if wanted.incidents:
        query = query.where(
            select(NoteTable.c.id).where(NoteTable.c.conversation_id == ConversationTable.c.id).exists()
        )
    if wanted.simulated is not None:
        query = query.where(AssignmentTable.c.simulated == wanted.simulated)
    if wanted.after:
        mark = _Mark.read(wanted.after)
        earlier = ConversationTable.c.started_at < mark.started_at
        same = (ConversationTable.c.started_at == mark.started_at) & (
            ConversationTable.c.id < mark.conversation
        )
        query = query.where(or_(earlier, same))
    return query


def _lines_with(text: str) -> Select[Any]:
    return select(TurnTable.c.text).where(
        TurnTable.c.conversation_id == ConversationTable.c.id,
        TurnTable.c.text.icontains(text, autoescape=True),
    )


def _hit(connection: Connection, row: Any, text: str) -> ConversationHit:
    lines = select(func.count()).where(
        TurnTable.c.conversation_id == row.conversation, TurnTable.c.author == "worker"
    )
    notes = select(func.count()).where(NoteTable.c.conversation_id == row.conversation)
    found = (
        select(TurnTable.c.text)
        .where(TurnTable.c.conversation_id == row.conversation)
        .order_by(TurnTable.c.turn_index)
    )
    if text:
        found = found.where(TurnTable.c.text.icontains(text, autoescape=True))
    return ConversationHit(
        **row._mapping,
        inputs=int(connection.execute(lines).scalar_one()),
        incidents=int(connection.execute(notes).scalar_one()),
        line=connection.execute(found.limit(1)).scalar_one_or_none(),
    )
