"""Micro-batches: who shares one, who is answered, what a failure or a cancellation does to the others."""

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest

from bots import BotError, Chat
from bots.core.failures import EmptyReply
from bots.host.model import MicroBatch, Output
from tests.support.waiting import PATIENCE, until

Talk = Callable[..., Chat]


class Parrot:
    """Repeats the last line; refuses "bad", is silent at "hush"; waits for `gate` and keeps what it saw."""

    name = "parrot"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()

    def replies(self, chats: Sequence[Chat]) -> list[Output]:
        lines = [chat.turns[-1].text for chat in chats]
        self.batches.append(lines)
        self.threads.add(threading.get_ident())
        assert self.gate.wait(PATIENCE)
        if "bad" in lines:
            raise ValueError("a bad line")
        return [Output("" if line == "hush" else line) for line in lines]


async def texts(bot: MicroBatch, chats: Sequence[Chat]) -> list[str | BaseException]:
    replies = await asyncio.gather(*map(bot.reply, chats), return_exceptions=True)
    return [reply if isinstance(reply, BaseException) else reply.text for reply in replies]


async def test_chats_that_come_together_share_a_batch(talk: Talk) -> None:
    model = Parrot()
    chats = [talk(f"line {i}", name=f"c{i}") for i in range(70)]
    found = await texts(MicroBatch(model, wait_ms=200, largest=32), chats)
    assert found == [f"line {i}" for i in range(70)]
    assert [len(batch) for batch in model.batches] == [32, 32, 6]
    assert len(model.threads) == 1
    assert threading.get_ident() not in model.threads


async def test_a_full_batch_does_not_wait(talk: Talk) -> None:
    bot = MicroBatch(Parrot(), wait_ms=600_000, largest=2)
    async with asyncio.timeout(PATIENCE):
        assert await texts(bot, [talk("a", name="a"), talk("b", name="b")]) == ["a", "b"]


async def test_one_conversation_is_never_twice_in_a_batch(talk: Talk) -> None:
    model = Parrot()
    chats = [talk("one", name="same"), talk("two", name="same"), talk("three", name="other")]
    assert await texts(MicroBatch(model, wait_ms=50), chats) == ["one", "two", "three"]
    assert model.batches == [["one", "three"], ["two"]]


async def test_a_chat_that_fails_does_not_fail_the_others(talk: Talk) -> None:
    model = Parrot()
    chats = [talk(line, name=line) for line in ("a", "bad", "b", "hush")]
    first, bad, last, silent = await texts(MicroBatch(model, wait_ms=50), chats)
    assert (first, last) == ("a", "b")
    assert isinstance(bad, BotError)
    assert str(bad) == "ValueError: a bad line"
    assert isinstance(silent, EmptyReply)
    assert "nothing to say" in str(silent)
    assert model.batches == [["a", "bad", "b", "hush"], ["a"], ["bad"], ["b"], ["hush"]]


async def test_a_model_that_miscounts_is_an_error(talk: Talk) -> None:
    class Short(Parrot):
        def replies(self, chats: Sequence[Chat]) -> list[Output]:
            return []

    with pytest.raises(BotError, match="0 replies to 1 chats"):
        await MicroBatch(Short()).reply(talk("a"))


async def test_who_gives_up_before_the_batch_is_not_asked(talk: Talk) -> None:
    model = Parrot()
    bot = MicroBatch(model, wait_ms=0)

    model.gate.clear()
    first = asyncio.create_task(bot.reply(talk("first", name="1")))
    await until(lambda: len(model.batches) == 1)
    gives_up = asyncio.create_task(bot.reply(talk("gives up", name="2")))
    stays = asyncio.create_task(bot.reply(talk("stays", name="3")))
    await asyncio.sleep(0)
    gives_up.cancel()
    model.gate.set()
    done = await asyncio.gather(first, gives_up, stays, return_exceptions=True)
    first, gave_up, stayed = [each if isinstance(each, BaseException) else each.text for each in done]
    assert (first, stayed) == ("first", "stays")
    assert isinstance(gave_up, asyncio.CancelledError)
    assert model.batches == [["first"], ["stays"]]


async def test_who_gives_up_during_the_batch_harms_nobody(talk: Talk) -> None:
    model = Parrot()
    bot = MicroBatch(model, wait_ms=20)

    model.gate.clear()
    gives_up = asyncio.create_task(bot.reply(talk("gives up", name="1")))
    stays = asyncio.create_task(bot.reply(talk("stays", name="2")))
    await until(lambda: model.batches == [["gives up", "stays"]])
    gives_up.cancel()
    model.gate.set()
    assert (await stays).text == "stays"


async def test_a_failed_batch_is_not_repeated_for_who_has_left(talk: Talk) -> None:
    model = Parrot()
    bot = MicroBatch(model, wait_ms=20)

    model.gate.clear()
    leaves = asyncio.create_task(bot.reply(talk("bad", name="1")))
    stays = asyncio.create_task(bot.reply(talk("stays", name="2")))
    await until(lambda: len(model.batches) == 1)
    leaves.cancel()
    model.gate.set()
    assert (await stays).text == "stays"
    assert model.batches == [["bad", "stays"], ["stays"]]


def test_the_same_bot_serves_one_event_loop_after_another(talk: Talk) -> None:
    bot = MicroBatch(Parrot(), wait_ms=1)
    # Each call of asyncio.run is a loop of its own, which is what this is about.
    assert [asyncio.run(bot.reply(talk(line))).text for line in ("a", "b")] == ["a", "b"]
