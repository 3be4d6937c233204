"""Hold the sessions of this process. Each is loaded once and has one owner at a time.

A session's owner is the process that raised its fence last (`AssignmentTable.fence`), or before that, the
process that stored the assignment. A former owner's records carry a lower fence and are refused.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import structlog
from sqlalchemy import Connection, Row, bindparam, select, update
from sqlalchemy.exc import NoResultFound

from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.db.interventions import StoredNotice, notices_for
from server.db.recruiting.recruitments import codes_of
from server.db.sessions import read as stored_records
from server.db.store import Store
from server.db.tables import AssignmentTable, WorkerTable
from server.errors import AssignmentNotFound, CandorError
from server.live.converse.live_session import LiveSession, SessionLost
from server.live.converse.presence import Presence, RunNews
from server.news import News, Payload
from server.recruiters.arrival import Arrival
from server.recruiters.recruiter import (
    PROLIFIC_SITE,
    PayingRecruiter,
    Recruiter,
    ending,
    way_back,
)
from server.session.plan import derive_seed
from server.session.protocol import StudyNotice, WayBackCard
from server.session.records import Record
from server.session.state import AssignmentContext, State, WaysOut, fold

NOTICES = "notice"  # a topic of news: notices from the researchers
TOPIC = "session"  # a topic of news: a session has another owner, or has expired
log = structlog.get_logger()
_APART = 0.005  # seconds between two pages that are told to reconnect


@dataclass(frozen=True, slots=True)
class _Stored:
    """A session as the database has it. `fence` is that of the owner."""

    state: State
    fence: int
    run: OpenRun
    notices: tuple[StoredNotice, ...]


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session whose assignment this process has just stored, in a transaction that made it the owner.

    `whose` is the worker. `records` are all the session's records. `fence` is that of this process.
    """

    run: OpenRun
    whose: Arrival
    reply_pace: float
    records: Sequence[Record]
    fence: int


@dataclass(slots=True, eq=False)
class _Opening:
    """A session that is being opened, with all notices that arrive meanwhile, whoever they are for."""

    notices: list[StoredNotice] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Watcher:
    """Notify researchers who watch one session of its changes."""

    assignment: str
    run: int
    presence: Presence
    run_news: RunNews

    def stored(self) -> None:
        """Note that a record of the session was stored."""
        self.run_news.tell(self.run)

    def page_opened(self) -> None:
        """Note that a page was attached to the session."""
        self.presence.opened(self.assignment)
        self.run_news.tell(self.run)

    def page_gone(self) -> None:
        """Note that the session's page was detached."""
        self.presence.gone(self.assignment)
        self.run_news.tell(self.run)


class LiveSessions:
    """The sessions of this process, by assignment id. `runs` is keyed by a run's id."""

    def __init__(
        self,
        store: Store,
        runs: Mapping[int, OpenRun],
        auth: Auth,
        news: News,
        prolific_site: str = PROLIFIC_SITE,
    ) -> None:
        self._store = store
        self._news = news
        self._runs = runs
        self._auth = auth
        self._prolific_site = prolific_site
        self._sessions: dict[str, LiveSession] = {}
        # One lock for each session being opened. It lives as long as somebody holds it or waits for it.
        self._opening = WeakValueDictionary[str, asyncio.Lock]()
        self._looking: set[asyncio.Task[None]] = set()
        self._openings: set[_Opening] = set()
        self.presence = Presence(news)
        self.run_news = RunNews(news)
        news.subscribe(TOPIC, self._on_session_changed)
        news.subscribe(NOTICES, self._on_notice)

    def down(self, run: int) -> frozenset[str]:
        """Return a run's systems whose bots are known not to answer; empty if the run is not open here."""
        return self._runs[run].down() if run in self._runs else frozenset()

    def __len__(self) -> int:
        return len(self._sessions)

    def start(self) -> None:
        """Start telling other processes which pages are open here."""
        self.presence.start()

    async def ways_out(self, run: OpenRun, arrival: Arrival) -> WaysOut:
        """Return the links for a worker who leaves a run without agreeing. Raises StorageFailed."""
        codes: dict[str, str] = {}
        recruiter = run.study.recruiter
        if isinstance(recruiter, PayingRecruiter) and arrival.platform == recruiter.kind:
            codes = await self._store.look_up(lambda connection: codes_of(connection, run.id))
        return _ways_out(arrival, recruiter, codes, self._prolific_site)

    def way_back(self, run: OpenRun, arrival: Arrival) -> WayBackCard | None:
        """Return the link for returning the study, for a worker whom a run does not admit."""
        way = way_back(run.study.recruiter, arrival, self._prolific_site)
        return None if way is None else WayBackCard(platform=way.platform, to=way.to)

    async def open(self, assignment_id: str, begun: NewSession | None = None) -> LiveSession:
        """Return the session of an assignment, after taking it over if another process owns it.

        Args:
            assignment_id: The assignment.
            begun: A session that this process has just begun. It is neither read nor taken over. If another
                process owns it by now, storing its first record detects that.

        Raises:
            AssignmentNotFound: There is no such assignment, or its run is not open here.
            StorageFailed: The database could not be read or written.
        """
        turn = self._opening.setdefault(assignment_id, asyncio.Lock())
        self._openings.add(opening := _Opening())
        try:
            async with turn:
                return await self._open(assignment_id, begun, opening)
        finally:
            self._openings.discard(opening)

    async def _open(self, assignment_id: str, begun: NewSession | None, opening: _Opening) -> LiveSession:
        session = self._sessions.get(assignment_id)
        if session is not None and not await self._is_ours(session, assignment_id):
            session.lose()
            self.release(assignment_id)
            session = begun = None
        if session is None:
            stored = await (
                self._take_over(assignment_id) if begun is None else self._begin(assignment_id, begun)
            )
            session = self._live(assignment_id, stored, opening.notices)
        self._sessions[assignment_id] = session  # it may have been released while the database was asked
        return session

    def release(self, assignment_id: str) -> None:
        """Forget a session that is idle or lost."""
        session = self._sessions.get(assignment_id)
        if session is not None and (session.idle or session.is_lost):
            del self._sessions[assignment_id]

    async def drain(self, seconds: float) -> None:
        """Make every page reconnect, each once its bot has answered; stop waiting after `seconds`.

        The pages are closed one after the other, so that they do not all reconnect at the same moment.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while held := [session for session in self._sessions.values() if session.has_page]:
                    await asyncio.gather(*(_drain_after(k * _APART, each) for k, each in enumerate(held)))
                    await asyncio.sleep(_APART)

    async def close(self) -> None:
        """Cancel everything in progress in every session; it is resumed from the database after a restart."""
        await self.presence.close()
        for task in self._looking:
            task.cancel()
        await asyncio.gather(*(session.close() for session in tuple(self._sessions.values())))

    async def reload(self, assignment_id: str) -> None:
        """Reload a session, if this process has it, after others have stored a change of it.

        Raises:
            StorageFailed: The database could not be read; the worker's next message will detect the change.
        """
        session = self._sessions.get(assignment_id)
        if session is not None:
            await session.reload()
            self.release(assignment_id)

    def tell_changed(self, assignment_id: str, fence: int | None = None) -> None:
        """Tell the process that has a session that another process has stored a change of it.

        `fence` is the new owner's, if the owner has changed. News may be lost: then the former owner detects
        the change when its next record is refused.
        """
        self._news.publish(TOPIC, {"assignment": assignment_id, "fence": fence})

    def held(self, assignment_id: str) -> LiveSession | None:
        """Return the session of an assignment if this process has it."""
        return self._sessions.get(assignment_id)

    def tell_notice(self, notice: StoredNotice) -> None:
        """Show a researchers' notice to the workers whom it is for, in all processes."""
        self._news.publish(NOTICES, asdict(notice))

    def _on_notice(self, payload: Payload) -> None:
        notice = StoredNotice(**payload)
        for opening in self._openings:
            opening.notices.append(notice)
        for assignment_id, session in tuple(self._sessions.items()):
            if notice.is_for(session.run_id, assignment_id):
                session.notify(StudyNotice(notice=notice.id, text=notice.text))

    def _on_session_changed(self, payload: Payload) -> None:
        assignment_id = payload["assignment"]
        session, fence = self._sessions.get(assignment_id), payload["fence"]
        if session is not None and (fence is None or fence > session.fence):
            task = asyncio.get_running_loop().create_task(self._reload(assignment_id))
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def _reload(self, assignment_id: str) -> None:
        try:
            await self.reload(assignment_id)
        except CandorError as error:
            log.warning("session not reloaded", assignment=assignment_id, error=error.message)
        except Exception:  # nobody awaits this task, so the error would be lost
            log.exception("session not reloaded", assignment=assignment_id)

    async def _is_ours(self, session: LiveSession, assignment_id: str) -> bool:
        fence = await self._store.look_up(lambda connection: _fence(connection, assignment_id))
        return fence == session.fence

    async def _take_over(self, assignment_id: str) -> _Stored:
        fence = await self._store.submit(lambda connection: _raise_fence(connection, assignment_id))
        self.tell_changed(assignment_id, fence)
        stored = await self._restore(assignment_id)
        return replace(stored, fence=fence)  # if another process was faster, ours is the lower one

    async def _begin(self, assignment_id: str, begun: NewSession) -> _Stored:
        ways, pace = await self.ways_out(begun.run, begun.whose), begun.reply_pace
        state = restore(
            assignment_id,
            pace,
            begun.whose,
            begun.records,
            begun.run,
            self._auth,
            self._prolific_site,
            ways,
        )
        return _Stored(state, begun.fence, begun.run, ())

    def _live(self, assignment_id: str, stored: _Stored, heard: Sequence[StoredNotice]) -> LiveSession:
        """Build a live session from a stored one. `heard` are notices that may have been stored since."""
        fence = stored.fence

        async def reload() -> State:
            now = await self._restore(assignment_id)
            if now.fence != fence:
                raise SessionLost
            return now.state

        on_idle = partial(self.release, assignment_id)
        run, told = stored.run, (*stored.notices, *heard)
        watcher = _Watcher(assignment_id, run.id, self.presence, self.run_news)
        notices = [StudyNotice(notice=n.id, text=n.text) for n in told if n.is_for(run.id, assignment_id)]
        return LiveSession(stored.state, fence, run, self._store, reload, on_idle, watcher, notices)

    async def _restore(self, assignment_id: str) -> _Stored:
        try:
            read = await self._store.look_up(lambda connection: _read(connection, assignment_id))
        except NoResultFound as error:
            raise AssignmentNotFound("This session is not known here") from error
        assignment, arrival, records, notices, codes = read
        run = self._runs.get(assignment.run_id)
        if run is None:
            raise AssignmentNotFound("The run of this session is not open here")
        whose = self._auth.known(arrival)
        ways = _ways_out(whose, run.study.recruiter, codes, self._prolific_site)
        name, pace = assignment.id, assignment.reply_pace
        state = restore(name, pace, whose, records, run, self._auth, self._prolific_site, ways)
        return _Stored(state, assignment.fence, run, notices)


def _ways_out(
    arrival: Arrival, recruiter: Recruiter | None, codes: Mapping[str, str], prolific_site: str
) -> WaysOut:
    """Return the links for workers who end without submitting: by the study's setting or the run's codes."""
    if recruiter is None or arrival.platform != recruiter.kind:
        return WaysOut()
    return WaysOut(**recruiter.ways_out(codes, prolific_site))


def restore(
    assignment_id: str,
    reply_pace: float,
    arrival: Arrival,
    records: Sequence[Record],
    run: OpenRun,
    auth: Auth,
    prolific_site: str = PROLIFIC_SITE,
    ways_out: WaysOut = WaysOut(),  # noqa: B008  (frozen)
) -> State:
    """Return a session's state, folded from its records; `arrival` is the worker's."""
    study = run.study
    code = auth.completion_code(assignment_id)
    end = ending(study.recruiter, study.completion_url, arrival, code, prolific_site)
    context = AssignmentContext(
        assignment=assignment_id,
        seed=derive_seed(run.seed, assignment_id),
        reply_pace=reply_pace,
        code=end.code,
        return_to=end.return_to,
        ways_out=ways_out,
    )
    return fold(State(run.rules, context), records)


def _fence(connection: Connection, assignment_id: str) -> int | None:
    return connection.execute(_FENCE, {"key": assignment_id}).scalar_one_or_none()


def _raise_fence(connection: Connection, assignment_id: str) -> int:
    """Make this process a session's owner; return the new fence. Raises AssignmentNotFound."""
    fence = connection.execute(_TAKE_OVER, {"key": assignment_id}).scalar_one_or_none()
    if fence is None:
        raise AssignmentNotFound("This session is not known here")
    return int(fence)


async def _drain_after(seconds: float, session: LiveSession) -> None:
    await asyncio.sleep(seconds)
    await session.drain()


def _read(
    connection: Connection, assignment_id: str
) -> tuple[Row[Any], Arrival, list[Record], tuple[StoredNotice, ...], dict[str, str]]:
    row = stored_records.assignment_row(connection, assignment_id)
    notices = tuple(notices_for(connection, row))
    arrival = Arrival(*connection.execute(_ARRIVAL, {"worker": row.worker_id}).one())
    codes, records = codes_of(connection, row.run_id), stored_records.read(connection, row)
    return row, arrival, records, notices, codes


_FENCE = select(AssignmentTable.c.fence).where(AssignmentTable.c.id == bindparam("key"))
_TAKE_OVER = (
    update(AssignmentTable)
    .where(AssignmentTable.c.id == bindparam("key"))
    .values(fence=AssignmentTable.c.fence + 1)
    .returning(AssignmentTable.c.fence)
)
_ARRIVAL = select(WorkerTable.c.platform, WorkerTable.c.external_id).where(
    WorkerTable.c.id == bindparam("worker")
)
