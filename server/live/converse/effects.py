"""Perform a session's effects: ask bots, and show replies at their time."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Protocol

import structlog

from candor.common.telemetry import Trace
from server.clock import utc_now
from server.errors import StorageFailed
from server.live.converse.asking import Asking, pauses
from server.live.converse.pending_event import WhenDone
from server.session.events import Accept, AskBot, BotGaveUp, BotReplied, BotStumbled, Effect, ShowReply, Tell
from server.session.protocol import Accepted, ServerMessage
from server.session.state import State
from server.session.steps.worker_view import reply

Answer = BotReplied | BotGaveUp
log = structlog.get_logger()
# The event loop's timers count whole milliseconds and round them, so one may fire up to 1.5 ms early. A
# worker's answer to a reply that was shown too early would be refused.
_EARLY = 0.002


class EffectsSession(Protocol):
    """The session whose effects are performed."""

    state: State
    is_lost: bool

    def show(self, *messages: ServerMessage) -> None:
        """Send messages to the attached page, if any, in one frame."""

    def take_answer(self, event: Answer, trace: Trace, then: WhenDone) -> None:
        """Process a bot's answer after all earlier events, then call `then`."""

    async def note(self, event: BotStumbled) -> None:
        """Store that a call of a bot has failed and that the bot is asked again."""


class Effects:
    """The effects of one session that are in progress.

    The session is passed to each call, and referenced only while an effect is in progress. If the two objects
    referenced each other, they would stay in memory until the garbage collector runs.

    Args:
        asking: Asks the session's bots.
        on_over: Called whenever an effect has ended.
    """

    def __init__(self, asking: Asking, on_over: Callable[[], None]) -> None:
        self._asking = asking
        self._on_over = on_over
        self._under_way: dict[Effect, asyncio.Handle | asyncio.Task[Answer]] = {}
        self._ended_ask = asyncio.Event()

    @property
    def are_over(self) -> bool:
        """Whether no effect is in progress."""
        return not self._under_way

    async def until_answered(self) -> None:
        """Wait while a bot is being asked."""
        while any(isinstance(effect, AskBot) for effect in self._under_way):
            self._ended_ask.clear()
            await self._ended_ask.wait()

    def cancel(self) -> list[asyncio.Task[Answer]]:
        """Cancel everything in progress; return the tasks that were cancelled."""
        tasks = [each for each in self._under_way.values() if isinstance(each, asyncio.Task)]
        for each in self._under_way.values():
            each.cancel()
        self._under_way.clear()
        self._ended_ask.set()
        return tasks

    def perform(self, session: EffectsSession, effects: tuple[Effect, ...], trace: Trace) -> None:
        """Perform effects, and then send the page all resulting messages in one frame."""
        told: list[ServerMessage] = []
        for effect in effects:
            match effect:
                case Accept():
                    told.append(Accepted(id=effect.id))
                case Tell():
                    told.append(effect.message)
                case AskBot():
                    self._ask(session, effect, trace)
                case ShowReply():
                    if _may_show(session.state, effect, now := utc_now()):
                        told += _shown(session.state, effect)
                    else:
                        self._show_later(session, effect, now)
        if told:
            session.show(*told)

    def _over(self, effect: Effect) -> None:
        """Note that an effect has ended."""
        self._under_way.pop(effect, None)
        self._ended_ask.set()
        self._on_over()

    def _show_later(self, session: EffectsSession, effect: ShowReply, now: datetime) -> None:
        if effect not in self._under_way:
            show = partial(self._show, session, effect)
            self._under_way[effect] = asyncio.get_running_loop().call_later(
                seconds_until(effect.at, now), show
            )

    def _show(self, session: EffectsSession, effect: ShowReply) -> None:
        try:
            for message in _shown(session.state, effect):
                session.show(message)
        except Exception as fault:  # in our code: an effect that never ends would keep the session for good
            self._fail(session, effect, fault)
        else:
            self._over(effect)

    def _ask(self, session: EffectsSession, effect: AskBot, trace: Trace) -> None:
        if effect in self._under_way:
            return
        with trace.current():
            answering = self._asking.answer(effect, session.state, session.note)
            task = asyncio.get_running_loop().create_task(answering)
        self._under_way[effect] = task
        task.add_done_callback(partial(self._answered, session, effect, trace))

    def _answered(
        self, session: EffectsSession, effect: AskBot, trace: Trace, task: asyncio.Task[Answer]
    ) -> None:
        if task.cancelled():
            self._over(effect)
        elif (error := task.exception()) is not None:
            self._fail(session, effect, error)
        else:
            self._take_answer(session, effect, task.result(), trace, pauses())

    def _take_answer(
        self, session: EffectsSession, effect: AskBot, event: Answer, trace: Trace, waits: Iterator[float]
    ) -> None:
        """Pass a bot's answer to the session. It is kept in memory until the database has stored it."""

        def then(error: Exception | None) -> None:
            if isinstance(error, StorageFailed) and not session.is_lost:
                again = partial(self._take_answer, session, effect, event, trace, waits)
                self._under_way[effect] = asyncio.get_running_loop().call_later(next(waits), again)
            elif error is not None:
                self._fail(session, effect, error)
            else:
                self._over(effect)

        session.take_answer(event, trace, then)

    def _fail(self, session: EffectsSession, effect: Effect, error: BaseException) -> None:
        assignment = session.state.context.assignment
        log.error("effect failed", assignment=assignment, effect=repr(effect), exc_info=error)
        self._over(effect)


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
