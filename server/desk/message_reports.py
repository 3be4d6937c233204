"""Reports of messages that workers have made: a researcher marks them as seen."""

from fastapi import APIRouter, Depends, Response
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.auth import Auth
from server.clock import utc_now
from server.db.audit import record
from server.db.message_reports import SeenReport, mark_seen
from server.db.store import Store
from server.live.run_news import RunNews


class MessageReports:
    """Has researchers mark reports as seen, with a row in the audit log."""

    def __init__(self, *, store: Store, auth: Auth, run_news: RunNews) -> None:
        self._store = store
        self._run_news = run_news
        self.router = APIRouter(
            prefix="/api/desk", tags=["workers"], dependencies=[Depends(Allowed(auth, "act_on_workers"))]
        )
        path = "/assignments/{assignment}/message-reports/{report}/seen"
        self.router.add_api_route(path, self.mark_as_seen, methods=["POST"], status_code=204)

    async def mark_as_seen(self, assignment: str, report: int, actor: Caller) -> Response:
        """Mark the report of a message as seen, so that it needs nobody's attention any more."""

        def work(connection: Connection) -> SeenReport:
            found = mark_seen(connection, assignment, report, actor.name, utc_now())
            if found.is_new:
                record(connection, actor, "message_report.seen", assignment, f"report {report}")
            return found

        found = await self._store.submit(work)
        self._run_news.tell(found.run)
        return Response(status_code=204)
