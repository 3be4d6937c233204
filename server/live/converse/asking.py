"""Asking the bots of one session: again until they answer, or it is of no use."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import count

import structlog

from bots import BotError, BudgetSpent, Provenance, Turn, ask, gives_itself_away, offensive_words, span
from server.bots.lineup import OpenRun, SpendingCap, first_reached
from server.clock import utc_now
from server.db.store.store import Store
from server.errors import StorageFailed
from server.session import pairs
from server.session.call import BotCall
from server.session.conversation import Conversation
from server.session.events import AskBot, BotGaveUp, BotReplied, BotStumbled
from server.session.protocol import plain
from server.session.replies import seconds_for_retries
from server.session.state import State

MAX_REASON = 500
_WAKING = 0.05  # seconds by which the end of a rest is surely over
log = structlog.get_logger()


class Asking:
    """Asks the bots of one session.

    Args:
        run: whose bots they are.
        store: knows what they have cost.
    """

    def __init__(self, run: OpenRun, store: Store) -> None:
        self._run = run
        self._store = store
        self._lines: tuple[str, tuple[Turn, ...]] = ("", ())

    async def answer(
        self, effect: AskBot, state: State, note: Callable[[BotStumbled], Awaitable[None]]
    ) -> BotReplied | BotGaveUp:
        """Return what a bot answers in `state`.

        It is asked until it answers, asking again is of no use, or another try would begin too late: after
        the deadline, or so late that its reply would tell of it. `note` stores that a try has failed, and
        that another one will follow.
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
                if not error.unasked or tries == 1:  # nobody was asked, and it is known that nobody answers
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
        """Return for how many seconds a bot is asked again; no pace of people is hidden."""
        if conversation.plan.system in self._run.people:
            return math.inf
        return seconds_for_retries(state, conversation, effect.index)

    async def _require_money(self, caps: Sequence[SpendingCap]) -> float:
        """Check that a bot with these caps may cost more. Raises BudgetSpent.

        Returns how many seconds that took: while the database is away, it is asked again until it answers,
        and that is not of the bot's time.
        """
        clock = asyncio.get_running_loop().time
        asked = clock()
        for pause in pauses():
            try:
                reached = await self._store.look_up(lambda connection: first_reached(connection, caps))
            except StorageFailed:  # as the store has said
                await asyncio.sleep(pause)
                continue
            if reached is not None:
                raise BudgetSpent(reached)
            return clock() - asked
        raise AssertionError("pauses have no end")

    def _lines_of(self, state: State, conversation: Conversation) -> tuple[Turn, ...]:
        """Return a conversation's lines as bots see them; those of its earlier turns are not made anew."""
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
    """Return a call to be kept.

    One that told where its answer came from, or that has an answer to be kept.
    """
    if error is None:
        return None if provenance is None else BotCall(tries, provenance)
    if provenance is None and error.output is None:
        return None
    output = None if error.output is None else plain(error.output)
    return BotCall(tries, provenance or Provenance(), error.kind, output)


def pause_after(error: BotError, waits: Iterator[float]) -> float:
    """Return how many seconds to wait before a bot is asked again.

    A call for which every replica rests has asked nobody: who waits is woken when the rest ends, and no later
    for it.
    """
    if error.unasked and error.after is not None:
        return error.after + _WAKING
    return max(next(waits), error.after or 0)


def pauses() -> Iterator[float]:
    """Yield how many seconds to wait before trying again, for ever.

    Tenacity would do this: it takes 7 % of all that the server computes for a turn, where nothing has failed.
    """
    pause = 0.25
    while True:
        yield pause
        pause = min(2 * pause, 4.0)
