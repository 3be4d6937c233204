"""Serve newcomers: workers with a ticket who read the instructions. They get a slot once they agree.

Nothing is stored of newcomers. `step` decides what they see and may send, as for a session without
conversations.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from limits import RateLimitItem
from starlette.requests import HTTPConnection

from server.access.auth import Auth, Ticket
from server.access.rate_limit import RateLimits
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.store import Store
from server.errors import LinkUnsigned, RunNotReady, TooMany
from server.live.arrive.enrolment import FIRST_FENCE, ArrivingWorker, Enrolment, enrol, find_enrolment
from server.live.converse.live_session import LiveSession, PageConnection
from server.live.converse.sessions import LiveSessions, NewSession
from server.session.events import Accept, FromWorker, Tell
from server.session.protocol import CLOSE_RESTART, Accepted, Agree, Leave, WayBackCard
from server.session.state import AssignmentContext, Phase, State, WaysOut
from server.session.steps.step import step
from server.session.steps.worker_view import snapshot

_APART = 0.005  # seconds between two pages that are told to reconnect


class Newcomers:
    """Admit newcomers once they agree.

    Args:
        store: Where enrolments are stored.
        live: Opens their sessions; tells a session that has lost its slot to a newcomer.
        auth: Makes pseudonyms.
        runs: The open runs, by the run's id.
        limits: Counts the slots taken from each address.
        per_address: Limit on slots taken from one address.
        signed_links: Whether newcomers with an unsigned link are refused.
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
        signed_links: bool,
    ) -> None:
        self._store = store
        self._live = live
        self._auth = auth
        self._runs = runs
        self._limits = limits
        self._per_address = per_address
        self._signed_links = signed_links
        self._reading: set[PageConnection] = set()

    async def find(self, ticket: Ticket) -> str | None:
        """Return the assignment of a ticket's holder, also one from another ticket; None if there is none.

        Raises:
            RunNotReady: This process does not have the run yet.
            LinkUnsigned: Only signed links are allowed and the ticket came from an unsigned one. A
                ticket that has become an assignment opens it all the same.
            StorageFailed: The database could not be read.
        """
        run, arrival = self._run(ticket), self._auth.kept(ticket.arrival)
        found = await self._store.look_up(lambda connection: find_enrolment(connection, run, arrival))
        assignment = None if found is None else found.assignment
        if self._signed_links and not ticket.is_signed and assignment != ticket.assignment:
            raise LinkUnsigned("This study takes personal links only")
        return assignment

    def greet(self, ticket: Ticket, connection: HTTPConnection) -> "Newcomer":
        """Return the session of a ticket's holder who has no assignment. Raises RunNotReady, as `find`.

        Args:
            ticket: The newcomer's ticket.
            connection: The newcomer's connection; a slot they take counts for its address.
        """
        return Newcomer(self, ticket, self._run(ticket), connection)

    async def enrol(self, ticket: Ticket, connection: HTTPConnection) -> tuple[str, LiveSession]:
        """Give a ticket's holder an assignment, unless they have one; return its id and its session.

        Workers who have agreed on another page meanwhile count twice for the address, but are not refused.

        Args:
            ticket: A ticket for which `find` has found no assignment.
            connection: The newcomer's connection.

        Raises:
            NotAvailable: The run has no slot for them any more.
            TooMany: The limit of slots for this address is reached.
            RunNotReady, StorageFailed: As `find`, or the database could not be written.
        """
        if not ticket.simulated:  # simulated workers share one address, and a researcher has admitted them
            await self._count(ticket, connection)
        run = self._run(ticket)
        enrolment = await self._enrol(ticket)
        if enrolment.displaced is not None:
            self._live.tell_changed(enrolment.displaced)
        begun = None
        if enrolment.planned is not None:
            begun = NewSession(run, ticket.arrival, ticket.reply_pace, enrolment.planned, FIRST_FENCE)
        return enrolment.assignment, await self._live.open(enrolment.assignment, begun)

    async def drain(self, seconds: float) -> None:
        """Make newcomers' pages reconnect, one after the other; stop after `seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for page in tuple(self._reading):
                    page.close(CLOSE_RESTART)
                    await asyncio.sleep(_APART)

    async def ways_out(self, ticket: Ticket) -> WaysOut:
        """Return the links for a ticket's holder who does not agree. Raises RunNotReady, StorageFailed."""
        return await self._live.ways_out(self._run(ticket), ticket.arrival)

    def way_back(self, ticket: Ticket) -> WayBackCard | None:
        """Return a ticket's holder's link for returning the study. Raises RunNotReady."""
        return self._live.way_back(self._run(ticket), ticket.arrival)

    def begin_reading(self, page: PageConnection) -> None:
        """Note that `page` shows the instructions to a newcomer."""
        self._reading.add(page)

    def end_reading(self, page: PageConnection) -> None:
        """Note that `page` has a session now, or is gone."""
        self._reading.discard(page)

    def release(self, assignment: str) -> None:
        """Forget the session of an assignment, if it is idle."""
        self._live.release(assignment)

    def _run(self, ticket: Ticket) -> OpenRun:
        if ticket.run not in self._runs:
            raise RunNotReady("This study is about to open")
        return self._runs[ticket.run]

    async def _count(self, ticket: Ticket, connection: HTTPConnection) -> None:
        """Count a slot taken from an address. Raises TooMany, unless the worker has an assignment already."""
        try:
            await self._limits.count_address(self._per_address, "arrivals from this address", connection)
        except TooMany:
            if await self.find(ticket) is None:
                raise

    async def _enrol(self, ticket: Ticket) -> Enrolment:
        run, arrival = self._run(ticket), ticket.arrival
        pseudonym = self._auth.pseudonym(arrival.platform, arrival.external_id)
        worker = ArrivingWorker(
            self._auth.kept(arrival),
            pseudonym,
            ticket.simulated,
            ticket.reply_pace,
            ticket.assignment,
            ticket.simulated_as,
        )
        return await self._store.submit(lambda connection: enrol(connection, run, worker, utc_now()))


class Newcomer:
    """The session of a worker who has not agreed yet. Once they agree, it forwards to their live session."""

    def __init__(
        self, newcomers: Newcomers, ticket: Ticket, run: OpenRun, connection: HTTPConnection
    ) -> None:
        self._newcomers = newcomers
        self._ticket = ticket
        self._run = run
        self._connection = connection
        nobodys = AssignmentContext(ticket.assignment, 0, ticket.reply_pace, "", None)
        self._state = State(run.rules, nobodys)
        self._way_back = newcomers.way_back(ticket)
        self._enrolled: tuple[str, LiveSession] | None = None

    @property
    def way_back(self) -> WayBackCard | None:
        """The link for returning the study, as long as the worker has no assignment."""
        return self._way_back if self._enrolled is None else None

    async def attach(self, page: PageConnection) -> None:
        """Show the instructions."""
        self._newcomers.begin_reading(page)
        page.send(snapshot(self._state, self._run.card, utc_now()))

    async def receive(self, message: FromWorker, page: PageConnection) -> None:
        """Process a message: a newcomer's, who can agree or leave, or one for the live session.

        Raises RefusedMessage, and the errors of `Newcomers.enrol`.
        """
        if self._enrolled is not None:
            _, session = self._enrolled
            await session.receive(message, page)
        elif isinstance(message.message, Agree) and self._state.phase is Phase.INSTRUCTIONS:
            await self._agree(message, message.message.id, page)
        else:
            await self._stay(message, page)

    def detach(self, page: PageConnection) -> None:
        """Detach `page`."""
        self._newcomers.end_reading(page)
        if self._enrolled is not None:
            assignment, session = self._enrolled
            session.detach(page)
            self._newcomers.release(assignment)

    async def _agree(self, message: FromWorker, message_id: str, page: PageConnection) -> None:
        step(self._state, message)  # raises if the agreement is not allowed, before a slot is taken
        self._enrolled = await self._newcomers.enrol(self._ticket, self._connection)
        _, session = self._enrolled
        await session.attach(page, shown=Phase.INSTRUCTIONS)
        self._newcomers.end_reading(page)
        if session.state.agreed and not session.state.has_seen(message_id):
            # The worker has agreed on another page. This page has just got a snapshot.
            page.send(Accepted(id=message_id))
        else:
            await session.receive(message, page)

    async def _stay(self, message: FromWorker, page: PageConnection) -> None:
        """Perform the effects of a message of which nothing is stored."""
        if isinstance(message.message, Leave):
            ways_out = await self._newcomers.ways_out(self._ticket)
            self._state = self._state._replace(context=replace(self._state.context, ways_out=ways_out))
        outcome = step(self._state, message)
        self._state = outcome.state
        for effect in outcome.effects:
            match effect:
                case Tell():
                    page.send(effect.message)
                case Accept():
                    page.send(Accepted(id=effect.id))
