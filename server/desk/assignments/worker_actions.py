"""Act on workers: release, message, end a conversation, leave out, mark as seen."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import AfterValidator, StringConstraints
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller, RequestBody
from server.access.auth import Auth
from server.clock import utc_now
from server.db.audit import record
from server.db.review.flagged_lines import SeenFlag, mark_flag_seen
from server.db.review.message_reports import SeenReport, mark_seen
from server.db.store.store import Store
from server.db.tables.table import RowNumber
from server.live.converse.interventions import Interventions
from server.live.converse.run_news import RunNews
from server.session.protocol import plain


class SeenMarks:
    """Endpoints that mark reports and flagged turns as seen, with an entry in the audit log."""

    def __init__(self, *, store: Store, auth: Auth, run_news: RunNews) -> None:
        self._store = store
        self._run_news = run_news
        self.router = APIRouter(
            prefix="/api/desk", tags=["workers"], dependencies=[Depends(Allowed("act_on_workers"))]
        )
        path = "/assignments/{assignment}/message-reports/{report}/seen"
        self.router.add_api_route(path, self.mark_as_seen, methods=["POST"], status_code=204)
        path = "/assignments/{assignment}/flagged-lines/{position}/{attempt}/{line}/seen"
        self.router.add_api_route(path, self.mark_flag_as_seen, methods=["POST"], status_code=204)

    async def mark_as_seen(self, assignment: str, report: RowNumber, actor: Caller) -> Response:
        """Mark the report of a message as seen, so that it no longer needs attention."""

        def work(connection: Connection) -> SeenReport:
            found = mark_seen(connection, assignment, report, actor.name, utc_now())
            if found.is_new:
                record(connection, actor, "message_report.seen", assignment, f"report {report}")
            return found

        found = await self._store.submit(work)
        self._run_news.tell(found.run)
        return Response(status_code=204)

    async def mark_flag_as_seen(
        self, assignment: str, position: RowNumber, attempt: RowNumber, line: RowNumber, actor: Caller
    ) -> Response:
        """Mark a turn flagged by the moderation service as seen, so that it no longer needs attention."""

        def work(connection: Connection) -> SeenFlag:
            found = mark_flag_seen(connection, assignment, position, attempt, line, actor.name, utc_now())
            if found.is_new:
                where = f"conversation {position}, attempt {attempt}, line {line}"
                record(connection, actor, "flagged_line.seen", assignment, where)
            return found

        found = await self._store.submit(work)
        self._run_news.tell(found.run)
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


class WorkerActions:
    """Endpoints that act on workers."""

    def __init__(self, auth: Auth, interventions: Interventions) -> None:
        self._interventions = interventions
        allowed = [Depends(Allowed("act_on_workers"))]
        self.router = APIRouter(prefix="/api/desk", tags=["workers"], dependencies=allowed)
        self._route("POST", "/assignments/{assignment}/release", self.release_place)
        self._route("POST", "/assignments/{assignment}/message", self.tell_worker)
        self._route("POST", "/assignments/{assignment}/end-conversation", self.end_conversation)
        self._route("PUT", "/assignments/{assignment}/exclusion", self.exclude_assignment)
        self._route("DELETE", "/assignments/{assignment}/exclusion", self.include_assignment)
        self._route("POST", "/runs/{run}/message", self.tell_all)

    def _route(self, method: str, path: str, call: Callable[..., Any]) -> None:
        self.router.add_api_route(path, call, methods=[method], status_code=204)

    async def release_place(self, assignment: str, actor: Caller) -> Response:
        """End an active assignment to release its slot. This cannot be undone."""
        await self._interventions.release(assignment, actor)
        return _DONE

    async def tell_worker(self, assignment: str, body: Message, actor: Caller) -> Response:
        """Show a message on a worker's page."""
        await self._interventions.tell_worker(assignment, body.text, actor)
        return _DONE

    async def end_conversation(self, assignment: str, body: Ending, actor: Caller) -> Response:
        """End a worker's current conversation. The worker then rates it. This cannot be undone."""
        await self._interventions.end_conversation(assignment, body.why, actor)
        return _DONE

    async def exclude_assignment(self, assignment: str, body: Reason, actor: Caller) -> Response:
        """Exclude an assignment from every analysis, with a reason. Its data stay."""
        await self._interventions.exclude(assignment, body.reason, actor)
        return _DONE

    async def include_assignment(self, assignment: str, actor: Caller) -> Response:
        """Include an excluded assignment in analyses again."""
        await self._interventions.include(assignment, actor)
        return _DONE

    async def tell_all(self, run: str, body: Message, actor: Caller) -> Response:
        """Show a message to all active workers of a run."""
        await self._interventions.tell_all(run, body.text, actor)
        return _DONE


_DONE = Response(status_code=204)
