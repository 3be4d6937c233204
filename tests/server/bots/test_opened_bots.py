"""The bots that a process holds: they come and go, and whoever holds one sees it."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from bots import BotError, Chat, Reply, Turn
from bots.serving import BotGone, Endpoint, Replicas
from server.bots.opened_bots import BotHandle, OpenedBots
from server.bots.stored_bots import Registration
from server.news import News, RedisNews
from tests.server.support.study import AT
from tests.server.support.talker import Talker, endpoint, talking
from tests.support.redis_server import RedisServer
from tests.support.waiting import until

CHAT = Chat("c", 1, (), (Turn("worker", "Hello?"),))
DIAL_IN = endpoint({"kind": "dial-in"})


def row(name: str, there: Endpoint, *, enabled: bool = True) -> Registration:
    return Registration(name, there, enabled, AT)


@pytest.fixture
def parrot() -> Iterator[Talker]:
    with talking("Polly speaks.") as talker:
        yield talker


class Host:
    """A host that has dialled in."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.closed = False

    async def reply(self, chat: Chat) -> Reply:
        if self.closed:
            raise BotError("closed")
        return Reply(self.url)

    async def probe(self) -> None:
        """Be well."""

    async def close(self) -> None:
        self.closed = True


def test_a_bot_that_was_never_registered_is_not_there() -> None:
    opened_bots = OpenedBots(refuse_private=False)
    assert opened_bots.registered("parrot") is None
    assert opened_bots.names() == opened_bots.states("parrot") == ()
    with pytest.raises(KeyError):
        opened_bots.attach("parrot", Host("one"))


async def test_one_handle_stays_the_same_through_everything(parrot: Talker) -> None:
    opened_bots = OpenedBots(refuse_private=False)
    there = endpoint(parrot.endpoint)
    opened_bots.hold(row("parrot", there))
    bot = opened_bots.registered("parrot")
    assert bot is not None
    assert (await bot.reply(CHAT)).text == "Polly speaks."
    opened_bots.hold(row("parrot", there, enabled=False))
    with pytest.raises(BotGone, match="parrot: it is disabled"):
        await bot.reply(CHAT)
    assert (opened_bots.names(), len(opened_bots.states("parrot"))) == (("parrot",), 1)
    opened_bots.forget("parrot")
    with pytest.raises(BotGone, match="parrot: it is no longer registered"):
        await bot.reply(CHAT)
    assert opened_bots.registered("parrot") is None
    assert opened_bots.names() == opened_bots.states("parrot") == ()
    opened_bots.hold(row("parrot", there))
    assert opened_bots.registered("parrot") is bot
    assert (await bot.reply(CHAT)).text == "Polly speaks."
    await opened_bots.close()


def test_forgetting_a_bot_that_was_never_there_changes_nothing() -> None:
    opened_bots = OpenedBots(refuse_private=False)
    opened_bots.forget("parrot")
    assert opened_bots.registered("parrot") is None


@pytest.mark.parametrize("disabled", [True, False])
async def test_a_call_that_waits_ends_as_gone_or_as_given_up(parrot: Talker, disabled: bool) -> None:
    """The bot's leaving is told as such; a caller's own giving up stays what it is."""

    opened_bots = OpenedBots(refuse_private=False)
    there = endpoint(parrot.endpoint)
    opened_bots.hold(row("parrot", there))
    bot = opened_bots.registered("parrot")
    assert bot is not None
    parrot.freed.clear()
    call = asyncio.ensure_future(bot.reply(CHAT))
    await until(lambda: parrot.asked > 0)
    if disabled:
        opened_bots.hold(row("parrot", there, enabled=False))
        with pytest.raises(BotGone):
            await call
    else:
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    await opened_bots.close()


async def test_hosts_that_dial_in_are_replicas_of_one_bot() -> None:
    opened_bots = OpenedBots(refuse_private=False)
    opened_bots.hold(row("parrot", DIAL_IN))
    bot = opened_bots.registered("parrot")
    assert bot is not None
    with pytest.raises(BotError, match="no bot host is connected"):
        await bot.reply(CHAT)
    one, two = Host("one"), Host("two")
    opened_bots.attach("parrot", one)
    opened_bots.attach("parrot", two)
    opened_bots.hold(row("parrot", DIAL_IN))  # as at every host's arrival
    assert {(await bot.reply(CHAT)).text for _ in range(2)} == {"one", "two"}
    assert [state.url for state in opened_bots.states("parrot")] == ["one", "two"]
    with pytest.raises(ValueError, match="one is a replica already"):
        opened_bots.attach("parrot", Host("one"))
    await opened_bots.detach("parrot", one)
    assert one.closed
    assert {(await bot.reply(CHAT)).text for _ in range(2)} == {"two"}
    with pytest.raises(KeyError):
        await opened_bots.detach("parrot", one)
    await opened_bots.close()
    assert two.closed


async def test_a_hanging_heartbeat_keeps_no_other_bot_waiting(parrot: Talker) -> None:
    class Hangs(Host):
        beats = 0

        async def probe(self) -> None:
            self.beats += 1
            await asyncio.Event().wait()

    opened_bots = OpenedBots(refuse_private=False, heartbeat=0.01)
    opened_bots.hold(row("macaw", DIAL_IN))
    hangs = Hangs("one")
    opened_bots.attach("macaw", hangs)
    opened_bots.hold(row("parrot", endpoint(parrot.endpoint)))
    opened_bots.start()
    for ready in (False, True, False):
        parrot.ready = ready
        await until(lambda ready=ready: (opened_bots.states("parrot")[0].state != "resting") == ready)
    assert hangs.beats == 1
    await opened_bots.close()


@pytest.mark.parametrize("registered", [True, False], ids=["registered", "of a study"])
async def test_processes_tell_each_other_that_a_provider_is_out_and_that_it_is_back(
    parrot: Talker, registered: bool
) -> None:
    await tell_each_other(parrot, [News()] * 3, registered)


@pytest.mark.services
async def test_they_tell_each_other_over_redis(redis: RedisServer, parrot: Talker) -> None:
    news = [RedisNews(redis.url) for _ in range(3)]
    for each in news:
        each.start()
        await each.connected.wait()
    await tell_each_other(parrot, news, registered=True)
    for each in news:
        await each.close()


async def tell_each_other(parrot: Talker, news: Sequence[News], registered: bool) -> None:
    """Have a provider go out and come back, and look whether each of three processes takes it up."""
    there = endpoint(parrot.endpoint)
    processes = [OpenedBots(refuse_private=False, heartbeat=3600) for _ in news]
    bots: list[BotHandle | Replicas] = []
    at_the_same_address: list[BotHandle] = []
    for opened_bots, its_news in zip(processes, news, strict=True):
        opened_bots.start(news=its_news)
        opened_bots.hold(row("parrot", there))
        opened_bots.hold(row("macaw", there))  # as it may be with another key
        bots.append(_handle(opened_bots, "parrot") if registered else opened_bots.open(there))
        at_the_same_address.append(_handle(opened_bots, "macaw"))
    parrot.freed.clear()
    before = asyncio.create_task(bots[2].reply(CHAT))
    await until(lambda: parrot.asked == 1)
    parrot.status = 401
    with pytest.raises(BotError):
        await bots[0].reply(CHAT)
    await until(lambda: all(bot.is_down for bot in bots))
    with pytest.raises(BotError, match="it requires a key") as refused:
        await bots[1].reply(CHAT)
    assert (refused.value.retry, refused.value.unasked, parrot.asked) == (False, True, 2)
    assert not any(bot.is_down for bot in at_the_same_address)
    parrot.freed.set()
    await before
    await until(lambda: not any(bot.is_down for bot in bots))
    for opened_bots in processes:
        await opened_bots.close()


def _handle(opened_bots: OpenedBots, name: str) -> BotHandle:
    bot = opened_bots.registered(name)
    assert isinstance(bot, BotHandle)
    return bot


async def test_a_fault_in_a_heartbeat_is_not_the_end_of_them(parrot: Talker) -> None:
    class Faulty(Host):
        beats = 0

        async def probe(self) -> None:
            self.beats += 1
            raise RuntimeError("a fault of ours")

    opened_bots = OpenedBots(refuse_private=False, heartbeat=0.01)
    opened_bots.hold(row("macaw", DIAL_IN))
    faulty = Faulty("one")
    opened_bots.attach("macaw", faulty)
    opened_bots.start()
    await until(lambda: faulty.beats >= 3)
    await opened_bots.close()


async def test_a_bot_whose_key_is_missing_is_gone_until_it_is_there(
    parrot: Talker, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed = endpoint(parrot.endpoint | {"key": "PARROT_API_KEY"})
    monkeypatch.delenv("PARROT_API_KEY", raising=False)
    opened_bots = OpenedBots(refuse_private=False)
    opened_bots.hold(row("parrot", keyed))
    assert opened_bots.names() == ("parrot",)
    with pytest.raises(ValueError, match="PARROT_API_KEY"):
        opened_bots.registered("parrot")
    with pytest.raises(ValueError, match="PARROT_API_KEY"):
        await opened_bots.require_openable(keyed)
    monkeypatch.setenv("PARROT_API_KEY", "hush")
    await opened_bots.require_openable(keyed)
    opened_bots.hold(row("parrot", keyed))
    bot = opened_bots.registered("parrot")
    assert bot is not None
    assert (await bot.reply(CHAT)).text == "Polly speaks."
    await opened_bots.close()
