"""Ask a bot, which may be foreign code, and check its reply: the caller gets fit text or a BotError.

The rules for texts are for replies only. Workers' messages follow other rules, in the session: their words
are kept as they typed them, as far as a database can store them. Rules for replies are stricter, because
workers judge replies: thoughts and made-up turns are not the bot's reply; characters without width would let
a bot mark its lines invisibly; characters that change the direction of writing would change the page around
them; and a line without visible content would have to be judged all the same.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Collection, Sequence
from contextvars import ContextVar
from dataclasses import replace

import structlog

from bots.core.chat import Bot, Chat, Reply
from bots.core.failures import BotError, BotTimeout, EmptyReply, ReplyTooLong, ThoughtsOnly
from bots.shown import CHANGES, Change, is_plain, shown_text
from candor.common.segmentation import characters, is_too_long

LONGEST_REPLY = 2_000  # characters, as people see them
LONGEST_OUTPUT = 100_000  # characters of a model's output that are kept

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and marks that are drawn as nothing
# Characters that a database cannot store: NUL, and halves of surrogate pairs.
_UNSTORABLE = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def checked_reply(
    output: str,
    *,
    opened: bool = False,
    at_limit: bool = False,
    tokens: bool = False,
    labels: Sequence[str] = (),
) -> Reply:
    """Return the part of a model's output that is shown, with the whole output beside it if they differ.

    The arguments are those of `shown_text`. A reply that is too long is refused, not cut: a worker would
    judge a line that the system never said.

    Raises:
        ThoughtsOnly: the output contains thoughts and nothing else.
        EmptyReply: nothing visible is left.
        ReplyTooLong: more than LONGEST_REPLY characters are left.
    """
    shown = shown_text(output, opened=opened, at_limit=at_limit, tokens=tokens, labels=labels)
    if not _can_be_seen(shown.text):
        raise _with_output(_nothing_to_show(shown.changes), output)
    if is_too_long(shown.text, LONGEST_REPLY):
        too_long = ReplyTooLong(
            f"the reply has {characters(shown.text)} characters, and {LONGEST_REPLY} are the most that is"
            " shown; make the model answer in fewer words"
        )
        raise _with_output(too_long, output)
    if not shown.changes:
        return Reply(shown.text)
    return Reply(shown.text, _storable(output), shown.changes)


def checked_line(text: str, *, at_limit: bool = False) -> Reply:
    """Return the shown part of a line from a program that should send plain lines, not raw model output.

    Thoughts in such a line count as marks as well: the program should have left them out, and thoughts in a
    format unknown here would be shown to a worker. Raises the same errors as `checked_reply`.
    """
    reply = checked_reply(text, at_limit=at_limit)
    if "thoughts" not in reply.changes:
        return reply
    return replace(reply, changes=_in_order({*reply.changes, "marks"}))


def rechecked(reply: Reply) -> Reply:
    """Return a bot's reply, checked; it may have been checked before. Raises what `checked_reply` does."""
    if reply.output is None:
        if not reply.changes and _is_fine(reply.text):
            return reply
        line = checked_line(reply.text)
        as_it_was = line.text == reply.text and line.changes == reply.changes
        return reply if as_it_was else replace(line, provenance=reply.provenance)
    if not reply.text:
        raise _with_output(_nothing_to_show(reply.changes), reply.output)
    again = checked_reply(reply.text)
    changes = _in_order({*reply.changes, *again.changes})
    return Reply(again.text, reply.output, changes, reply.provenance)


def _is_fine(text: str) -> bool:
    """Return whether a line is shown unchanged: a quick test that agrees with `checked_line`."""
    return is_plain(text) and _can_be_seen(text) and not is_too_long(text, LONGEST_REPLY)


def _can_be_seen(text: str) -> bool:
    first = text[:1]
    if first.isascii() and first.isalnum():  # as nearly every line begins
        return True
    return any(mark.isprintable() and not mark.isspace() and mark not in _BLANK for mark in text)


def _in_order(made: Collection[Change]) -> tuple[Change, ...]:
    return tuple(change for change in CHANGES if change in made)


def _with_output(error: BotError, output: str) -> BotError:
    """Return a failure with the model's output attached, for the analyst."""
    error.output = _storable(output) if output.strip() else None
    return error


def _storable(output: str) -> str:
    return output.translate(_UNSTORABLE)[:LONGEST_OUTPUT]


def _nothing_to_show(changes: Sequence[str]) -> EmptyReply | ThoughtsOnly:
    if "thoughts" in changes:
        return ThoughtsOnly(
            "the model thought and said nothing: raise its budget for thinking, or turn thinking off"
        )
    if "turns" in changes:
        return EmptyReply("the model wrote another speaker's line and none of its own")
    return EmptyReply("the reply was empty")


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
