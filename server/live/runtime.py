"""One live session: performs what the session decides. Stores first, tells the worker afterwards."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Protocol

import structlog
from sqlalchemy import Connection as Transaction

from bots import BotError, BudgetSpent, Provenance, Turn, ask, gives_itself_away, offensive_words, span
from server.bots.lineup import OpenRun
from server.bots.spending_caps import SpendingCap, first_reached
from server.clock import utc_now
from server.db.quiz_rows import lines_of_others
from server.db.store import StaleState, Store
from server.errors import CandorError, StorageFailed
from server.session import pairs
from server.session.call import BotCall
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
    plain,
)
from server.session.state import Conversation, State
from server.session.step import Outcome, resume, step
from server.session.worker_view import reply, snapshot

MAX_REASON = 500
log = structlog.get_logger()


class Connection(Protocol):
    """A worker's page at the other end."""

    def send(self, message: ServerMessage) -> None:
        """Queue a message; never waits. A page that does not read is disconnected."""

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
        self._lock = asyncio.Lock()
        self._page: Connection | None = None
        self._lines: tuple[str, tuple[Turn, ...]] = ("", ())
        self._under_way: dict[Effect, asyncio.Task[None]] = {}

    @property
    def idle(self) -> bool:
        """Whether nobody is attached and nothing is under way, so that it may be forgotten."""
        return self._page is None and not self._under_way and not self._lock.locked()

    async def attach(self, page: Connection, shown: Phase | None = None) -> None:
        """Give the session to `page`; the page that had it is told so and closed.

        `shown` is the phase that `page` shows already: where the session is there, it gets no snapshot.
        """
        async with self._lock:
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

    def detach(self, page: Connection) -> None:
        """Forget `page`; what is under way goes on without it."""
        if self._page is page:
            self._page = None
            self._watcher.page_gone()

    async def receive(self, message: FromWorker, page: Connection) -> None:
        """Take a worker's message.

        Raises:
            RefusedMessage: it cannot be taken now; nothing was stored.
            StorageFailed: it could not be stored.
        """
        async with self._lock:
            if self._page is page:
                with span("message", type=message.message.type):
                    await self._advance(message)

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
        async with self._lock:
            if not self.is_lost:
                await self._advance(event, also)
            return not self.is_lost

    @property
    def has_page(self) -> bool:
        """Whether a page is attached."""
        return self._page is not None

    async def drain(self) -> None:
        """Let the bot that is being asked answer, then have the page connect anew."""
        while asks := [task for effect, task in self._under_way.items() if isinstance(effect, AskBot)]:
            await asyncio.wait(asks)
        async with self._lock:  # what is being stored is acknowledged first
            if self._page is not None:
                self._page.close(CLOSE_RESTART)
                self._page = None
                self._watcher.page_gone()

    async def close(self) -> None:
        """Drop what is under way. Nothing is lost: `resume` takes it up again from what is stored."""
        tasks = tuple(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def lose(self) -> None:
        """Take up that another process has the session now: the page that is there has gone elsewhere."""
        self.is_lost = True
        self._give_up_page()
        for task in self._under_way.values():
            task.cancel()

    async def look_again(self) -> None:
        """Take up what others have stored: that the assignment has expired, or has another owner.

        Raises:
            StorageFailed: what is stored could not be read; the worker's next message will find out.
        """
        async with self._lock:
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

    async def _advance(self, event: Event, also: Callable[[Transaction], None] | None = None) -> None:
        """Do what `event` means, unless the session was lost. Raises what `receive` raises."""
        try:
            if self._may_be_behind:
                await self._catch_up(event)
            if isinstance(event, FromWorker):
                event = await self._with_lines(event)
            await self._advance_here(event, also)
        except SessionLost:
            self.lose()

    async def _advance_here(self, event: Event, also: Callable[[Transaction], None] | None) -> None:
        with span("step"):
            outcome = step(self.state, event)
        try:
            await self._save(outcome, event, also)
        except StorageFailed:
            # It may be stored all the same: the connection was lost before the answer came.
            self._may_be_behind = True
            raise
        except StaleState:
            await self._catch_up(event)
            outcome = step(self.state, event)
            await self._save_again(outcome, event, also)
        self.state = outcome.state
        self._perform(outcome.effects)

    async def _with_lines(self, event: FromWorker) -> FromWorker:
        """Return an input with what of it should not have been said, and a rating that a quiz may follow with
        what that can be made of; any other message as it is.
        """
        message, current = event.message, self.state.current
        if isinstance(message, Say):
            found = offensive_words(message.text, self._run.study.language)
            return event._replace(offensive=found) if found else event
        if self.state.rules.quiz_choices is None or self.state.phase is not Phase.RATING or current is None:
            return event
        if not isinstance(message, Rate):
            return event
        name, seed = current.plan.conversation, current.plan.seed
        others = await self._store.look_up(lambda connection: lines_of_others(connection, name, seed))
        return event._replace(others=others)

    async def _catch_up(self, event: Event) -> None:
        """Take up what is stored, which may be further than what was shown and performed here.

        The page is drawn anew, a bot may have to be asked, a line to be shown.
        """
        self.state = await self._reload()
        self._may_be_behind = False
        self._send(snapshot(self.state, self._run.card, event.at))
        self._perform(resume(self.state, event.at))

    async def _save(self, outcome: Outcome, event: Event, also: Callable[[Transaction], None] | None) -> None:
        if outcome.records:
            assignment = self.state.context.assignment
            with span("store", records=len(outcome.records)):
                stored = (assignment, self.fence, outcome.records, event.at)
                await (
                    self._store.append(*stored) if also is None else self._store.append_with(*stored, also)
                )
            self._watcher.stored()

    async def _save_again(
        self, outcome: Outcome, event: Event, also: Callable[[Transaction], None] | None
    ) -> None:
        try:
            await self._save(outcome, event, also)
        except StaleState as error:
            raise StorageFailed("the session changed elsewhere at the same moment") from error

    def _perform(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            match effect:
                case Accept():
                    self._send(Accepted(id=effect.id))
                case Tell():
                    self._send(effect.message)
                case AskBot():
                    self._start(effect, self._ask(effect))
                case ShowReply():
                    if self._may_show(effect, utc_now()):
                        self._show(effect)
                    else:
                        self._start(effect, self._show_later(effect))

    def _send(self, message: ServerMessage) -> None:
        if self._page is not None:
            self._page.send(message)

    def _start(self, effect: Effect, work: Coroutine[None, None, None]) -> None:
        if effect in self._under_way:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._under_way[effect] = task

        def over(done: asyncio.Task[None]) -> None:
            del self._under_way[effect]
            if not done.cancelled() and (error := done.exception()) is not None:
                assignment = self.state.context.assignment
                log.error("effect failed", assignment=assignment, effect=repr(effect), exc_info=error)
            self._on_idle()

        task.add_done_callback(over)

    def _may_show(self, effect: ShowReply, at: datetime) -> bool:
        """Return whether a reply may be shown now. The clock may have been set back while it was stored."""
        conversation = self.state.conversation(effect.conversation)
        return effect.at <= at or not any(c.hides_reply(at) for c in self.state.held_with(conversation))

    async def _show_later(self, effect: ShowReply) -> None:
        await asyncio.sleep((effect.at - utc_now()).total_seconds())
        self._show(effect)

    def _show(self, effect: ShowReply) -> None:
        conversation = self.state.conversation(effect.conversation)
        if conversation.status != "active" or len(conversation.turns) > effect.index + 1:
            return  # the researchers have ended it meanwhile, or a snapshot has shown it and it was answered
        self._send(reply(self.state, effect.conversation, effect.index))

    async def _ask(self, effect: AskBot) -> None:
        event = await self._answer(effect)
        # The bot's line is kept in memory until the database takes it.
        for pause in _pauses():
            try:
                async with self._lock:
                    await self._advance(event)
                break
            except StorageFailed:
                await asyncio.sleep(pause)

    async def _answer(self, effect: AskBot) -> BotReplied | BotGaveUp:
        """Ask the bot until it answers, asking again is of no use, or the deadline would pass meanwhile."""
        conversation = self.state.conversation(effect.conversation)
        bot = self._run.bots[conversation.plan.system]
        chat = self._run.chat(conversation.plan, self._lines_of(conversation))
        bot_try, bot_total = self._run.timeouts(conversation.plan.system)
        started = time.monotonic()
        deadline = started + bot_total
        caps = self._run.spending_caps.get(conversation.plan.system)
        pauses = _pauses()
        for tries in count(1):
            try:
                if caps:
                    await self._require_money(caps)
                with span("ask"):
                    said = await ask(bot, chat, min(bot_try, deadline - time.monotonic()))
            except BotError as error:
                pause = max(next(pauses), error.after or 0)
                call = _call(tries, error.provenance, error)
                if not error.retry or time.monotonic() + pause >= deadline:
                    reason = self._reason(effect, error)
                    return BotGaveUp(effect.conversation, effect.index, reason, utc_now(), error.kind, call)
                await self._note(effect, error, call)
                await asyncio.sleep(pause)
                continue
            latency_ms = round((time.monotonic() - started) * 1000)
            return BotReplied(
                effect.conversation,
                effect.index,
                said.text,
                latency_ms,
                utc_now(),
                gives_itself_away(said.text, self._run.names[conversation.plan.system]),
                said.output,
                said.changes,
                _call(tries, said.provenance),
                offensive_words(said.text, self._run.study.language),
            )
        raise AssertionError("a count has no end")

    async def _require_money(self, caps: Sequence[SpendingCap]) -> None:
        """Check that a bot with these caps may cost more. Raises BudgetSpent."""
        reached = await self._store.look_up(lambda connection: first_reached(connection, caps))
        if reached is not None:
            raise BudgetSpent(reached)

    def _lines_of(self, conversation: Conversation) -> tuple[Turn, ...]:
        """Return a conversation's lines as bots see them; those of its earlier turns are not made anew."""
        heard = pairs.heard(self.state, conversation)
        name, lines = self._lines
        if name != conversation.plan.conversation or len(lines) > len(heard):
            lines = ()
        lines = (*lines, *(Turn(line.author, line.text) for line in heard[len(lines) :]))
        self._lines = (conversation.plan.conversation, lines)
        return lines

    def _reason(self, effect: AskBot, error: BotError) -> str:
        system = self.state.conversation(effect.conversation).plan.system
        return plain(f"{system}: {error}")[:MAX_REASON]

    async def _note(self, effect: AskBot, error: BotError, call: BotCall | None) -> None:
        """Store that a try has failed and that another will follow."""
        reason = self._reason(effect, error)
        event = BotStumbled(effect.conversation, effect.index, reason, utc_now(), error.kind, call)
        log.warning(
            "bot failed", conversation=event.conversation, turn=event.index, kind=error.kind, reason=reason
        )
        try:
            async with self._lock:
                await self._advance(event)
        except CandorError as refusal:
            log.error("incident not stored", conversation=event.conversation, error=refusal.message)


def _call(tries: int, provenance: Provenance | None, error: BotError | None = None) -> BotCall | None:
    """Return a call to be kept.

    One that told where its answer came from, or that has an answer to be kept.
    """
    if error is None:
        return None if provenance is None else BotCall(tries, provenance)
    if provenance is None and error.output is None:
        return None
    output = None if error.output is None else plain(error.output)
    return BotCall(tries, provenance or Provenance(), error.kind, output)


def _pauses() -> Iterator[float]:
    """Yield how many seconds to wait before trying again, for ever.

    Tenacity would do this: it takes 7 % of all that the server computes for a turn, where nothing has failed.
    """
    pause = 0.25
    while True:
        yield pause
        pause = min(2 * pause, 4.0)
