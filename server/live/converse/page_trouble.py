"""Receive reports over plain HTTP of problems that keep workers' pages from working, and log them."""

from typing import Annotated, Final, Literal

import structlog
from fastapi import APIRouter, Request, Response
from limits import RateLimitItem, parse
from pydantic import BaseModel, ConfigDict, StringConstraints
from sqlalchemy import Connection, insert, select

from server.access.auth import Auth
from server.access.rate_limit import RateLimits, new_limiter
from server.clock import utc_now
from server.db.store.store import Store
from server.db.tables import AssignmentTable, ConversationTable, NoteTable
from server.live.converse.presence import RunNews
from server.session.protocol import MAX_TOKEN, plain

# Problems that a researcher should know of: the kind of the incident, and the log line.
_INCIDENTS: Final = {
    "not_drawn": ("page_not_drawn", "a worker's page cannot draw a part of itself"),
    "translated": ("page_translated", "a worker's browser translates the page"),
}
_SELDOM: Final = parse("1/minute")
log = structlog.get_logger()


class PageTrouble(BaseModel):
    """A problem of a worker's page.

    `no_socket`: it cannot open the WebSocket. `not_drawn`: it cannot draw the part that `text` names.
    `translated`: the browser translates it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    token: Annotated[str, StringConstraints(max_length=MAX_TOKEN)]
    trouble: Literal["no_socket", "not_drawn", "translated"]
    text: Annotated[str, StringConstraints(max_length=300)] = ""


class PageTroubleApi:
    """Receive pages' problems. A request with a session's token is taken as the worker's."""

    def __init__(
        self, *, store: Store, auth: Auth, run_news: RunNews, limits: RateLimits, per_address: RateLimitItem
    ) -> None:
        self._store = store
        self._auth = auth
        self._run_news = run_news
        self._limits = limits
        self._per_address = per_address
        self._logged = new_limiter()
        self.router = APIRouter(tags=["workers"])
        self.router.add_api_route("/api/page-trouble", self.tell, methods=["POST"], status_code=204)

    async def tell(self, body: PageTrouble, request: Request) -> Response:
        """Log the problem of a worker's page, and note it for the researcher if it concerns them."""
        await self._limits.count_address(self._per_address, "attempts from this address", request)
        opens = self._auth.read_worker_token(body.token).opens
        assignment = opens if isinstance(opens, str) else opens.assignment
        if body.trouble == "no_socket":
            self._log_no_socket(assignment)
        else:
            await self._note(assignment, body.trouble, plain(body.text))
        return Response(status_code=204)

    def _log_no_socket(self, assignment: str) -> None:
        if self._logged.hit(_SELDOM, "no_socket"):
            log.warning(
                "a worker's page reaches this server over HTTP, but cannot open the WebSocket",
                assignment=assignment,
                hint="Check that the proxy passes on `Upgrade` and `Connection` for /ws (docs/deploy.md); "
                "else the worker's own network blocks it. Logged once a minute at most.",
            )

    async def _note(self, assignment: str, trouble: str, text: str) -> None:
        kind, sentence = _INCIDENTS[trouble]
        if self._logged.hit(_SELDOM, trouble):
            log.warning(sentence, assignment=assignment, part=text)
        run = await self._store.submit(lambda connection: _noted(connection, assignment, kind, text))
        if run is not None:
            self._run_news.tell(run)


def _noted(connection: Connection, assignment: str, kind: str, text: str) -> int | None:
    """Store an incident, once, in the conversation that began last; return the run if the incident is new."""
    latest = (
        select(ConversationTable.c.id, AssignmentTable.c.run_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.id == assignment, ConversationTable.c.started_at.is_not(None))
        .order_by(ConversationTable.c.started_at.desc())
        .limit(1)
    )
    found = connection.execute(latest).one_or_none()
    if found is None:
        return None
    known = select(NoteTable.c.id).where(NoteTable.c.conversation_id == found.id, NoteTable.c.kind == kind)
    if connection.execute(known).first() is not None:
        return None
    values = {"conversation_id": found.id, "kind": kind, "text": text, "created_at": utc_now()}
    connection.execute(insert(NoteTable).values(**values))
    return int(found.run_id)
