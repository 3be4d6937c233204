"""Run one live session: decide what an event means, store the decision, and only then perform its effects."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import Connection as Transaction

from bots import offensive_words
from candor.common.telemetry import NO_TRACE, Trace, begin_trace
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
from server.session.steps.step import Outcome, resume, step
from server.session.steps.worker_view import snapshot

log = structlog.get_logger()


class PageConnection(Protocol):
    """The connection to a worker's page."""

    def send(self, *messages: ServerMessage) -> None:
        """Send messages, in one frame, without waiting. A page that does not read is disconnected."""

    def close(self, code: int = ...) -> None:
        """Close the WebSocket with `code` once everything queued is sent."""


class Watcher(Protocol):
    """Notify researchers who watch a session. No method waits."""

    def stored(self) -> None:
        """Note that a record of the session was stored."""

    def page_opened(self) -> None:
        """Note that a page was attached to the session."""

    def page_gone(self) -> None:
        """Note that the session's page was detached."""


class SessionLost(Exception):
    """Another process has taken the session over."""


class LiveSession:
    """A session in this process. It processes one event at a time and has at most one page attached.

    Args:
        state: The session as it is stored.
        fence: The number under which this process owns the session and writes its records.
        run: The run that the session belongs to, with its bots open.
        store: Stores the records before any effect is performed.
        reload: Returns the state as it is stored now; called when the database turns out to be ahead of
            `state`. It raises SessionLost, and the errors of reading the database.
        on_idle: Called whenever an effect has ended, so that an idle session can be released.
        watcher: Notified of changes of the session.
        notices: The researchers' notices to the worker so far.
    """

    way_back = None  # workers with an assignment are not told to return it: that would cost them their pay

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
        self._page: PageConnection | None = None
        self._effects = Effects(Asking(run, store), on_idle)
        self._reading: set[asyncio.Task[None]] = set()

    @property
    def idle(self) -> bool:
        """Whether no page is attached and nothing is in progress, so that the session may be released."""
        return self._page is None and self._effects.are_over and not self._exclusive.is_taken

    async def attach(self, page: PageConnection, shown: Phase | None = None) -> None:
        """Attach `page`; the page that was attached before is told so and closed.

        `shown` is the phase that `page` shows already. A session in that phase sends no snapshot.
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

    def detach(self, page: PageConnection) -> None:
        """Detach `page`; effects in progress go on without it."""
        if self._page is page:
            self._page = None
            self._watcher.page_gone()

    def take(self, message: FromWorker, page: PageConnection, then: WhenDone) -> None:
        """Process a worker's message after all earlier events.

        Args:
            message: The worker's message.
            page: The page that sent it. If another page is attached by now, nothing is done.
            then: Called with None once the message is processed, or with an error that `receive` would raise.
        """
        self._exclusive.enter(partial(self._take_message, message, page, then))

    async def receive(self, message: FromWorker, page: PageConnection) -> None:
        """Process a worker's message, as `take` does, and wait for the end.

        Raises:
            RefusedMessage: The message is not allowed now; nothing was stored.
            StorageFailed: The message could not be stored.
        """
        done = Done()
        self.take(message, page, done)
        try:
            await done.future
        finally:
            del done  # its error holds this frame, which would hold the error

    def take_answer(self, event: Answer, trace: Trace, then: WhenDone) -> None:
        """Process a bot's answer after all earlier events, then call `then`."""
        self._exclusive.enter(partial(self._begin, PendingEvent(event, then, trace)))

    async def note(self, event: BotStumbled) -> None:
        """Store that a call of a bot has failed and that the bot is asked again."""
        where = {"conversation": event.conversation, "turn": event.index}
        log.warning("bot failed", **where, kind=event.failure, reason=event.reason)
        try:
            await self._process(event)
        except CandorError as refusal:
            log.error("incident not stored", conversation=event.conversation, error=refusal.message)

    def show(self, *messages: ServerMessage) -> None:
        """Send messages to the attached page, if any, in one frame."""
        if self._page is not None:
            self._page.send(*messages)

    @property
    def run_id(self) -> int:
        """The id of the run that the session belongs to."""
        return self._run.id

    def notify(self, notice: StudyNotice) -> None:
        """Show the worker a researchers' notice, once here and again on every page that connects later."""
        if notice.notice not in self._notices and self.state.closed is None:
            self._notices[notice.notice] = notice
            self.show(notice)

    async def intervene(self, event: EndedByResearcher, also: Callable[[Transaction], None]) -> bool:
        """Process a researcher's intervention; `also` writes in the same transaction.

        Returns whether it was done: False if another process owns the session now.

        Raises:
            NothingToRate: The intervention is not possible now; nothing was stored.
            StorageFailed: It could not be stored.
        """
        await self._process(event, also)
        return not self.is_lost

    @property
    def has_page(self) -> bool:
        """Whether a page is attached."""
        return self._page is not None

    async def drain(self) -> None:
        """Wait until the bot that is being asked has answered, then make the page reconnect."""
        await self._effects.until_answered()
        async with self._exclusive.alone():  # what is being stored is acknowledged first
            if self._page is not None:
                self._page.close(CLOSE_RESTART)
                self._page = None
                self._watcher.page_gone()

    async def close(self) -> None:
        """Cancel everything in progress. Nothing is lost: `resume` continues from what is stored."""
        tasks = self._effects.cancel()
        for each in self._reading:
            each.cancel()
        await asyncio.gather(*tasks, *self._reading, return_exceptions=True)

    def lose(self) -> None:
        """Give up the session because another process owns it now."""
        self.is_lost = True
        self._give_up_page()
        self._effects.cancel()

    async def look_again(self) -> None:
        """Reload the state, after another process has stored that the session expired or has a new owner.

        Raises:
            StorageFailed: The database could not be read; the worker's next message will detect the change.
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

    def _take_message(self, message: FromWorker, page: PageConnection, then: WhenDone) -> None:
        pending = PendingEvent(message, then, begin_trace("message", type=message.message.type))
        if self._page is page:
            self._begin(pending)
        else:
            self._end(pending, None)

    async def _process(self, event: Event, also: Callable[[Transaction], None] | None = None) -> None:
        """Process an event that is not a worker's; `also` writes with it. Raises what `receive` raises."""
        done = Done()
        self._exclusive.enter(partial(self._begin, PendingEvent(event, done, NO_TRACE, also)))
        try:
            await done.future
        finally:
            del done  # as in `receive`

    def _begin(self, pending: PendingEvent) -> None:
        """Process an event. Every path ends with `_end`."""
        event = pending.event
        if self.is_lost:
            self._end(pending, None)
        elif self._may_be_behind or (isinstance(event, FromWorker) and self._asks_quiz(event)):
            self._prepare(pending)
        else:
            self._decide(pending)

    def _decide(self, pending: PendingEvent) -> None:
        """Compute the outcome of an event and queue its records for the store."""
        event = pending.event
        stepping = pending.trace.child("step")
        try:
            if isinstance(event, FromWorker) and isinstance(event.message, Say):
                event = self._with_offences(event, event.message)
            outcome = step(self.state, event)
        except Exception as error:  # a refusal, or an error in our code
            self._end(pending, error)
            return
        finally:
            stepping.end()
        if not outcome.records:
            self._stored(pending, outcome, None)
            return
        pending.storing = pending.trace.child("store", records=len(outcome.records))
        stored, assignment = partial(self._stored, pending, outcome), self.state.context.assignment
        self._store.append_then(assignment, self.fence, outcome.records, event.at, stored, pending.also)

    def _stored(self, pending: PendingEvent, outcome: Outcome, error: Exception | None) -> None:
        """Perform an event's effects once its records are stored, or end it if they could not be stored."""
        pending.storing.end()
        pending.storing = NO_TRACE
        if isinstance(error, StaleState):
            if not pending.is_behind:
                pending.is_behind = True
                self._prepare(pending)
                return
            error = StorageFailed("the session changed elsewhere at the same moment")
        if error is None:
            try:
                if outcome.records:
                    self._watcher.stored()
                self.state = outcome.state
                self._effects.perform(self, outcome.effects, pending.trace)
            except Exception as fault:  # in our code: the session goes on
                error = fault
        elif isinstance(error, StorageFailed):
            # The records may be stored all the same, if the connection was lost before the answer came.
            self._may_be_behind = True
        self._end(pending, error)

    def _end(self, pending: PendingEvent, error: Exception | None) -> None:
        if isinstance(pending.event, FromWorker):
            pending.trace.end()
        self._exclusive.leave()
        pending.then(error)

    def _prepare(self, pending: PendingEvent) -> None:
        """Read from the database whatever an event needs, in a task, and then decide it."""
        with pending.trace.current():
            task = asyncio.get_running_loop().create_task(self._read_for(pending))
        self._reading.add(task)
        task.add_done_callback(partial(self._prepared, pending))

    def _prepared(self, pending: PendingEvent, task: asyncio.Task[None]) -> None:
        self._reading.discard(task)
        if task.cancelled():  # the server is ending
            self._end(pending, None)
            return
        error = task.exception()
        if error is None:
            self._decide(pending)
        elif isinstance(error, SessionLost):
            self.lose()
            self._end(pending, None)
        else:
            self._end(pending, error if isinstance(error, Exception) else RuntimeError(repr(error)))

    async def _read_for(self, pending: PendingEvent) -> None:
        """Reload a state that may be outdated, and read lines for a quiz that may follow.

        Raises:
            SessionLost: Another process owns the session now.
            StorageFailed: The database could not be read.
        """
        if self._may_be_behind or pending.is_behind:
            await self._catch_up(pending.event)
        event, current = pending.event, self.state.current
        if isinstance(event, FromWorker) and current is not None and self._asks_quiz(event):
            name, seed = current.plan.conversation, current.plan.seed
            others = await self._store.look_up(lambda connection: lines_of_others(connection, name, seed))
            pending.event = event._replace(others=others)

    def _asks_quiz(self, event: FromWorker) -> bool:
        """Return whether a quiz may follow a message. A quiz needs lines of other conversations."""
        asked = self.state.rules.quiz_choices is not None and isinstance(event.message, Rate)
        return asked and self.state.phase is Phase.RATING and self.state.current is not None

    def _with_offences(self, event: FromWorker, message: Say) -> FromWorker:
        found = offensive_words(message.text, self._run.study.language)
        return event._replace(offensive=found) if found else event

    async def _catch_up(self, event: Event) -> None:
        """Reload the state, which may be ahead of this process.

        Then send a snapshot to the page, and resume: a bot may have to be asked, or a reply to be shown.
        """
        self.state = await self._reload()
        self._may_be_behind = False
        self.show(snapshot(self.state, self._run.card, event.at))
        self._effects.perform(self, resume(self.state, event.at), NO_TRACE)
