"""Asking a bot that may be foreign code: whatever it does, the caller gets a checked reply or a BotError."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextvars import ContextVar

import structlog

from bots.core.chat import Bot, Chat, Reply
from bots.core.failures import BotError, BotTimeout
from bots.core.visible_text import rechecked

log = structlog.get_logger()
_due: ContextVar[float] = ContextVar("due")  # the event loop's time at which nobody waits any more


def seconds_left(otherwise: float) -> float:
    """Return for how long whoever called `ask` waits for the bot that calls this; `otherwise` if nobody."""
    due = _due.get(None)
    return otherwise if due is None else due - asyncio.get_running_loop().time()


class PunctualBot(ABC):
    """A bot that keeps to its time and checks its replies by itself: `ask` has nothing to add.

    Only a bot of Candor's own can be one.
    """

    @abstractmethod
    async def reply(self, chat: Chat) -> Reply:
        """Return the next line of `chat`, as a `Bot` does."""

    @abstractmethod
    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        """Return the next line of `chat`, as `ask` does, and raise what that raises."""


async def ask(bot: Bot, chat: Chat, patience: float | None) -> Reply:
    """Return the next line of `chat` by `bot`, as `rechecked` lets it through.

    Args:
        bot: who is asked, once.
        chat: the conversation, ending with the worker's line.
        patience: seconds that the call has. None: as long as it takes, for a bot that never waits.

    Raises:
        BotTimeout: there was no reply within `patience` seconds.
        EmptyReply, ThoughtsOnly, ReplyTooLong: there was one that cannot be shown.
        BotError: what the bot raised, if it is one, as it is; else one that names what the bot raised,
            returned instead of a reply, or that it cancelled its own work.
    """
    try:
        if patience is None:
            return _checked(await bot.reply(chat))
        if isinstance(bot, PunctualBot):
            return await bot.reply_within(chat, patience)
        return _checked(await _timed(bot, chat, patience))
    except BotError:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the caller's own task was cancelled
            raise
        raise BotError("CancelledError: the bot gave up its own work") from error
    except Exception as error:
        log.exception("bot raised", conversation=chat.conversation_id)
        raise BotError(f"{type(error).__name__}: {error}") from error


async def within(patience: float, answer: Awaitable[Reply]) -> Reply:
    """Return the answer. Raises BotTimeout if it does not come within `patience` seconds."""
    try:
        async with asyncio.timeout(patience):
            return await answer
    except TimeoutError as error:
        raise late(patience) from error


def late(patience: float) -> BotTimeout:
    """Return the failure of a bot that had `patience` seconds."""
    # In whole ones from 10 on, and in two digits below.
    seconds = f"{patience:.0f}" if patience >= 10 else f"{max(patience, 0.0):.2g}"
    return BotTimeout(f"no reply within {seconds} s")


async def _timed(bot: Bot, chat: Chat, patience: float) -> Reply:
    """Return what `bot` replies, which may know how long it has. Raises BotTimeout, and what it raises."""
    due = asyncio.get_running_loop().time() + max(patience, 0.0)
    outer = _due.set(min(due, _due.get(due)))
    try:
        return await within(patience, bot.reply(chat))
    finally:
        _due.reset(outer)


def _checked(reply: Reply) -> Reply:
    """Return a bot's reply as `rechecked` lets it through. Raises BotError."""
    text: object = reply.text
    if not isinstance(text, str):
        raise BotError(f"its reply is no text, but {type(text).__name__}")
    try:
        return rechecked(reply)
    except BotError as error:
        error.provenance = reply.provenance
        raise
