"""Act on workers: release, message, end a conversation, leave out, mark as seen."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import AfterValidator, StringConstraints
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller, RequestBody
from server.access.parts import Database, part
from server.clock import utc_now
from server.db.audit import record
from server.db.review import MarkedSeen, mark_flag_seen, mark_report_seen
from server.db.tables.table import RowNumber
from server.live.converse.interventions import Interventions
from server.live.converse.sessions import LiveSessions
from server.session.protocol import plain

Live = Annotated[LiveSessions, part(LiveSessions)]
RunInterventions = Annotated[Interventions, part(Interventions)]
router = APIRouter(prefix="/api/desk", tags=["workers"], dependencies=[Depends(Allowed("act_on_workers"))])
_DONE = Response(status_code=204)


@router.post("/assignments/{assignment}/message-reports/{report}/seen", status_code=204)
async def mark_as_seen(
    assignment: str, report: RowNumber, actor: Caller, store: Database, live: Live
) -> Response:
    """Mark the report of a message as seen, so that it no longer needs attention."""

    def work(connection: Connection) -> MarkedSeen:
        found = mark_report_seen(connection, assignment, report, actor.name, utc_now())
        if found.is_new:
            record(connection, actor, "message_report.seen", assignment, f"report {report}")
        return found

    found = await store.submit(work)
    live.run_news.tell(found.run)
    return Response(status_code=204)


@router.post("/assignments/{assignment}/flagged-lines/{position}/{attempt}/{line}/seen", status_code=204)
async def mark_flag_as_seen(
    assignment: str,
    position: RowNumber,
    attempt: RowNumber,
    line: RowNumber,
    actor: Caller,
    store: Database,
    live: Live,
) -> Response:
    """Mark a turn flagged by the moderation service as seen, so that it no longer needs attention."""

    def work(connection: Connection) -> MarkedSeen:
        found = mark_flag_seen(connection, assignment, position, attempt, line, actor.name, utc_now())
        if found.is_new:
            where = f"conversation {position}, attempt {attempt}, line {line}"
            record(connection, actor, "flagged_line.seen", assignment, where)
        return found

    found = await store.submit(work)
    live.run_news.tell(found.run)
    return Response(status_code=204)


Words = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), AfterValidator(plain)
]


class Message(RequestBody):
    """A message to workers, shown on their pages until they dismiss it."""

    text: Words


class Ending(RequestBody):
    """The reason for ending a conversation, which its worker reads."""

    why: Words


class Reason(RequestBody):
    """The reason for excluding an assignment from analyses, which the report shows."""

    reason: Words


@router.post("/assignments/{assignment}/release", status_code=204)
async def release_place(assignment: str, actor: Caller, interventions: RunInterventions) -> Response:
    """End an active assignment to release its slot. This cannot be undone."""
    await interventions.release(assignment, actor)
    return _DONE


@router.post("/assignments/{assignment}/message", status_code=204)
async def tell_worker(
    assignment: str, body: Message, actor: Caller, interventions: RunInterventions
) -> Response:
    """Show a message on a worker's page."""
    await interventions.tell_worker(assignment, body.text, actor)
    return _DONE


@router.post("/assignments/{assignment}/end-conversation", status_code=204)
async def end_conversation(
    assignment: str, body: Ending, actor: Caller, interventions: RunInterventions
) -> Response:
    """End a worker's current conversation. The worker then rates it. This cannot be undone."""
    await interventions.end_conversation(assignment, body.why, actor)
    return _DONE


@router.put("/assignments/{assignment}/exclusion", status_code=204)
async def exclude_assignment(
    assignment: str, body: Reason, actor: Caller, interventions: RunInterventions
) -> Response:
    """Exclude an assignment from every analysis, with a reason. Its data stay."""
    await interventions.exclude(assignment, body.reason, actor)
    return _DONE


@router.delete("/assignments/{assignment}/exclusion", status_code=204)
async def include_assignment(assignment: str, actor: Caller, interventions: RunInterventions) -> Response:
    """Include an excluded assignment in analyses again."""
    await interventions.include(assignment, actor)
    return _DONE


@router.post("/runs/{run}/message", status_code=204)
async def tell_all(run: str, body: Message, actor: Caller, interventions: RunInterventions) -> Response:
    """Show a message to all active workers of a run."""
    await interventions.tell_all(run, body.text, actor)
    return _DONE
