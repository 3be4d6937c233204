"""One live session: has decided what an event means, has that stored, and only then has it performed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import Connection as Transaction

from bots import NO_TRACE, Trace, begin_trace, offensive_words
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.sessions.quizzes import lines_of_others
from server.db.store.store import StaleState, Store
from server.errors import CandorError, StorageFailed
from server.live.converse.asking import Asking
from server.live.converse.effects import Answer, Effects
from server.live.converse.pending_event import Done, PendingEvent, SerialQueue, WhenDone
from server.session.events import BotStumbled, EndedByResearcher, Event, FromWorker
from server.session.protocol import CLOSE_RESTART, Ended, Rate, Say, ServerMessage, StudyNotice, TakenOver
from server.session.state import Phase, State
from server.session.step import Outcome, resume, step
from server.session.worker_view import snapshot

log = structlog.get_logger()


class Connection(Protocol):
    """A worker's page at the other end."""

    def send(self, *messages: ServerMessage) -> None:
        """Send messages, in one frame; never waits. A page that does not read is disconnected."""

    def close(self, code: int = ...) -> None:
        """End the connection, with a WebSocket's code, once what was queued is out."""


class Watcher(Protocol):
    """Who is told what a session does, for researchers who watch. Nothing here waits."""

    def stored(self) -> None:
        """Something of the session was stored."""

    def page_opened(self) -> None:
        """Note that a page shows the session."""

    def page_gone(self) -> None:
        """Note that the page that showed the session is gone."""


class SessionLost(Exception):
    """Another process has taken the session over."""


class LiveSession:
    """A session in this process. One event at a time; at most one page attached.

    Args:
        state: The session as it is stored.
        fence: The number under which this process has taken it over, and writes.
        run: The run that it belongs to, its bots opened.
        store: Where its records go before anything is done about them.
        reload: Returns the state as it is stored now; called when the rows turn out to be further than
            `state`. It raises SessionLost, and what reading the database raises.
        on_idle: Called whenever something under way has ended, so that an idle session can be forgotten.
        watcher: Told what the session does.
        notices: Words of the researchers to the worker so far.
    """

    way_back = None  # who has an assignment is not told to return it: that would cost them the pay

    def __init__(
        self,
        state: State,
        fence: int,
        run: OpenRun,
        store: Store,
        reload: Callable[[], Awaitable[State]],
        on_idle: Callable[[], None],
        watcher: Watcher,
        notices: Iterable[StudyNotice] = (),
    ) -> None:
        self.state = state
        self.fence = fence
        self.is_lost = False
        self._may_be_behind = False
        self._run = run
        self._store = store
        self._reload = reload
        self._watcher = watcher
        self._notices = {notice.notice: notice for notice in notices}
        self._exclusive = SerialQueue()
        self._page: Connection | None = None
        self._effects = Effects(Asking(run, store), on_idle)
        self._reading: set[asyncio.Task[None]] = set()

    @property
    def idle(self) -> bool:
        """Whether nobody is attached and nothing is under way, so that it may be forgotten."""
        return self._page is None and self._effects.are_over and not self._exclusive.is_taken

    async def attach(self, page: Connection, shown: Phase | None = None) -> None:
        """Give the session to `page`; the page that had it is told so and closed.

        `shown` is the phase that `page` shows already: where the session is there, it gets no snapshot.
        """
        async with self._exclusive.alone():
            self._give_up_page()
            self._page = page
            if self.is_lost:
                self._give_up_page()
                return
            self._watcher.page_opened()
            now = utc_now()
            if self.state.phase is not shown:
                page.send(snapshot(self.state, self._run.card, now))
            if self.state.closed is None:
                for notice in self._notices.values():
                    page.send(notice)
            self._effects.perform(self, resume(self.state, now), NO_TRACE)

    def detach(self, page: Connection) -> None:
        """Forget `page`; what is under way goes on without it."""
        if self._page is page:
            self._page = None
            self._watcher.page_gone()

    def take(self, message: FromWorker, page: Connection, then: WhenDone) -> None:
        """Take a worker's message, after what came before it.

        Args:
            message: what the worker says.
            page: over which they say it; nothing is done where another one has the session.
            then: is told when it is done, or what `receive` raises.
        """
        self._exclusive.enter(partial(self._take_from, message, page, then))

    async def receive(self, message: FromWorker, page: Connection) -> None:
        """Take a worker's message, as `take` does.

        Raises:
            RefusedMessage: it cannot be taken now; nothing was stored.
            StorageFailed: it could not be stored.
        """
        done = Done()
        self.take(message, page, done)
        try:
            await done.future
        finally:
            del done  # its error has this frame, which would have it

    def take_answer(self, event: Answer, trace: Trace, then: WhenDone) -> None:
        """Take what a bot has answered, after what came before it; `then` is told of the end."""
        self._exclusive.enter(partial(self._begin, PendingEvent(event, then, trace)))

    async def note(self, event: BotStumbled) -> None:
        """Store that a bot has failed and is asked again."""
        where = {"conversation": event.conversation, "turn": event.index}
        log.warning("bot failed", **where, kind=event.failure, reason=event.reason)
        try:
            await self._taken(event)
        except CandorError as refusal:
            log.error("incident not stored", conversation=event.conversation, error=refusal.message)

    def show(self, *messages: ServerMessage) -> None:
        """Have the page show messages, in one frame, where there is a page."""
        if self._page is not None:
            self._page.send(*messages)

    @property
    def run_id(self) -> int:
        """The id of the run that the session belongs to."""
        return self._run.id

    def notify(self, notice: StudyNotice) -> None:
        """Show the worker words of the researchers, once; again on every page that connects later."""
        if notice.notice not in self._notices and self.state.closed is None:
            self._notices[notice.notice] = notice
            self.show(notice)

    async def intervene(self, event: EndedByResearcher, also: Callable[[Transaction], None]) -> bool:
        """Take what the researchers do to the session, `also` written in the same transaction.

        Returns whether it was done: not where another process has the session now.

        Raises:
            NothingToRate: it cannot be done now; nothing was stored.
            StorageFailed: it could not be stored.
        """
        await self._taken(event, also)
        return not self.is_lost

    @property
    def has_page(self) -> bool:
        """Whether a page is attached."""
        return self._page is not None

    async def drain(self) -> None:
        """Let the bot that is being asked answer, then have the page connect anew."""
        await self._effects.until_answered()
        async with self._exclusive.alone():  # what is being stored is acknowledged first
            if self._page is not None:
                self._page.close(CLOSE_RESTART)
                self._page = None
                self._watcher.page_gone()

    async def close(self) -> None:
        """Drop what is under way. Nothing is lost: `resume` takes it up again from what is stored."""
        tasks = self._effects.cancel()
        for each in self._reading:
            each.cancel()
        await asyncio.gather(*tasks, *self._reading, return_exceptions=True)

    def lose(self) -> None:
        """Take up that another process has the session now: the page that is there has gone elsewhere."""
        self.is_lost = True
        self._give_up_page()
        self._effects.cancel()

    async def look_again(self) -> None:
        """Take up what others have stored: that the assignment has expired, or has another owner.

        Raises:
            StorageFailed: what is stored could not be read; the worker's next message will find out.
        """
        async with self._exclusive.alone():
            try:
                self.state = await self._reload()
            except SessionLost:
                self.lose()
                return
            if self.state.closed == "expired":
                debriefing, way_out = self.state.debriefing, self.state.way_out
                self.show(Ended(phase="expired", debriefing=debriefing, return_to=way_out))

    def _give_up_page(self) -> None:
        if self._page is not None:
            self._page.send(TakenOver())
            self._page.close()
            self._page = None

    def _take_from(self, message: FromWorker, page: Connection, then: WhenDone) -> None:
        taking = PendingEvent(message, then, begin_trace("message", type=message.message.type))
        if self._page is page:
            self._begin(taking)
        else:
            self._end(taking, None)

    async def _taken(self, event: Event, also: Callable[[Transaction], None] | None = None) -> None:
        """Take an event that is not a worker's, `also` written with it. Raises what `receive` raises."""
        done = Done()
        self._exclusive.enter(partial(self._begin, PendingEvent(event, done, NO_TRACE, also)))
        try:
            await done.future
        finally:
            del done  # as in `receive`

    def _begin(self, taking: PendingEvent) -> None:
        """Have an event done; whatever comes of it ends with `_end`."""
        event = taking.event
        if self.is_lost:
            self._end(taking, None)
        elif self._may_be_behind or (isinstance(event, FromWorker) and self._asks_quiz(event)):
            self._prepare(taking)
        else:
            self._decide(taking)

    def _decide(self, taking: PendingEvent) -> None:
        """Find out what an event means, and have that stored."""
        event = taking.event
        stepping = taking.trace.child("step")
        try:
            if isinstance(event, FromWorker) and isinstance(event.message, Say):
                event = self._with_offences(event, event.message)
            outcome = step(self.state, event)
        except Exception as error:  # a refusal, or a fault of ours
            self._end(taking, error)
            return
        finally:
            stepping.end()
        if not outcome.records:
            self._stored(taking, outcome, None)
            return
        taking.storing = taking.trace.child("store", records=len(outcome.records))
        stored, assignment = partial(self._stored, taking, outcome), self.state.context.assignment
        self._store.append_then(assignment, self.fence, outcome.records, event.at, stored, taking.also)

    def _stored(self, taking: PendingEvent, outcome: Outcome, error: Exception | None) -> None:
        """Go on once the records of an event are on disk, or could not be stored."""
        taking.storing.end()
        taking.storing = NO_TRACE
        if isinstance(error, StaleState):
            if not taking.is_behind:
                taking.is_behind = True
                self._prepare(taking)
                return
            error = StorageFailed("the session changed elsewhere at the same moment")
        if error is None:
            try:
                if outcome.records:
                    self._watcher.stored()
                self.state = outcome.state
                self._effects.perform(self, outcome.effects, taking.trace)
            except Exception as fault:  # of ours: the session goes on
                error = fault
        elif isinstance(error, StorageFailed):
            # It may be stored all the same: the connection was lost before the answer came.
            self._may_be_behind = True
        self._end(taking, error)

    def _end(self, taking: PendingEvent, error: Exception | None) -> None:
        if isinstance(taking.event, FromWorker):
            taking.trace.end()
        self._exclusive.leave()
        taking.then(error)

    def _prepare(self, taking: PendingEvent) -> None:
        """Read what has to be read for an event, and then decide it."""
        with taking.trace.current():
            task = asyncio.get_running_loop().create_task(self._read_for(taking))
        self._reading.add(task)
        task.add_done_callback(partial(self._prepared, taking))

    def _prepared(self, taking: PendingEvent, task: asyncio.Task[None]) -> None:
        self._reading.discard(task)
        if task.cancelled():  # the server ends
            self._end(taking, None)
            return
        error = task.exception()
        if error is None:
            self._decide(taking)
        elif isinstance(error, SessionLost):
            self.lose()
            self._end(taking, None)
        else:
            self._end(taking, error if isinstance(error, Exception) else RuntimeError(repr(error)))

    async def _read_for(self, taking: PendingEvent) -> None:
        """Read what is stored, if that may be further than the state, and lines for a quiz that may follow.

        Raises:
            SessionLost: another process has the session now.
            StorageFailed: the database could not be read.
        """
        if self._may_be_behind or taking.is_behind:
            await self._catch_up(taking.event)
        event, current = taking.event, self.state.current
        if isinstance(event, FromWorker) and current is not None and self._asks_quiz(event):
            name, seed = current.plan.conversation, current.plan.seed
            others = await self._store.look_up(lambda connection: lines_of_others(connection, name, seed))
            taking.event = event._replace(others=others)

    def _asks_quiz(self, event: FromWorker) -> bool:
        """Return whether a quiz may follow a message, so that lines of others have to be read for it."""
        asked = self.state.rules.quiz_choices is not None and isinstance(event.message, Rate)
        return asked and self.state.phase is Phase.RATING and self.state.current is not None

    def _with_offences(self, event: FromWorker, message: Say) -> FromWorker:
        found = offensive_words(message.text, self._run.study.language)
        return event._replace(offensive=found) if found else event

    async def _catch_up(self, event: Event) -> None:
        """Take up what is stored, which may be further than what was shown and performed here.

        The page is drawn anew, a bot may have to be asked, a line to be shown.
        """
        self.state = await self._reload()
        self._may_be_behind = False
        self.show(snapshot(self.state, self._run.card, event.at))
        self._effects.perform(self, resume(self.state, event.at), NO_TRACE)
