"""Receive reports over plain HTTP of problems that keep workers' pages from working, and log them."""

from typing import Annotated, Final, Literal

import structlog
from fastapi import APIRouter, Request, Response
from limits import parse
from pydantic import BaseModel, ConfigDict, StringConstraints
from sqlalchemy import Connection, insert, select

from server.access.parts import Configured, Database, Limits, Secrets, part
from server.clock import utc_now
from server.db.tables import AssignmentTable, ConversationTable, NoteTable
from server.live.converse.sessions import LiveSessions
from server.session.protocol import MAX_TOKEN, plain

# Problems that a researcher should know of: the kind of the incident, and the log line.
_INCIDENTS: Final = {
    "not_drawn": ("page_not_drawn", "a worker's page cannot draw a part of itself"),
    "translated": ("page_translated", "a worker's browser translates the page"),
}
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


router = APIRouter(tags=["workers"])


@router.post("/api/page-trouble", status_code=204)
async def tell(
    body: PageTrouble,
    request: Request,
    store: Database,
    auth: Secrets,
    live: Annotated[LiveSessions, part(LiveSessions)],
    limits: Limits,
    settings: Configured,
) -> Response:
    """Log the problem of a worker's page, and note it for the researcher if it concerns them."""
    await limits.count_address(parse(settings.attempts_per_address), "attempts from this address", request)
    opens = auth.read_worker_token(body.token).opens
    assignment = opens if isinstance(opens, str) else opens.assignment
    may_log = limits.may_log("page trouble", body.trouble)
    if body.trouble == "no_socket":
        if may_log:
            log.warning(
                "a worker's page reaches this server over HTTP, but cannot open the WebSocket",
                assignment=assignment,
                hint="Check that the proxy passes on `Upgrade` and `Connection` for /ws "
                "(docs/how-to/server/put-it-behind-a-proxy.md); "
                "else the worker's own network blocks it. Logged once a minute at most.",
            )
        return Response(status_code=204)
    (kind, sentence), text = _INCIDENTS[body.trouble], plain(body.text)
    if may_log:
        log.warning(sentence, assignment=assignment, part=text)
    run = await store.submit(lambda connection: _noted(connection, assignment, kind, text))
    if run is not None:
        live.run_news.tell(run)
    return Response(status_code=204)


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
