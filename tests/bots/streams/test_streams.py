"""Bot work over a real Redis: who asks, who answers, and what happens when either, or Redis, goes away."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from redis.exceptions import AuthenticationError
from tenacity import AsyncRetrying, retry_if_exception_type, wait_fixed

from bots import BotError, Chat, Reply, Turn
from bots.core.ask import ask
from bots.core.failures import BotBusy, BotTimeout, ChatRefused
from bots.core.host_protocol import ask_frame
from bots.streams import StreamAsker, StreamConsumer, StreamReplica, queue
from bots.streams import consumer as consumer_module
from tests.support.redis_server import RedisServer
from tests.support.waiting import PATIENCE, until

NAME = "ours"
pytestmark = pytest.mark.services


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs of life come quickly; a host that gives none is soon gone."""
    for module in (queue, consumer_module):
        monkeypatch.setattr(module, "BEAT", 0.05)
    monkeypatch.setattr("bots.streams.asker.BEAT", 0.05)
    monkeypatch.setattr(consumer_module, "PAUSE", 0.1)


def chat(line: str = "Hello?") -> Chat:
    return Chat(f"conversation of {line}", 1, ("I like cats.",), (Turn("worker", line),))


@dataclass
class Gated:
    """Answers with its name and the line it was asked, once its gate is open; fails at "bad"."""

    name: str
    asked: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def reply(self, chat: Chat) -> Reply:
        line = chat.turns[-1].text
        self.asked.append(line)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.given_up.append(line)
            raise
        if line == "bad":
            raise BotError("out of words")
        return Reply(f"{self.name}: {line}")


@dataclass
class Host:
    bot: Gated
    consumer: StreamConsumer
    running: "asyncio.Task[None]"

    async def kill(self) -> None:
        """Vanish: no consumer says good-bye, nothing is handed over."""
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)

    async def leave(self) -> None:
        self.consumer.leave()
        await self.running


@dataclass
class Stage:
    redis: RedisServer
    askers: list[StreamAsker] = field(default_factory=list)
    hosts: list[Host] = field(default_factory=list)

    def asker(self, most_per_host: int = queue.MOST_PER_HOST) -> StreamReplica:
        asker = StreamAsker(self.redis.url, most_per_host)
        asker.start()
        self.askers.append(asker)
        return asker.replica(NAME)

    async def host(self, name: str, room: int = 8, *, stuck: bool = False) -> Host:
        """A host that has given a sign of life."""
        before = self.count()
        bot = Gated(name)
        if stuck:
            bot.gate.clear()
        consumer = StreamConsumer(self.redis.url, NAME, bot, label=name, room=room)
        self.hosts.append(Host(bot, consumer, asyncio.create_task(consumer.run())))
        await until(lambda: self.count() > before)
        return self.hosts[-1]

    def count(self) -> int:
        with self.redis.client() as client:
            return int(client.zcard(f"candor:hosts:{queue.VERSION}:{NAME}"))  # type: ignore[arg-type]

    def keys(self) -> set[str]:
        with self.redis.client() as client:
            return {key.decode() for key in client.scan_iter()}

    def waiting(self) -> int:
        with self.redis.client() as client:
            return int(client.xlen(f"candor:work:{queue.VERSION}:{NAME}"))  # type: ignore[arg-type]

    async def close(self) -> None:
        for host in self.hosts:
            await host.kill()
        for asker in self.askers:
            await asker.close()


@asynccontextmanager
async def staged(redis: RedisServer) -> AsyncIterator[Stage]:
    stage = Stage(redis)
    try:
        async with asyncio.timeout(20):
            yield stage
    finally:
        await stage.close()


async def test_processes_share_hosts_and_nothing_is_left(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        one, two = await stage.host("one", room=1), await stage.host("two", room=1)
        one.bot.gate.clear()
        two.bot.gate.clear()
        askers = stage.asker(), stage.asker()
        asks = [asyncio.create_task(askers[n % 2].reply(chat(f"line {n}"))) for n in range(20)]
        await until(lambda: one.bot.asked and two.bot.asked)
        one.bot.gate.set()
        two.bot.gate.set()
        replies = [reply.text for reply in await asyncio.gather(*asks)]
        assert [text.split(": ")[1] for text in replies] == [f"line {n}" for n in range(20)]
        assert sorted(one.bot.asked + two.bot.asked) == sorted(f"line {n}" for n in range(20))
        await askers[0].probe()
        assert (askers[0].count.hosts, askers[0].count.waiting) == (2, 0)
        await one.leave()
        await two.leave()
        with pytest.raises(BotError, match="no bot host is connected"):
            await askers[0].probe()
        with pytest.raises(BotError, match="no bot host is connected"):
            await askers[1].reply(chat())
        assert stage.keys() == set()


async def test_a_failure_is_of_its_kind_and_not_held_against_the_stream(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        host = await stage.host("one")
        asker = stage.asker()
        with pytest.raises(BotError, match="out of words") as raised:
            await asker.reply(chat("bad"))
        assert (raised.value.kind, raised.value.counts_against_replica) == ("error", False)
        long = Chat("c", 1, (), (Turn("worker", "a" * 30_000),))
        with pytest.raises(ChatRefused, match="too long"):
            await asker.reply(long)
        await host.leave()
        assert stage.keys() == set()


async def test_a_host_that_fails_time_and_again_leaves_the_work_to_others(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "PAUSE", 10 * PATIENCE)
    async with staged(redis) as stage:
        bad = await stage.host("bad")
        asker = stage.asker()
        for _ in range(consumer_module.FAILURES):
            with pytest.raises(BotError, match="out of words"):
                await asker.reply(chat("bad"))
        asked = asyncio.create_task(asker.reply(chat()))
        await until(lambda: stage.waiting() == 1)
        await stage.host("good")
        assert (await asked).text == "good: Hello?"
        assert bad.bot.asked == ["bad"] * consumer_module.FAILURES


async def test_a_host_that_failed_is_tried_again_after_a_pause(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        await stage.host("one")
        asker = stage.asker()
        for _ in range(consumer_module.FAILURES + 1):
            with pytest.raises(BotError, match="out of words"):
                await asker.reply(chat("bad"))
        assert (await asker.reply(chat())).text == "one: Hello?"


async def test_work_of_a_host_that_leaves_in_the_middle_is_done_by_another(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        one = await stage.host("one", stuck=True)
        asked = asyncio.create_task(stage.asker().reply(chat()))
        await until(lambda: one.bot.asked)
        two = await stage.host("two")
        await one.kill()
        assert (await asked).text == "two: Hello?"
        assert two.bot.asked == ["Hello?"]


async def test_a_host_that_leaves_answers_what_redis_has_given_it_and_it_has_not_read_yet(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = queue.WorkQueue.read
    hosts: list[Host] = []

    async def told_to_leave_between(*arguments: Any) -> Sequence[queue.StreamWork]:
        given = await read(*arguments)
        if given:
            hosts[0].consumer.leave()
            await asyncio.sleep(0)
        return given

    async with staged(redis) as stage:
        monkeypatch.setattr(queue.WorkQueue, "read", told_to_leave_between)
        hosts.append(await stage.host("only"))
        assert (await stage.asker().reply(chat())).text == "only: Hello?"


async def test_a_slow_host_is_not_doubled(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "LEASE", 0.4)
    async with staged(redis) as stage:
        slow = await stage.host("slow", stuck=True)
        asked = asyncio.create_task(stage.asker().reply(chat()))
        await until(lambda: slow.bot.asked)
        other = await stage.host("other")
        with stage.redis.client() as client:
            key = f"candor:work:{queue.VERSION}:{NAME}"
            begun = client.time()[0]  # type: ignore[index]
            await until(lambda: client.time()[0] >= begun + 3)  # type: ignore[index]
            (pending,) = client.xpending_range(key, "hosts", "-", "+", 10)  # type: ignore[misc]
        assert pending["times_delivered"] == 1
        slow.bot.gate.set()
        assert (await asked).text == "slow: Hello?"
        assert other.bot.asked == []


async def test_a_full_host_takes_no_more_than_it_has_room_for(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        full = await stage.host("full", room=2, stuck=True)
        asker = stage.asker()
        asks = [asyncio.create_task(asker.reply(chat(f"{n}"))) for n in range(3)]
        await until(lambda: stage.waiting() == 3 and len(full.bot.asked) == 2)
        await stage.host("other")
        done, _ = await asyncio.wait(asks, return_when=asyncio.FIRST_COMPLETED)
        assert [each.result().text.split(":")[0] for each in done] == ["other"]
        full.bot.gate.set()
        assert len(await asyncio.gather(*asks)) == 3


async def test_what_is_more_than_may_wait_is_refused(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        host = await stage.host("one", room=1, stuck=True)
        asker = stage.asker(most_per_host=2)
        asks = [asyncio.create_task(asker.reply(chat(f"{n}"))) for n in range(2)]
        await until(lambda: stage.waiting() == 2)
        with pytest.raises(BotBusy, match="busy: 2 replies wait"):
            await asker.reply(chat())
        await asker.probe()
        assert (asker.count.hosts, asker.count.waiting) == (1, 2)
        host.bot.gate.set()
        await asyncio.gather(*asks)
        assert (await asker.reply(chat())).text == "one: Hello?"


async def test_what_is_given_up_is_removed_and_not_computed(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        host = await stage.host("one", room=1, stuck=True)
        asker = stage.asker()
        begun = asyncio.create_task(asker.reply(chat("begun")))
        await until(lambda: host.bot.asked)
        waits = asyncio.create_task(asker.reply(chat("waits")))
        await until(lambda: stage.waiting() == 2)
        waits.cancel()
        await until(lambda: stage.waiting() == 1)
        begun.cancel()
        await until(lambda: host.bot.given_up == ["begun"])
        host.bot.gate.set()
        assert (await asker.reply(chat("later"))).text == "one: later"
        assert host.bot.asked == ["begun", "later"]


async def test_what_is_past_its_deadline_is_not_computed(redis: RedisServer) -> None:
    """The process that asked has died, so that nobody gives the work up."""
    async with staged(redis) as stage:
        host = await stage.host("one", room=1, stuck=True)
        asker = stage.asker()
        first = asyncio.create_task(asker.reply(chat("first")))
        await until(lambda: host.bot.asked)
        async with queue.connect(redis.url) as client:
            work = queue.WorkQueue(client, NAME)
            await work.add(ask_frame(1, NAME, chat("late")), 0.0, "candor:answers:dead", 10)
        host.bot.gate.set()
        await first
        assert (await asker.reply(chat("next"))).text == "one: next"
        assert host.bot.asked == ["first", "next"]
        assert stage.waiting() == 0


async def test_the_deadline_of_who_asks_travels_with_the_work(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        host = await stage.host("one", stuck=True)
        with pytest.raises(BotTimeout):
            await ask(stage.asker(), chat(), 0.5)
        await until(lambda: host.bot.given_up == ["Hello?"])
        await until(lambda: stage.waiting() == 0)


@pytest.mark.parametrize("junk", [{"ask": "no frame"}, {"nothing": "1"}, {"ask": '{"type":"welcome"}'}])
async def test_work_of_no_kind_is_dropped(redis: RedisServer, junk: dict[str, str]) -> None:
    async with staged(redis) as stage:
        await stage.host("one")
        with redis.client() as client:
            client.xadd(f"candor:work:{queue.VERSION}:{NAME}", {"until": "9999999999999", **junk})  # type: ignore[arg-type]
        await until(lambda: stage.waiting() == 0)
        assert (await stage.asker().reply(chat())).text == "one: Hello?"


async def test_redis_goes_away_and_comes_back_empty(redis: RedisServer) -> None:
    async with staged(redis) as stage:
        host = await stage.host("one", stuck=True)
        asker = stage.asker()
        asked = asyncio.create_task(asker.reply(chat("lost")))
        await until(lambda: host.bot.asked)
        redis.stop()
        with pytest.raises(BotError, match="Redis is away") as raised:
            await asked
        assert raised.value.retry
        with pytest.raises(BotError, match="Redis cannot be asked"):
            await asker.reply(chat())
        with pytest.raises(BotError, match="Redis cannot be asked"):
            await asker.probe()
        redis.start()
        await until(lambda: stage.count() == 1)
        await until(lambda: host.bot.given_up == ["lost"])
        host.bot.gate.set()
        assert (await _again(asker)).text == "one: Hello?"


async def test_redis_is_flushed(redis: RedisServer) -> None:
    """Streams, groups and hosts are gone, and no connection is lost."""
    async with staged(redis) as stage:
        host = await stage.host("one", stuck=True)
        asker = stage.asker()
        asked = asyncio.create_task(asker.reply(chat("lost")))
        await until(lambda: host.bot.asked)
        with redis.client() as client:
            client.flushall()
        with pytest.raises(BotError, match="Redis has lost what was asked") as raised:
            await asked
        assert raised.value.retry
        await until(lambda: stage.count() == 1)
        host.bot.gate.set()
        assert (await _again(asker)).text == "one: Hello?"


async def _again(asker: StreamReplica) -> Reply:
    """Ask as the runtime does: until it works."""
    tries = AsyncRetrying(retry=retry_if_exception_type(BotError), wait=wait_fixed(0.05))
    return await tries(asker.reply, chat())


async def test_what_ends_every_host_does_not_end_all_of_them(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST_BEGUN", 2)
    async with staged(redis) as stage:
        asked: asyncio.Task[Reply] | None = None
        for number in range(2):
            host = await stage.host(f"{number}", stuck=True)
            asked = asked or asyncio.create_task(stage.asker().reply(chat()))
            await until(lambda host=host: host.bot.asked)
            await host.kill()
        spared = await stage.host("spared")
        assert asked is not None
        with pytest.raises(BotError, match="Redis has lost what was asked"):
            await asked
        assert spared.bot.asked == []


@pytest.fixture
def guarded(redis: RedisServer) -> RedisServer:
    with redis.client() as client:
        client.config_set("requirepass", "secret")
    return redis


async def test_a_wrong_password_is_the_end_and_the_right_one_need_not_be_in_the_url(
    guarded: RedisServer,
) -> None:
    consumer = StreamConsumer(guarded.url, NAME, Gated("one"), label="one", room=1)
    with pytest.raises(AuthenticationError):
        await consumer.run()
    async with queue.connect(guarded.url, "secret") as client:
        assert await queue.WorkQueue(client, NAME).count() == queue.WorkCount(0, 0)
