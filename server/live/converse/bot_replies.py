"""Get the replies of a session's bots: ask until they answer, and show replies at their time."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import count
from typing import Protocol, TypeVar

import structlog

from bots import BotError, Provenance, Turn
from bots.serving import BudgetSpent, ask, gives_itself_away, offensive_words
from candor.common.telemetry import span
from server.bots.lineup import OpenRun, SpendingCap, first_reached
from server.clock import utc_now
from server.db.store import Store
from server.errors import CandorError, StorageFailed
from server.session.conversation import Conversation
from server.session.events import AskBot, BotGaveUp, BotReplied, BotStumbled, ShowReply
from server.session.protocol import ServerMessage, plain
from server.session.records import BotCall
from server.session.state import State
from server.session.steps import pairs
from server.session.steps.chat import seconds_for_retries
from server.session.steps.worker_view import reply

MAX_REASON = 500
_WAKING = 0.05  # added to a replica's rest, so that the rest is surely over
# The event loop's timers count whole milliseconds and round them, so one may fire up to 1.5 ms early. A
# worker's answer to a reply that was shown too early would be refused.
_EARLY = 0.002
log = structlog.get_logger()
_Failed = TypeVar("_Failed", BotGaveUp, BotStumbled)


class RepliesSession(Protocol):
    """The session whose bots reply."""

    state: State
    is_lost: bool

    def show(self, *messages: ServerMessage) -> None:
        """Send messages to the attached page, if any, in one frame."""

    async def process(self, event: BotReplied | BotGaveUp | BotStumbled) -> None:
        """Process an event after all earlier ones. Raises StorageFailed if it could not be stored."""


class ReplyTasks:
    """The replies of one session that are awaited: from bots, or until their time.

    The session is passed to each call, and referenced only while a reply is awaited. If the two objects
    referenced each other, they would stay in memory until the garbage collector runs.

    Args:
        asking: Asks the session's bots.
        on_end: Called whenever a reply is no longer awaited.
    """

    def __init__(self, asking: "Asking", on_end: Callable[[], None]) -> None:
        self._asking = asking
        self._on_end = on_end
        self._awaited: dict[AskBot | ShowReply, asyncio.Task[None]] = {}
        self._ended = asyncio.Event()

    @property
    def are_over(self) -> bool:
        """Whether no reply is awaited."""
        return not self._awaited

    async def until_answered(self) -> None:
        """Wait while a bot is being asked."""
        while any(isinstance(effect, AskBot) for effect in self._awaited):
            self._ended.clear()
            await self._ended.wait()

    def cancel(self) -> list[asyncio.Task[None]]:
        """Stop waiting for replies; return the tasks that were cancelled."""
        tasks = list(self._awaited.values())
        for task in tasks:
            task.cancel()
        self._awaited.clear()
        self._ended.set()
        return tasks

    def ask(self, session: RepliesSession, effect: AskBot) -> None:
        """Ask a bot, and have `session` process its answer; do nothing if it is being asked already."""
        if effect not in self._awaited:
            self._begin(session, effect, self._ask(session, effect))

    def show(self, session: RepliesSession, effect: ShowReply) -> list[ServerMessage]:
        """Return what shows a reply, if it may be shown now; else show it when it is due."""
        now = utc_now()
        if _may_show(session.state, effect, now):
            return _shown(session.state, effect)
        if effect not in self._awaited:
            self._begin(session, effect, _show_later(session, effect, seconds_until(effect.at, now)))
        return []

    def _begin(
        self, session: RepliesSession, effect: AskBot | ShowReply, work: Coroutine[None, None, None]
    ) -> None:
        self._awaited[effect] = task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(partial(self._end, session, effect))

    def _end(self, session: RepliesSession, effect: AskBot | ShowReply, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            assignment = session.state.context.assignment
            log.error("effect failed", assignment=assignment, effect=repr(effect), exc_info=fault)
        self._awaited.pop(effect, None)
        self._ended.set()
        self._on_end()

    async def _ask(self, session: RepliesSession, effect: AskBot) -> None:
        """Ask a bot, and have its answer processed. It is kept until the database has stored it."""
        answer = await self._asking.answer(effect, session.state, partial(_note, session))
        for pause in pauses():
            try:
                await session.process(answer)
            except StorageFailed:
                if session.is_lost:
                    raise
                await asyncio.sleep(pause)
            else:
                return


async def _note(session: RepliesSession, event: BotStumbled) -> None:
    """Store that a call of a bot has failed and that the bot is asked again."""
    where = {"conversation": event.conversation, "turn": event.index}
    log.warning("bot failed", **where, kind=event.failure, reason=event.reason)
    try:
        await session.process(event)
    except CandorError as refusal:
        log.error("incident not stored", conversation=event.conversation, error=refusal.message)


async def _show_later(session: RepliesSession, effect: ShowReply, seconds: float) -> None:
    await asyncio.sleep(seconds)
    now = utc_now()
    while not _may_show(session.state, effect, now):  # the clock was set back by a little
        await asyncio.sleep(seconds_until(effect.at, now))
        now = utc_now()
    for message in _shown(session.state, effect):
        session.show(message)


class Asking:
    """Ask the bots of one session.

    Args:
        run: The run that the bots belong to.
        store: Has the bots' cost so far.
    """

    def __init__(self, run: OpenRun, store: Store) -> None:
        self._run = run
        self._store = store
        self._lines: tuple[str, tuple[Turn, ...]] = ("", ())

    async def answer(
        self, effect: AskBot, state: State, note: Callable[[BotStumbled], Awaitable[None]]
    ) -> BotReplied | BotGaveUp:
        """Return a bot's answer in `state`.

        The bot is asked until it answers, until its error says that another try cannot help, or until another
        try would begin too late: after the deadline, or so late that the delay would reveal the failure.
        `note` stores that a try has failed and that another one follows.
        """
        conversation = state.conversation(effect.conversation)
        system = conversation.plan.system
        chat = self._run.chat(conversation.plan, self._lines_of(state, conversation))
        bot, (bot_try, bot_total) = self._run.bots[system], self._run.timeouts(system)
        clock = asyncio.get_running_loop().time
        started = clock()
        deadline = started + bot_total
        tried_until = min(deadline, started + self._seconds_for_retries(effect, state, conversation))
        caps = self._run.spending_caps.get(system)
        waits = pauses()
        for tries in count(1):
            try:
                if caps:
                    looked_up = await self._require_money(caps)
                    deadline, tried_until = deadline + looked_up, tried_until + looked_up
                with span("ask"):
                    said = await ask(bot, chat, min(bot_try, deadline - clock()))
            except BotError as error:
                pause = pause_after(error, waits)
                if not error.retry or clock() + pause >= tried_until:
                    return _failed(BotGaveUp, effect, system, tries, error)
                if not error.unasked or tries == 1:  # a try that asked no bot is noted only once
                    await note(_failed(BotStumbled, effect, system, tries, error))
                await asyncio.sleep(pause)
                continue
            latency_ms = round((clock() - started) * 1000)
            return BotReplied(
                conversation=effect.conversation,
                index=effect.index,
                text=said.text,
                latency_ms=latency_ms,
                at=utc_now(),
                gave_away=gives_itself_away(said.text, self._run.names[system]),
                output=said.output,
                changes=said.changes,
                call=_call(tries, said.provenance),
                offensive=offensive_words(said.text, self._run.study.language),
            )
        raise AssertionError("a count has no end")

    def _seconds_for_retries(self, effect: AskBot, state: State, conversation: Conversation) -> float:
        """Return for how many seconds a bot is asked again; no limit for people, whose pace is not hidden."""
        if conversation.plan.system in self._run.people:
            return math.inf
        return seconds_for_retries(state, conversation, effect.index)

    async def _require_money(self, caps: Sequence[SpendingCap]) -> float:
        """Check that no spending cap is reached. Raises BudgetSpent.

        Returns how many seconds the check took. While the database is unreachable the check is repeated, and
        that time does not count against the bot.
        """
        clock = asyncio.get_running_loop().time
        asked = clock()
        for pause in pauses():
            try:
                reached = await self._store.look_up(lambda connection: first_reached(connection, caps))
            except StorageFailed:  # the store has logged it
                await asyncio.sleep(pause)
                continue
            if reached is not None:
                raise BudgetSpent(reached)
            return clock() - asked
        raise AssertionError("pauses have no end")

    def _lines_of(self, state: State, conversation: Conversation) -> tuple[Turn, ...]:
        """Return a conversation's lines as bots see them, reusing those of its earlier turns."""
        heard = pairs.heard(state, conversation)
        name, lines = self._lines
        if name != conversation.plan.conversation or len(lines) > len(heard):
            lines = ()
        lines = (*lines, *(Turn(line.author, line.text) for line in heard[len(lines) :]))
        self._lines = (conversation.plan.conversation, lines)
        return lines


def _failed(kind: type[_Failed], effect: AskBot, system: str, tries: int, error: BotError) -> _Failed:
    """Return the event of a failed call of a bot."""
    return kind(
        conversation=effect.conversation,
        index=effect.index,
        reason=plain(f"{system}: {error}")[:MAX_REASON],
        at=utc_now(),
        failure=error.kind,
        call=_call(tries, error.provenance, error),
    )


def _call(tries: int, provenance: Provenance | None, error: BotError | None = None) -> BotCall | None:
    """Return a call's record, if the call has a provenance or an output worth storing; else None."""
    if error is None:
        return None if provenance is None else BotCall(tries, provenance)
    if provenance is None and error.output is None:
        return None
    output = None if error.output is None else plain(error.output)
    return BotCall(tries, provenance or Provenance(), error.kind, output)


def pause_after(error: BotError, waits: Iterator[float]) -> float:
    """Return how many seconds to wait before a bot is asked again.

    If every replica of a bot rests, nothing was asked: the wait ends just after the rest does.
    """
    if error.unasked and error.after is not None:
        return error.after + _WAKING
    return max(next(waits), error.after or 0)


def pauses() -> Iterator[float]:
    """Yield how many seconds to wait before each further try, without end.

    Tenacity would do this, but takes 7 % of the server's computing time for a turn even if nothing fails.
    """
    pause = 0.25
    while True:
        yield pause
        pause = min(2 * pause, 4.0)


def seconds_until(at: datetime, now: datetime) -> float:
    """Return how long to wait before showing a reply that is due at `at`, so that no timer fires early."""
    return (at - now).total_seconds() + _EARLY


def _may_show(state: State, effect: ShowReply, at: datetime) -> bool:
    """Return whether a reply may be shown now, also if the clock was set back while it was being stored."""
    conversation = state.conversation(effect.conversation)
    return effect.at <= at or not any(c.hides_reply(at) for c in state.held_with(conversation))


def _shown(state: State, effect: ShowReply) -> list[ServerMessage]:
    conversation = state.conversation(effect.conversation)
    if conversation.status != "active" or len(conversation.turns) > effect.index + 1:
        return []  # researchers ended it, or a snapshot has shown the reply and the worker has answered
    return [reply(state, effect.conversation, effect.index)]
