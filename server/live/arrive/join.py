"""Serve `/api/join`, which returns a token for the WebSocket to an arriving worker."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

import structlog
from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse
from limits import parse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Connection

from server.access.auth import Auth, Ticket, WorkerToken
from server.access.parts import Configured, Limits, part
from server.access.rate_limit import RateLimits
from server.bots.lineup import OpenRun, study_card
from server.clock import utc_now
from server.config import Settings
from server.db.runs.runs import RunEntry, find_run
from server.db.store import Store
from server.errors import (
    AlreadyTookPart,
    ErrorBody,
    ErrorDetail,
    LinkAltered,
    LinkAmbiguous,
    LinkExpired,
    LinkUnfilled,
    LinkUnsigned,
    NotAuthorised,
    NotAvailable,
    RunClosed,
    RunNotReady,
    RunOutOfHours,
    TokenExpired,
    TokenInvalid,
)
from server.live.arrive.admission import look, require_open
from server.live.arrive.enrolment import (
    Enrolment,
    enrolment_in,
    find_enrolment,
    new_assignment_id,
    renew_enrolment,
    require_place,
)
from server.live.arrive.signed_arrivals import SignedArrivals
from server.recruiters.arrival import LINK, Arrival, WorkerId, by_link, is_placeholder, stranger
from server.recruiters.recruiter import PayingRecruiter, WayBack, values_of, way_back
from server.session.protocol import MAX_TOKEN, SOCKET_PATH, plain
from server.session.texts import TextsCard
from server.study import Study, parse_study

log = structlog.get_logger()
_Parameter = Annotated[str, StringConstraints(max_length=64)]
_Value = Annotated[str, StringConstraints(max_length=2_500)]  # a signed arrival has about 1,500


class JoinRequest(BaseModel):
    """A worker's request to take part. `token` is the token that an earlier join on this page returned.

    `worker`: the id in a plain link. `parameters`: those of the page's address, for the recruiter.
    `doubled`: names of parameters that the address has with two values.
    `signature`: that of a personal link (`candor recruit links`). `earlier`: the token of the browser's last
    session in this run, under any name. `simulated` and `reply_pace` (0 to 1) need a researcher's token in
    the `Authorization` header. `simulated_as`: the description of a simulated worker that the data keep.
    """

    model_config = ConfigDict(extra="forbid")

    run: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    worker: WorkerId | None = None
    parameters: Annotated[dict[_Parameter, _Value], Field(max_length=20)] = {}
    doubled: Annotated[list[_Parameter], Field(max_length=20)] = []
    signature: Annotated[str, StringConstraints(max_length=64)] | None = None
    token: Annotated[str, StringConstraints(max_length=MAX_TOKEN)] | None = None
    earlier: Annotated[str, StringConstraints(max_length=MAX_TOKEN)] | None = None
    simulated: bool = False
    simulated_as: Annotated[str, StringConstraints(max_length=200)] = ""
    reply_pace: Annotated[float, Field(ge=0, le=1, strict=True)] = 1.0


class JoinResponse(BaseModel):
    """A token, the path of the WebSocket that takes it, and the id of the assignment.

    A new worker has no assignment until they agree: the token is a ticket then, and `assignment` is the id
    that their assignment will have.
    """

    token: str
    socket: str = SOCKET_PATH
    assignment: str


class JoinRefused(ErrorBody):
    """The reason why a worker cannot take part, with the page's texts in the study's language.

    `words` is as in the study's card. `again_at`: when the run next admits workers, if it is outside its
    hours. `way_back`: where to return the study, for workers from a platform who have no assignment.
    """

    words: TextsCard | None
    again_at: datetime | None
    way_back: WayBack | None


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request to join, with everything known of the worker. `named`: the worker, if the request names one.

    `brought` is the content of the browser's token, if this server made it. `latest` is the same for the
    browser's last token in this run, under any name. `unproven` is the error that makes `named` invalid,
    unless the browser has brought a token for the same worker.
    """

    body: JoinRequest
    run: OpenRun
    named: Arrival | None
    is_signed: bool
    brought: WorkerToken | None
    latest: WorkerToken | None
    unproven: NotAuthorised | None = None

    @property
    def old_ticket(self) -> Ticket | None:
        return _ticket_in(self.brought)

    @property
    def earlier_ticket(self) -> Ticket | None:
        """The browser's last ticket in this run."""
        return _ticket_in(self.latest)

    @property
    def earlier(self) -> str | None:
        """The id that the assignment of the browser's last session in this run has or would have."""
        return _assignment_of(self.latest)

    @property
    def old_assignment(self) -> str | None:
        """The id of the assignment that the token opens, or would open if its ticket had led to one."""
        return _assignment_of(self.brought)

    def is_kept(self, ticket: Ticket) -> bool:
        """Return whether the browser has brought this ticket, for this worker, and it is still valid."""
        old = self.old_ticket
        return (
            old is not None
            and not self.has_expired
            and (old.run, old.assignment) == (ticket.run, ticket.assignment)
            and old.arrival.is_of(ticket.arrival)
        )

    @property
    def has_expired(self) -> bool:
        return self.brought is not None and self.brought.has_expired


def _why_not_open(entry: RunEntry) -> NotAvailable:
    """Return the error for a run that is not open in this process."""
    try:
        require_open(entry.status, entry.cause)
    except NotAvailable as error:
        return error
    return RunNotReady("This study is about to open")


def _named(body: JoinRequest, study: Study, *, is_signed: bool) -> Arrival | None:
    """Return the worker that a request names; None if it names none."""
    if body.worker is not None and (is_signed or study.recruiter is None):
        return by_link(body.worker, simulated=body.simulated)
    if study.recruiter is None or body.simulated:
        return None
    return study.recruiter.arrival(body.parameters)


def _require_one_name(body: JoinRequest, study: Study) -> None:
    """Check that the address names at most one worker. Raises LinkAmbiguous, LinkUnfilled."""
    person = "worker" if study.recruiter is None else study.recruiter.person
    values = [body.worker or ""] if study.recruiter is None else values_of(body.parameters, person)
    named = {"worker", "signature", person.lower()}
    if len(values) > 1 or any(name.lower() in named for name in body.doubled):
        raise LinkAmbiguous("The address names two different workers")
    if values and is_placeholder(values[0]):
        raise LinkUnfilled(
            f"The address contains “{person}={values[0][:80]}”. This is a placeholder, not an id"
        )


def _require_recruited(study: Study, ticket: Ticket) -> None:
    if study.recruiter is not None and ticket.arrival.platform == LINK and not ticket.is_signed:
        raise LinkUnsigned(f"This study takes workers from {study.recruiter.kind} only, by the link there")


def _ticket(visit: _Visit) -> Ticket:
    """Return the ticket that the browser has brought, if it is this worker's, or a new one."""
    body, run, old, named = visit.body, visit.run, visit.old_ticket, visit.named
    if (
        old is not None
        and (old.run, old.simulated) == (run.id, body.simulated)
        and (named is None or old.arrival.is_of(named))
    ):
        arrival = named or old.arrival
        return replace(old, arrival=arrival, is_signed=old.is_signed or visit.is_signed)
    # Two tickets of one browser lead to one assignment, whichever name agrees first.
    rival = visit.earlier_ticket if not visit.is_signed else None
    assignment = rival.assignment if rival is not None and rival.run == run.id else new_assignment_id()
    arrival = named or stranger(simulated=body.simulated)
    simulated_as = plain(body.simulated_as) if body.simulated else ""
    return Ticket(assignment, run.id, arrival, body.simulated, body.reply_pace, visit.is_signed, simulated_as)


def _ticket_in(token: WorkerToken | None) -> Ticket | None:
    opens = token.opens if token is not None else None
    return opens if isinstance(opens, Ticket) else None


def _assignment_of(token: WorkerToken | None) -> str | None:
    opens = token.opens if token is not None else None
    return opens.assignment if isinstance(opens, Ticket) else opens


class JoinRequests:
    """Gives workers a token for their session. Nothing is stored of new workers.

    Args:
        store: Looks up assignments and free slots.
        auth: Makes workers' tokens, checks researchers' tokens and links.
        runs: The open runs, by the run's id.
        limits: Limits lines in the log.
        signed_arrivals: Checks platforms' signatures.
        settings: Tell whether workers need a signed link, and the base address of Prolific's pages for
            participants.
    """

    def __init__(
        self,
        store: Store,
        auth: Auth,
        runs: Mapping[int, OpenRun],
        limits: RateLimits,
        signed_arrivals: SignedArrivals,
        settings: Settings,
    ) -> None:
        self._store = store
        self._auth = auth
        self._runs = runs
        self._limits = limits
        self._signed_arrivals = signed_arrivals
        self._signed_links = settings.signed_links
        self._prolific_site = settings.prolific_site.rstrip("/")

    async def answer(self, body: JoinRequest, authorization: str | None) -> JoinResponse | JSONResponse:
        """Return a worker's token, or the reason why they cannot take part.

        Args:
            body: the request.
            authorization: the header, which must have a researcher's token for a simulated worker.

        Raises:
            CandorError: the request is refused without the page's texts.
        """
        run = next((run for run in self._runs.values() if run.slug == body.run), None)
        if body.simulated or body.reply_pace != 1.0:
            actor = await self._auth.caller(authorization)
            actor.require("simulate", await self._study_of(body.run, run))
        if run is None:
            entry = await self._store.look_up(lambda connection: find_run(connection, body.run))
            run = self._runs.get(entry.id)  # it may have been opened here meanwhile
            if run is None:
                return self._refusal(_why_not_open(entry), parse_study(entry.yaml), body)
        try:
            return await self._admitted(body, run)
        except LinkUnfilled as error:
            if self._limits.may_log("placeholder", run.slug):
                log.warning(
                    "workers arrive with a placeholder instead of an id", run=run.slug, reason=error.message
                )
            return self._refusal(error, run.study, body)
        except (LinkAltered, LinkAmbiguous, LinkExpired, LinkUnsigned, NotAvailable) as error:
            return self._refusal(error, run.study, body)

    def _refusal(self, error: NotAuthorised | NotAvailable, study: Study, body: JoinRequest) -> JSONResponse:
        """Return the response to a worker who is not admitted.

        Workers who may have an assignment are not told to return it: that would cost them their pay.
        """
        may_have_one = isinstance(error, AlreadyTookPart) or (isinstance(error, RunClosed) and body.token)
        is_newcomer = isinstance(error, NotAvailable) and not may_have_one
        arrival = _named(body, study, is_signed=False) if is_newcomer else None
        refused = JoinRefused(
            error=ErrorDetail(code=error.code, message=error.message, hint=error.hint),
            words=study_card(study).words,
            again_at=error.again_at if isinstance(error, RunOutOfHours) else None,
            way_back=way_back(study.recruiter, arrival, self._prolific_site),
        )
        return JSONResponse(refused.model_dump(mode="json"), error.status)

    async def _study_of(self, slug: str, run: OpenRun | None) -> str | None:
        """Return the name of a run's study, read from the database if the run is not open here."""
        if run is not None:
            return run.study.name
        return await self._auth.directory.study_of({"run": slug})

    async def _admitted(self, body: JoinRequest, run: OpenRun) -> JoinResponse:
        """Return a token for a run. Raises RunClosed for a rehearsal, and what `_visit` and `_find` raise."""
        if run.is_rehearsal and not body.simulated:
            raise RunClosed("This is a rehearsal, which takes simulated workers only")
        visit = await self._visit(body, run)
        ticket = _ticket(visit)
        enrolment = await self._store.look_up(lambda connection: self._find(connection, visit, ticket))
        if enrolment is None:
            return JoinResponse(token=self._auth.ticket_token(ticket), assignment=ticket.assignment)
        await self._store.submit(
            lambda connection: renew_enrolment(connection, enrolment, ticket.arrival, utc_now())
        )
        token = self._auth.worker_token(enrolment.assignment)
        return JoinResponse(token=token, assignment=enrolment.assignment)

    async def _visit(self, body: JoinRequest, run: OpenRun) -> _Visit:
        """Return the request with everything known of the worker.

        Raises LinkAltered, LinkAmbiguous, LinkUnfilled, PlatformFailed.
        """
        is_signed = body.simulated or self._is_signed(body)
        if not is_signed:
            _require_one_name(body, run.study)
        named, unproven = _named(body, run.study, is_signed=is_signed), None
        recruiter = run.study.recruiter
        if isinstance(recruiter, PayingRecruiter) and recruiter.signs_arrivals and not is_signed:
            named, unproven = await self._signed_arrivals.checked(recruiter, body.run, body.parameters)
        brought, latest = self._brought(body.token), self._brought(body.earlier)
        return _Visit(body, run, named, is_signed, brought, latest, unproven)

    def _brought(self, token: str | None) -> WorkerToken | None:
        try:
            return self._auth.read_worker_token(token) if token is not None else None
        except TokenInvalid:
            return None

    def _is_signed(self, body: JoinRequest) -> bool:
        if body.signature is None:
            return False
        if body.worker is None or not self._auth.is_link_signature(body.signature, body.run, body.worker):
            raise LinkAltered("This link was changed after it was made")
        return True

    def _find(self, connection: Connection, visit: _Visit, ticket: Ticket) -> Enrolment | None:
        """Return a worker's assignment; None for a new worker who may take part.

        Raises:
            TokenExpired: The token that identifies the worker has expired.
            LinkUnsigned: Only signed links are allowed and this one is unsigned; or the study's recruiter
                names its workers, and the request names none.
            NotAvailable: There is no slot for them; as `require_place`.
            AlreadyTookPart: Their browser has an assignment in this run, under another name.
            LinkUnsigned, LinkExpired: The recruiter must sign arrivals, and no signature proves this one.
        """
        run, is_named = visit.run, visit.named is not None
        arrival = self._auth.kept(ticket.arrival)
        held = find_enrolment(connection, run, visit.old_assignment) if visit.old_assignment else None
        simulated, at = ticket.simulated, utc_now()
        new = ticket.assignment
        arrival_state = look(connection, run, arrival, new, simulated=simulated, at=at, to_draw=False)
        own = held if held is not None and not is_named else enrolment_in(arrival_state)
        if own is not None and not is_named and visit.has_expired:
            raise TokenExpired("This session's link has expired")
        is_proven = own is not None and own == held and not visit.has_expired
        if self._signed_links and not (ticket.is_signed or is_proven):
            raise LinkUnsigned("This study takes personal links only")
        if visit.unproven is not None and not (is_proven or visit.is_kept(ticket)):
            raise visit.unproven
        if own is None:
            _require_recruited(run.study, ticket)
            require_place(connection, run, arrival_state, simulated=simulated, at=at)
            if visit.earlier and not ticket.is_signed and find_enrolment(connection, run, visit.earlier):
                raise AlreadyTookPart("This browser has taken part already, under another name")
        return own


router = APIRouter()


@router.post("/api/join", response_model=JoinResponse, responses={"4XX": {"model": JoinRefused}})
async def join(
    body: JoinRequest,
    request: Request,
    requests: Annotated[JoinRequests, part(JoinRequests)],
    limits: Limits,
    settings: Configured,
    authorization: Annotated[str | None, Header()] = None,
) -> JoinResponse | JSONResponse:
    """Return a token for an arriving worker's assignment, or a ticket for the one that they may get."""
    what = "attempts to take part from this address"
    await limits.count_address(parse(settings.attempts_per_address), what, request)
    return await requests.answer(body, authorization)
