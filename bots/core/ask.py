"""Ask a bot, which may be foreign code: the caller always gets a checked reply or a BotError."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextvars import ContextVar

import structlog

from bots.core.chat import Bot, Chat, Reply
from bots.core.failures import BotError, BotTimeout
from bots.core.visible_text import rechecked

log = structlog.get_logger()
_due: ContextVar[float] = ContextVar("due")  # the deadline, by the event loop's clock


def seconds_left(otherwise: float) -> float:
    """Return the seconds that the caller of `ask` still waits for this bot; `otherwise` outside of `ask`."""
    due = _due.get(None)
    return otherwise if due is None else due - asyncio.get_running_loop().time()


class PunctualBot(ABC):
    """A bot that keeps to its time limit and checks its own replies, so that `ask` need not.

    Only Candor's own bots may be one.
    """

    @abstractmethod
    async def reply(self, chat: Chat) -> Reply:
        """Return the next line of `chat`, as a `Bot` does."""

    @abstractmethod
    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        """Return the next line of `chat`, as `ask` does. Raises the same errors as `ask`."""


async def ask(bot: Bot, chat: Chat, patience: float | None) -> Reply:
    """Return the next line of `chat` by `bot`, checked by `rechecked`.

    Args:
        bot: the bot. It is asked once.
        chat: the conversation, ending with the worker's line.
        patience: seconds that the call may take. None: no limit, for a bot that never waits.

    Raises:
        BotTimeout: there was no reply within `patience` seconds.
        EmptyReply, ThoughtsOnly, ReplyTooLong: the reply cannot be shown.
        BotError: raised by the bot, and passed on unchanged. Also raised if the bot raised anything else,
            returned no reply, or cancelled its own task; the message says which.
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
    """Return the failure of a bot that did not answer within `patience` seconds."""
    # Whole seconds from 10 on, two digits below.
    seconds = f"{patience:.0f}" if patience >= 10 else f"{max(patience, 0.0):.2g}"
    return BotTimeout(f"no reply within {seconds} s")


async def _timed(bot: Bot, chat: Chat, patience: float) -> Reply:
    """Return the reply of `bot`, which can read its time limit with `seconds_left`.

    Raises BotTimeout, and whatever the bot raises.
    """
    due = asyncio.get_running_loop().time() + max(patience, 0.0)
    outer = _due.set(min(due, _due.get(due)))
    try:
        return await within(patience, bot.reply(chat))
    finally:
        _due.reset(outer)


def _checked(reply: Reply) -> Reply:
    """Return a bot's reply, checked by `rechecked`. Raises BotError."""
    text: object = reply.text
    if not isinstance(text, str):
        raise BotError(f"its reply is not text, but {type(text).__name__}")
    try:
        return rechecked(reply)
    except BotError as error:
        error.provenance = reply.provenance
        raise
