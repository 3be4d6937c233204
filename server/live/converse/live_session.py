"""Run one live session: decide what an event means, store the decision, and only then perform its effects.

A worker's message comes in through `LiveSession.receive`, a bot's reply and all else through `process`. Both
wait for their turn, then go through `_process` and `_decide`:

    step → records → Store.append → on disk → new state → effects → `accepted`

docs/architecture.md tells the life of a message from its socket to the acknowledgement.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Protocol

import structlog
from sqlalchemy import Connection as Transaction

from bots.serving import offensive_words
from candor.common.telemetry import span
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.sessions.quizzes import lines_of_others
from server.db.store import Store
from server.db.writer import StaleState
from server.errors import StorageFailed
from server.live.converse.bot_replies import Asking, ReplyTasks
from server.session.events import (
    Accept,
    AskBot,
    Effect,
    EndedByResearcher,
    Event,
    FromWorker,
    ShowReply,
    Tell,
)
from server.session.protocol import (
    CLOSE_RESTART,
    Accepted,
    Ended,
    Rate,
    Say,
    ServerMessage,
    StudyNotice,
    TakenOver,
)
from server.session.state import Phase, State
from server.session.steps.step import resume, step
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


class OneAtATime:
    """`async with`: let one coroutine in at a time, in order of arrival.

    `users` counts those who are in it or wait for it.
    """

    def __init__(self) -> None:
        self.users = 0
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        self.users += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self.users -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self.users -= 1
        self._lock.release()


class LiveSession:
    """A session in this process. It processes one event at a time and has at most one page attached.

    Args:
        state: The session as it is stored.
        fence: The number under which this process owns the session and writes its records.
        run: The run that the session belongs to, with its bots open.
        store: Stores the records before any effect is performed.
        reload: Returns the state as it is stored now; called when the database turns out to be ahead of
            `state`. It raises SessionLost, and the errors of reading the database.
        on_idle: Called whenever a bot's reply is no longer awaited, so that an idle session can be released.
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
        self._one_at_a_time = OneAtATime()
        self._page: PageConnection | None = None
        self._replies = ReplyTasks(Asking(run, store), on_idle)

    @property
    def idle(self) -> bool:
        """Whether no page is attached and nothing is in progress, so that the session may be released."""
        return self._page is None and self._replies.are_over and not self._one_at_a_time.users

    async def attach(self, page: PageConnection, shown: Phase | None = None) -> None:
        """Attach `page`; the page that was attached before is told so and closed.

        `shown` is the phase that `page` shows already. A session in that phase sends no snapshot.
        """
        async with self._one_at_a_time:
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
            self._perform(resume(self.state, now))

    def detach(self, page: PageConnection) -> None:
        """Detach `page`; effects in progress go on without it."""
        if self._page is page:
            self._page = None
            self._watcher.page_gone()

    async def receive(self, message: FromWorker, page: PageConnection) -> None:
        """Process a worker's message after all earlier events; return once it is acknowledged.

        `page` has sent it. If another page is attached by now, nothing is done.

        Raises:
            RefusedMessage: The message is not allowed now; nothing was stored.
            StorageFailed: The message could not be stored.
        """
        async with self._one_at_a_time:
            if self._page is page:
                with span("message", type=message.message.type):
                    await self._process(message)

    async def process(self, event: Event, also: Callable[[Transaction], None] | None = None) -> None:
        """Process an event that is not a worker's after all earlier events.

        `also` writes in the same transaction. Raises what `receive` raises.
        """
        async with self._one_at_a_time:
            await self._process(event, also)

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
        await self.process(event, also)
        return not self.is_lost

    @property
    def has_page(self) -> bool:
        """Whether a page is attached."""
        return self._page is not None

    async def drain(self) -> None:
        """Wait until the bot that is being asked has answered, then make the page reconnect."""
        await self._replies.until_answered()
        async with self._one_at_a_time:  # what is being stored is acknowledged first
            if self._page is not None:
                self._page.close(CLOSE_RESTART)
                self._page = None
                self._watcher.page_gone()

    async def close(self) -> None:
        """Cancel everything in progress. Nothing is lost: `resume` continues from what is stored."""
        await asyncio.gather(*self._replies.cancel(), return_exceptions=True)

    def lose(self) -> None:
        """Give up the session because another process owns it now."""
        self.is_lost = True
        self._give_up_page()
        self._replies.cancel()

    async def reload(self) -> None:
        """Reload the state, after another process has stored that the session expired or has a new owner.

        Raises:
            StorageFailed: The database could not be read; the worker's next message will detect the change.
        """
        async with self._one_at_a_time:
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

    async def _process(self, event: Event, also: Callable[[Transaction], None] | None = None) -> None:
        """Decide what an event means, store that, and only then perform its effects.

        If the database turns out to be ahead of the state, the state is reloaded and the event decided again.
        """
        if self.is_lost:
            return
        try:
            for _ in range(2):
                if self._may_be_behind:
                    await self._catch_up(event.at)
                if await self._decide(event, also):
                    return
        except SessionLost:
            self.lose()
        else:
            raise StorageFailed("The session changed elsewhere at the same moment")

    async def _decide(self, event: Event, also: Callable[[Transaction], None] | None) -> bool:
        """Decide an event, store the records, perform the effects; return False if the state is too old."""
        if isinstance(event, FromWorker):
            event = await self._completed(event)
        with span("step"):
            outcome = step(self.state, event)
        if outcome.records:
            assignment = self.state.context.assignment
            try:
                with span("store", records=len(outcome.records)):
                    await self._store.append(assignment, self.fence, outcome.records, event.at, also)
            except StaleState:
                self._may_be_behind = True
                return False
            except (StorageFailed, asyncio.CancelledError):
                # The commit may have succeeded although its answer did not reach us.
                self._may_be_behind = True
                raise
            self._watcher.stored()
        self.state = outcome.state
        self._perform(outcome.effects)
        return True

    def _perform(self, effects: Iterable[Effect]) -> None:
        """Perform effects, and then send the page all resulting messages in one frame."""
        told: list[ServerMessage] = []
        for effect in effects:
            match effect:
                case Accept():
                    told.append(Accepted(id=effect.id))
                case Tell():
                    told.append(effect.message)
                case AskBot():
                    self._replies.ask(self, effect)
                case ShowReply():
                    told += self._replies.show(self, effect)
        if told:
            self.show(*told)

    async def _completed(self, event: FromWorker) -> FromWorker:
        """Return a worker's message with its offensive words, or with lines for a quiz."""
        if isinstance(event.message, Say):
            found = offensive_words(event.message.text, self._run.study.language)
            return event._replace(offensive=found) if found else event
        current = self.state.current
        if current is None or not self._asks_quiz(event):
            return event
        name, seed = current.plan.conversation, current.plan.seed
        others = await self._store.look_up(lambda connection: lines_of_others(connection, name, seed))
        return event._replace(others=others)

    def _asks_quiz(self, event: FromWorker) -> bool:
        """Return whether a quiz about lines may follow a message. It needs lines of other conversations."""
        quiz = self.state.rules.quiz
        asked = quiz is not None and quiz.about == "lines" and isinstance(event.message, Rate)
        return asked and self.state.phase is Phase.RATING and self.state.current is not None

    async def _catch_up(self, at: datetime) -> None:
        """Reload the state, which may be behind the database.

        Then send a snapshot to the page, and resume: a bot may have to be asked, or a reply to be shown.

        Raises:
            SessionLost: Another process owns the session now.
            StorageFailed: The database could not be read.
        """
        self.state = await self._reload()
        self._may_be_behind = False
        self.show(snapshot(self.state, self._run.card, at))
        self._perform(resume(self.state, at))
