"""Whatever a bot does, who asks it gets a checked reply or a failure of a kind."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bots import Chat, Reply, Turn
from bots.core.failures import BotBusy, BotError, BotGone, BotTimeout, EmptyReply, ReplyTooLong
from bots.serving import PunctualBot, ask

CHAT = Chat("c1", 7, (), (Turn("worker", "Hello?"),))
LONG = 20.0  # seconds: nothing here takes as long


class Does:
    """A bot that does what a function does."""

    def __init__(self, deed: Callable[[], Awaitable[Any]]) -> None:
        self._deed = deed

    async def reply(self, chat: Chat) -> Any:
        return await self._deed()


def says(text: Any) -> Does:
    async def deed() -> Reply:
        return Reply(text)

    return Does(deed)


def raises(error: BaseException) -> Does:
    async def deed() -> Reply:
        raise error

    return Does(deed)


async def hang() -> Reply:
    return await asyncio.get_running_loop().create_future()


async def return_nothing() -> None:
    return None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  spaced \n", "spaced"),
        ("a\x00b\x1bc\ud800d\x7f", "abcd"),
        ("two\r\nlines\tand a tab", "two\nlines and a tab"),
        ("\u202eleft\u202c and \u200bright", "left and right"),
        ("👩\u200d🚀", "👩\u200d🚀"),  # what joins two signs to one stays
        ("x" * 2_000 + " \x00", "x" * 2_000),
        ("\U0001f44d\U0001f3fd" * 2_000, "\U0001f44d\U0001f3fd" * 2_000),  # two code points each
    ],
    ids=[
        "spaces",
        "controls",
        "lines",
        "direction",
        "joined",
        "as long as can be",
        "as long by what is seen",
    ],
)
async def test_a_reply_comes_as_it_can_be_shown(text: str, shown: str) -> None:
    assert (await ask(says(text), CHAT, LONG)).text == shown


@pytest.mark.parametrize("error", [BotError("tired"), BotBusy("busy"), BotGone("deleted")])
async def test_a_failure_that_the_bot_knows_of_comes_as_it_is(error: BotError) -> None:
    with pytest.raises(BotError) as caught:
        await ask(raises(error), CHAT, LONG)
    assert caught.value is error


@pytest.mark.parametrize(
    ("bot", "kind", "message"),
    [
        (says(" \n\t "), EmptyReply, "the reply was empty"),
        (says("\u200b\u2060"), EmptyReply, "the reply was empty"),
        (
            says("x" * 2_001),
            ReplyTooLong,
            "the reply has 2001 characters, and 2000 are the most that is shown; make the model answer in"
            " fewer words",
        ),
        (raises(TimeoutError("its own")), BotTimeout, "no reply within 20 s"),
        (raises(ValueError("a defect")), BotError, "ValueError: a defect"),
        (raises(asyncio.CancelledError()), BotError, "CancelledError: the bot gave up its own work"),
        (says(None), BotError, "its reply is not text, but NoneType"),
        (Does(return_nothing), BotError, "AttributeError: 'NoneType' object has no attribute 'text'"),
    ],
    ids=["blank", "invisible", "long", "times out", "raises", "cancels itself", "no text", "nothing"],
)
async def test_whatever_else_a_bot_does_is_a_failure(bot: Does, kind: type[BotError], message: str) -> None:
    with pytest.raises(BotError) as caught:
        await ask(bot, CHAT, LONG)
    assert (type(caught.value), str(caught.value)) == (kind, message)


@pytest.mark.parametrize(
    ("patience", "message"),
    [(0.01, "no reply within 0.01 s"), (0.0, "no reply within 0 s"), (-3.0, "no reply within 0 s")],
)
async def test_a_bot_that_hangs_is_given_up(patience: float, message: str) -> None:
    with pytest.raises(BotTimeout, match=f"^{message}$"):
        await ask(Does(hang), CHAT, patience)


async def test_a_caller_that_is_cancelled_is_cancelled() -> None:
    asking = asyncio.create_task(ask(Does(hang), CHAT, LONG))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


class Punctual(PunctualBot):
    """A bot of our own that tells how long it was given, in a line that nobody else could show."""

    async def reply(self, chat: Chat) -> Reply:
        raise AssertionError("it is told its time")

    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        return Reply(f"\u200b{patience}")


class Defective(Punctual):
    async def reply_within(self, chat: Chat, patience: float) -> Reply:
        raise ZeroDivisionError("a defect")


async def test_a_punctual_bot_is_told_its_time_and_its_reply_not_checked_again() -> None:
    assert await ask(Punctual(), CHAT, LONG) == Reply(f"\u200b{LONG}")


async def test_a_punctual_bot_with_a_defect_is_a_failure() -> None:
    with pytest.raises(BotError, match="ZeroDivisionError: a defect"):
        await ask(Defective(), CHAT, LONG)


async def test_a_bot_that_never_waits_needs_no_patience_and_is_checked() -> None:
    assert (await ask(says(" Hi\u200b"), CHAT, None)).text == "Hi"
    with pytest.raises(EmptyReply):
        await ask(says(""), CHAT, None)
    with pytest.raises(BotError, match="ValueError: a defect"):
        await ask(raises(ValueError("a defect")), CHAT, None)
