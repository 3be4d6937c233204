"""Ask a session's bots for replies, and try again until they answer or no further try can help."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import count

import structlog

from bots import BotError, BudgetSpent, Provenance, Turn, ask, gives_itself_away, offensive_words
from candor.common.telemetry import span
from server.bots.lineup import OpenRun, SpendingCap, first_reached
from server.clock import utc_now
from server.db.store.store import Store
from server.errors import StorageFailed
from server.session.call import BotCall
from server.session.conversation import Conversation
from server.session.events import AskBot, BotGaveUp, BotReplied, BotStumbled
from server.session.protocol import plain
from server.session.state import State
from server.session.steps import pairs
from server.session.steps.replies import seconds_for_retries

MAX_REASON = 500
_WAKING = 0.05  # added to a replica's rest, so that the rest is surely over
log = structlog.get_logger()


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
                call = _call(tries, error.provenance, error)
                failed = (
                    effect.conversation,
                    effect.index,
                    _reason(system, error),
                    utc_now(),
                    error.kind,
                    call,
                )
                if not error.retry or clock() + pause >= tried_until:
                    return BotGaveUp(*failed)
                if not error.unasked or tries == 1:  # a try that asked no bot is noted only once
                    await note(BotStumbled(*failed))
                await asyncio.sleep(pause)
                continue
            latency_ms = round((clock() - started) * 1000)
            return BotReplied(
                effect.conversation,
                effect.index,
                said.text,
                latency_ms,
                utc_now(),
                gives_itself_away(said.text, self._run.names[system]),
                said.output,
                said.changes,
                _call(tries, said.provenance),
                offensive_words(said.text, self._run.study.language),
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


def _reason(system: str, error: BotError) -> str:
    return plain(f"{system}: {error}")[:MAX_REASON]


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
