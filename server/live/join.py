"""The worker's few HTTP calls: the page, and the way in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import structlog
from fastapi import APIRouter, Header, Request
from fastapi.responses import FileResponse
from limits import RateLimitItem
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from server.access.auth import Auth
from server.access.rate_limit import RateLimits
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.runs import find_run
from server.db.store import Store
from server.errors import RunClosed, StorageFailed, TokenInvalid
from server.live.enrolment import ArrivingWorker, Enrolment, enrol, find_enrolment, renew_enrolment
from server.live.sessions import LiveSessions
from server.recruiters.link import Arrival, arrive

log = structlog.get_logger()
WorkerId = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class JoinRequest(BaseModel):
    """Somebody wants to take part. `token` is what an earlier join on this page returned.

    `simulated` and `reply_pace` (0 to 1) need the researcher's token in the `Authorization` header.
    """

    model_config = ConfigDict(extra="forbid")

    run: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    worker: WorkerId | None = None
    token: Annotated[str, StringConstraints(max_length=512)] | None = None
    simulated: bool = False
    reply_pace: Annotated[float, Field(ge=0, le=1)] = 1.0


class JoinResponse(BaseModel):
    """The way in: the token of an assignment, and the path of the WebSocket that takes it."""

    token: str
    socket: str = "/ws"
    assignment: str


class JoinApi:
    """Lets workers in.

    Args:
        store: Where enrolments are stored.
        live: The sessions alive here; one that loses its place to an arriving worker is told so.
        auth: Makes the tokens, and tells a researcher's.
        runs: The open runs, by a run's id.
        limits: Counts the arrivals of each address.
        per_address: How many arrivals of one address are let in; somebody who comes back is not counted.
        pages: The folder with the built pages, of which `worker.html` is served.
    """

    def __init__(
        self,
        *,
        store: Store,
        live: LiveSessions,
        auth: Auth,
        runs: Mapping[int, OpenRun],
        limits: RateLimits,
        per_address: RateLimitItem,
        pages: Path,
    ) -> None:
        self._store = store
        self._live = live
        self._auth = auth
        self._runs = runs
        self._limits = limits
        self._per_address = per_address
        self._pages = pages
        self.router = APIRouter()
        self.router.add_api_route("/api/join", self.join, methods=["POST"])
        self.router.add_api_route("/w/{run}", self.page, methods=["GET"], include_in_schema=False)

    async def page(self, run: str) -> FileResponse:
        """The worker's page; it finds out for itself whether the run exists."""
        return FileResponse(self._pages / "worker.html", headers={"Cache-Control": "no-cache"})

    async def join(
        self, body: JoinRequest, request: Request, authorization: Annotated[str | None, Header()] = None
    ) -> JoinResponse:
        """Give an arriving worker their assignment: the one they have, or a new one."""
        if body.simulated or body.reply_pace != 1.0:
            await self._auth.require_researcher(authorization)
        run = await self._run(body.run)
        enrolment = await self._returning(body, run)
        if enrolment is None:
            await self._limits.count_address(self._per_address, "arrivals from this address", request)
            enrolment = await self._enrol(body, run)
        if enrolment.displaced is not None:
            await self._tell_of_expiry(enrolment.displaced)
        token = self._auth.worker_token(enrolment.assignment)
        return JoinResponse(token=token, assignment=enrolment.assignment)

    async def _tell_of_expiry(self, assignment: str) -> None:
        try:
            await self._live.look_again(assignment)
        except StorageFailed as error:
            # The enrolment is given all the same; the session that lost it finds out with its next message.
            log.warning("not told of its loss", assignment=assignment, error=error.message)

    async def _run(self, slug: str) -> OpenRun:
        entry = await self._store.read(lambda connection: find_run(connection, slug))
        if entry.id not in self._runs:
            raise RunClosed("this study is not open")
        return self._runs[entry.id]

    async def _returning(self, body: JoinRequest, run: OpenRun) -> Enrolment | None:
        """Return the assignment that this worker, or the holder of this token, already has in `run`.

        Raises:
            TokenExpired: the token was made here, but too long ago.
        """
        who: str | Arrival
        if body.worker is not None:
            who = arrive(body.worker, simulated=body.simulated)
        elif body.token is not None:
            try:
                who = self._auth.assignment_of(body.token)
            except TokenInvalid:
                return None
        else:
            return None
        enrolment = await self._store.read(lambda connection: find_enrolment(connection, run, who))
        if enrolment is not None:
            await self._store.submit(lambda connection: renew_enrolment(connection, enrolment, utc_now()))
        return enrolment

    async def _enrol(self, body: JoinRequest, run: OpenRun) -> Enrolment:
        arrival = arrive(body.worker, simulated=body.simulated)
        pseudonym = self._auth.pseudonym(arrival.platform, arrival.external_id)
        worker = ArrivingWorker(arrival, pseudonym, body.simulated, body.reply_pace)
        return await self._store.submit(lambda connection: enrol(connection, run, worker, utc_now()))
