"""Endpoints that mark reports of messages and flagged turns as seen."""

from fastapi import APIRouter, Depends, Response
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.auth import Auth
from server.clock import utc_now
from server.db.audit import record
from server.db.review.flagged_lines import SeenFlag, mark_flag_seen
from server.db.review.message_reports import SeenReport, mark_seen
from server.db.store.store import Store
from server.db.tables.table import RowNumber
from server.live.converse.run_news import RunNews


class SeenMarks:
    """Endpoints that mark reports and flagged turns as seen, with an entry in the audit log."""

    def __init__(self, *, store: Store, auth: Auth, run_news: RunNews) -> None:
        self._store = store
        self._run_news = run_news
        self.router = APIRouter(
            prefix="/api/desk", tags=["workers"], dependencies=[Depends(Allowed(auth, "act_on_workers"))]
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
