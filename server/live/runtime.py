"""One live session: performs what the session decides. Stores first, tells the worker afterwards."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import Connection as Transaction

from bots import (
    NO_TRACE,
    Trace,
    begin_trace,
    offensive_words,
)
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.quiz_rows import lines_of_others
from server.db.store import StaleState, Store
from server.errors import CandorError, StorageFailed
from server.live.asking import Asking, pauses
from server.live.exclusive import Exclusive
from server.session.events import (
    Accept,
    AskBot,
    BotGaveUp,
    BotReplied,
    BotStumbled,
    Effect,
    EndedByResearcher,
    Event,
    FromWorker,
    ShowReply,
    Tell,
)
from server.session.phase import Phase
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
from server.session.state import State
from server.session.step import Outcome, resume, step
from server.session.worker_view import reply, snapshot

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
        """A page shows the session."""

    def page_gone(self) -> None:
        """The page that showed the session is gone."""


class SessionLost(Exception):
    """Another process has taken the session over."""


Then = Callable[[Exception | None], None]  # gets None once something is done, or why it is not


class _Taking:
    """An event that a session takes, and who is told of its end.

    `also`: what is written with its records. `is_behind`: the state was, and has been loaded anew for it.
    """

    __slots__ = ("also", "event", "is_behind", "storing", "then", "trace")

    def __init__(
        self, event: Event, then: Then, trace: Trace, also: Callable[[Transaction], None] | None = None
    ) -> None:
        self.event = event
        self.then = then
        self.trace = trace
        self.also = also
        self.is_behind = False
        self.storing = NO_TRACE


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
        self._on_idle = on_idle
        self._watcher = watcher
        self._notices = {notice.notice: notice for notice in notices}
        self._exclusive = Exclusive()
        self._page: Connection | None = None
        self._asking = Asking(run, store)
        self._under_way: dict[Effect, asyncio.Handle | asyncio.Task[BotReplied | BotGaveUp]] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._ended_ask = asyncio.Event()

    @property
    def idle(self) -> bool:
        """Whether nobody is attached and nothing is under way, so that it may be forgotten."""
        return self._page is None and not self._under_way and not self._exclusive.is_taken

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
            self._perform(resume(self.state, now), NO_TRACE)

    def detach(self, page: Connection) -> None:
        """Forget `page`; what is under way goes on without it."""
        if self._page is page:
            self._page = None
            self._watcher.page_gone()

    def take(self, message: FromWorker, page: Connection, then: Then) -> None:
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
        done = _Done()
        self.take(message, page, done)
        try:
            await done.future
        finally:
            del done  # its error has this frame, which would have it

    @property
    def run_id(self) -> int:
        """The id of the run that the session belongs to."""
        return self._run.id

    def notify(self, notice: StudyNotice) -> None:
        """Show the worker words of the researchers, once; again on every page that connects later."""
        if notice.notice not in self._notices and self.state.closed is None:
            self._notices[notice.notice] = notice
            self._send(notice)

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
        while any(isinstance(effect, AskBot) for effect in self._under_way):
            self._ended_ask.clear()
            await self._ended_ask.wait()
        async with self._exclusive.alone():  # what is being stored is acknowledged first
            if self._page is not None:
                self._page.close(CLOSE_RESTART)
                self._page = None
                self._watcher.page_gone()

    async def close(self) -> None:
        """Drop what is under way. Nothing is lost: `resume` takes it up again from what is stored."""
        tasks = [task for task in self._under_way.values() if isinstance(task, asyncio.Task)]
        for each in (*self._under_way.values(), *self._reading):
            each.cancel()
        await asyncio.gather(*tasks, *self._reading, return_exceptions=True)

    def lose(self) -> None:
        """Take up that another process has the session now: the page that is there has gone elsewhere."""
        self.is_lost = True
        self._give_up_page()
        for each in self._under_way.values():
            each.cancel()
        self._under_way.clear()
        self._ended_ask.set()

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
                self._send(Ended(phase="expired", debriefing=debriefing, return_to=way_out))

    def _give_up_page(self) -> None:
        if self._page is not None:
            self._page.send(TakenOver())
            self._page.close()
            self._page = None

    def _take_from(self, message: FromWorker, page: Connection, then: Then) -> None:
        taking = _Taking(message, then, begin_trace("message", type=message.message.type))
        if self._page is page:
            self._begin(taking)
        else:
            self._end(taking, None)

    async def _taken(self, event: Event, also: Callable[[Transaction], None] | None = None) -> None:
        """Take an event that is not a worker's, `also` written with it. Raises what `receive` raises."""
        done = _Done()
        self._exclusive.enter(partial(self._begin, _Taking(event, done, NO_TRACE, also)))
        try:
            await done.future
        finally:
            del done  # as in `receive`

    def _begin(self, taking: _Taking) -> None:
        """Have an event done; whatever comes of it ends with `_end`."""
        event = taking.event
        if self.is_lost:
            self._end(taking, None)
        elif self._may_be_behind or (isinstance(event, FromWorker) and self._asks_quiz(event)):
            self._prepare(taking)
        else:
            self._decide(taking)

    def _decide(self, taking: _Taking) -> None:
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

    def _stored(self, taking: _Taking, outcome: Outcome, error: Exception | None) -> None:
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
                self._perform(outcome.effects, taking.trace)
            except Exception as fault:  # of ours: the session goes on
                error = fault
        elif isinstance(error, StorageFailed):
            # It may be stored all the same: the connection was lost before the answer came.
            self._may_be_behind = True
        self._end(taking, error)

    def _end(self, taking: _Taking, error: Exception | None) -> None:
        if isinstance(taking.event, FromWorker):
            taking.trace.end()
        self._exclusive.leave()
        taking.then(error)

    def _prepare(self, taking: _Taking) -> None:
        """Read what has to be read for an event, and then decide it."""
        with taking.trace.current():
            task = asyncio.get_running_loop().create_task(self._read_for(taking))
        self._reading.add(task)
        task.add_done_callback(partial(self._prepared, taking))

    def _prepared(self, taking: _Taking, task: asyncio.Task[None]) -> None:
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

    async def _read_for(self, taking: _Taking) -> None:
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
        self._send(snapshot(self.state, self._run.card, event.at))
        self._perform(resume(self.state, event.at), NO_TRACE)

    def _perform(self, effects: tuple[Effect, ...], trace: Trace) -> None:
        """Do what is to be done, and then tell the page all that there is to say, in one frame."""
        told: list[ServerMessage] = []
        for effect in effects:
            match effect:
                case Accept():
                    told.append(Accepted(id=effect.id))
                case Tell():
                    told.append(effect.message)
                case AskBot():
                    self._ask(effect, trace)
                case ShowReply():
                    if self._may_show(effect, now := utc_now()):
                        told += self._shown(effect)
                    else:
                        self._show_later(effect, now)
        if told and self._page is not None:
            self._page.send(*told)

    def _send(self, message: ServerMessage) -> None:
        if self._page is not None:
            self._page.send(message)

    def _over(self, effect: Effect) -> None:
        """Take up that what `effect` has begun is over."""
        self._under_way.pop(effect, None)
        self._ended_ask.set()
        self._on_idle()

    def _may_show(self, effect: ShowReply, at: datetime) -> bool:
        """Return whether a reply may be shown now. The clock may have been set back while it was stored."""
        conversation = self.state.conversation(effect.conversation)
        return effect.at <= at or not any(c.hides_reply(at) for c in self.state.held_with(conversation))

    def _show_later(self, effect: ShowReply, now: datetime) -> None:
        if effect not in self._under_way:
            seconds = (effect.at - now).total_seconds()
            self._under_way[effect] = asyncio.get_running_loop().call_later(seconds, self._show, effect)

    def _show(self, effect: ShowReply) -> None:
        for message in self._shown(effect):
            self._send(message)
        self._over(effect)

    def _shown(self, effect: ShowReply) -> list[ServerMessage]:
        conversation = self.state.conversation(effect.conversation)
        if conversation.status != "active" or len(conversation.turns) > effect.index + 1:
            return []  # it was ended by researchers, or a snapshot has shown it and it was answered
        return [reply(self.state, effect.conversation, effect.index)]

    def _ask(self, effect: AskBot, trace: Trace) -> None:
        if effect in self._under_way:
            return
        with trace.current():
            task = asyncio.get_running_loop().create_task(self._asking.answer(effect, self.state, self._note))
        self._under_way[effect] = task
        task.add_done_callback(partial(self._answered, effect, trace))

    def _answered(self, effect: AskBot, trace: Trace, task: asyncio.Task[BotReplied | BotGaveUp]) -> None:
        if task.cancelled():
            self._over(effect)
        elif (error := task.exception()) is not None:
            self._fail(effect, error)
        else:
            self._take_answer(effect, task.result(), trace, pauses())

    def _take_answer(
        self, effect: AskBot, event: BotReplied | BotGaveUp, trace: Trace, waits: Iterator[float]
    ) -> None:
        """Take what a bot has answered. It is kept in memory until the database takes it."""

        def then(error: Exception | None) -> None:
            if isinstance(error, StorageFailed) and not self.is_lost:
                again = partial(self._take_answer, effect, event, trace, waits)
                self._under_way[effect] = asyncio.get_running_loop().call_later(next(waits), again)
            elif error is not None:
                self._fail(effect, error)
            else:
                self._over(effect)

        self._exclusive.enter(partial(self._begin, _Taking(event, then, trace)))

    async def _note(self, event: BotStumbled) -> None:
        """Store that a bot has failed and is asked again."""
        where = {"conversation": event.conversation, "turn": event.index}
        log.warning("bot failed", **where, kind=event.failure, reason=event.reason)
        try:
            await self._taken(event)
        except CandorError as refusal:
            log.error("incident not stored", conversation=event.conversation, error=refusal.message)

    def _fail(self, effect: Effect, error: BaseException) -> None:
        assignment = self.state.context.assignment
        log.error("effect failed", assignment=assignment, effect=repr(effect), exc_info=error)
        self._over(effect)


class _Done:
    """What is told of an end, and lets a coroutine wait for that."""

    def __init__(self) -> None:
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __call__(self, error: Exception | None) -> None:
        if self.future.cancelled():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)
