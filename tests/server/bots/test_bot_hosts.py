"""The builtin bots in processes of their own: real ones, which are killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
import uvloop

from bots import Bot, BotError, Chat, Turn, load_corpus, open_bot
from bots.core.failures import BotTimeout
from bots.core.host_protocol import CannotHold, Drain
from bots.serving import BotGone, HostSession, Offer
from bots.serving import ask as ask_as_the_runtime_does
from server.bots import bot_hosts
from server.bots.bot_hosts import BotHosts
from server.bots.opened_bots import OpenedBots
from tests.server.support.commands import REPOSITORY
from tests.server.support.database import make_run, query
from tests.server.support.server import House
from tests.support.waiting import PATIENCE, until, wait_until

Children = Callable[[], list[psutil.Process]]
SMALL_TALK = "builtin:smalltalk"
CHAT = Chat("c", 7, ("I have three cats.",), (Turn("worker", "Hello! Do you have any pets?"),))


def hosts_of(process: int | None = None) -> list[psutil.Process]:
    """Return the bot hosts that a process, or this one, has started, and that run."""
    return [child for child in psutil.Process(process).children() if is_host(child)]


def is_host(process: psutil.Process) -> bool:
    try:
        return "bots.host.child" in process.cmdline()
    except psutil.NoSuchProcess:  # ended, and perhaps not yet waited for: a zombie
        return False


@pytest.fixture
def children() -> Children:
    """Return a function that finds the bot hosts that this process has started since the test began.

    Others may run beside them: those of the `shared` server, once a test has opened a run there.
    """
    before = hosts_of()
    return lambda: [host for host in hosts_of() if host not in before]


@pytest.fixture
async def hosts() -> AsyncIterator[BotHosts]:
    hosts = BotHosts(1)
    hosts.start()
    yield hosts
    await hosts.close()


async def ask(bot: Bot, chat: Chat = CHAT) -> str:
    async with asyncio.timeout(PATIENCE):
        return (await bot.reply(chat)).text


@pytest.mark.parametrize("spec", ["builtin:reflect", "builtin:retrieval", "qc"])
async def test_a_bot_answers_as_it_does_here(hosts: BotHosts, spec: str) -> None:
    expected = await open_bot(spec, load_corpus(SMALL_TALK)).reply(CHAT)
    assert await ask(hosts.open(spec, SMALL_TALK)) == expected.text


async def test_no_process_is_started_before_there_is_a_bot_and_none_stays(
    children: Children, hosts: BotHosts
) -> None:
    assert children() == []
    bot = hosts.open("qc", SMALL_TALK)
    assert len(children()) <= 1
    await ask(bot)
    assert hosts.open("qc", SMALL_TALK) is bot
    (child,) = children()
    await hosts.close()
    assert not child.is_running()
    with pytest.raises(BotError, match="runs no bot hosts now"):
        await bot.reply(CHAT)


async def test_several_processes_share_the_work(children: Children) -> None:
    hosts = BotHosts(2)
    bot = hosts.open("builtin:reflect", SMALL_TALK)
    hosts.start()
    try:
        await asyncio.gather(*(ask(bot) for _ in range(10)))
        await until(lambda: len(children()) == 2)
        one, other = children()
        one.kill()
        await asyncio.gather(*(answered_at_last(bot) for _ in range(50)))
        assert other.is_running()
    finally:
        await hosts.close()


async def answered_at_last(bot: Bot) -> str:
    """Ask as the runtime does: again, where that is of use."""
    while True:
        try:
            return await ask(bot)
        except BotError as error:
            if not error.retry:
                raise
            await asyncio.sleep(0.01)


async def test_what_was_asked_of_a_process_that_dies_fails_and_another_one_answers(
    children: Children, hosts: BotHosts
) -> None:
    bot = hosts.open("builtin:reflect", SMALL_TALK)
    await ask(bot)
    (child,) = children()
    child.send_signal(signal.SIGSTOP)
    asks = [asyncio.create_task(ask(bot)) for _ in range(5)]
    await asyncio.sleep(0)
    child.kill()
    for failure in await asyncio.gather(*asks, return_exceptions=True):
        assert isinstance(failure, BotError), failure
        assert failure.retry
        assert str(failure) == "the bot host has ended"
    assert await ask(bot)
    (new,) = children()
    assert new.pid != child.pid


async def test_a_process_that_hangs_fails_an_ask_when_its_time_is_over(
    children: Children, hosts: BotHosts
) -> None:
    bot = hosts.open("builtin:reflect", SMALL_TALK)
    await ask(bot)
    (child,) = children()
    child.send_signal(signal.SIGSTOP)
    with pytest.raises(BotTimeout, match="no reply within"):
        await ask_as_the_runtime_does(bot, CHAT, 0.2)
    child.send_signal(signal.SIGCONT)
    assert await ask(bot)
    assert children() == [child]


async def test_a_bot_that_is_not_there_in_time_is_late() -> None:
    hosts = BotHosts(0)
    hosts.start()
    bot = hosts.open("builtin:reflect", SMALL_TALK)
    with pytest.raises(BotTimeout, match="no reply within"):
        await ask_as_the_runtime_does(bot, CHAT, 0.01)


@pytest.fixture
def looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hosts looked after often; they have as long as they need for their start."""
    monkeypatch.setattr(bot_hosts, "LOOK_SECONDS", 0.4)
    monkeypatch.setattr(bot_hosts, "MOST_SILENT_AT_FIRST", 1_000)


@pytest.mark.usefixtures("looked_at_often")
async def test_a_process_that_hangs_is_replaced_and_what_it_was_asked_fails(
    children: Children, hosts: BotHosts
) -> None:
    bot = hosts.open("builtin:reflect", SMALL_TALK)
    await answered_at_last(bot)
    (child,) = children()
    child.send_signal(signal.SIGSTOP)  # it is there, reads nothing and says nothing
    asks = [asyncio.create_task(ask(bot)) for _ in range(5)]
    for failure in await asyncio.gather(*asks, return_exceptions=True):
        assert isinstance(failure, BotError), failure
        assert failure.retry
        assert str(failure) == "the bot host has ended"
    await until(lambda: not child.is_running())
    assert await answered_at_last(bot)
    (new,) = children()
    assert new.pid != child.pid


class Counting(HostSession):
    """A session that counts how often its host has said that it is alive."""

    alive = 0

    def receive(self, received: str | bytes) -> Offer | CannotHold | Drain | None:
        Counting.alive += b'"alive"' in received  # type: ignore[operator]
        return super().receive(received)


@pytest.mark.usefixtures("looked_at_often")
async def test_a_process_that_has_nothing_to_do_says_that_it_is_alive(
    hosts: BotHosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_hosts, "HostSession", Counting)
    hosts.open("qc", SMALL_TALK)
    await until(lambda: Counting.alive >= bot_hosts.MOST_SILENT)


async def test_a_bot_that_cannot_be_loaded_is_gone_and_the_others_answer(
    hosts: BotHosts, tmp_path: Path
) -> None:
    gone = hosts.open("builtin:retrieval", str(tmp_path / "gone.txt"))
    with pytest.raises(BotGone, match="no such file"):
        await ask(gone)
    assert await ask(hosts.open("qc", SMALL_TALK))


async def test_an_ask_that_is_too_long_fails_alone(hosts: BotHosts) -> None:
    bot = hosts.open("qc", SMALL_TALK)
    endless = Chat("c", 1, (), (Turn("worker", "x" * 30_000),))
    with pytest.raises(BotError, match="too long"):
        await ask(bot, endless)
    assert await ask(bot)


def test_a_host_that_hears_nothing_any_more_ends() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bots.host.child"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert b"hello" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)  # meant for the server
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


def test_workers_lose_nothing_where_a_host_is_killed_again_and_again(
    url: str, serve: Callable[..., House], children: Children
) -> None:
    opened_bots = OpenedBots(refuse_private=False)
    run = make_run(url, bots=opened_bots.built_in("builtin:reflect", SMALL_TALK))
    house = serve(url, run, opened_bots=opened_bots)
    with house.page() as page:
        page.agree()
        page.open_topic()
        for number in range(4):
            wait_until(children, "a bot host")
            os.kill(children()[0].pid, signal.SIGKILL)
            page.say(f"line {number}")
    said = query(url, "SELECT count(*) FROM turn WHERE author = 'bot'")
    assert said == [(4,)]


@pytest.mark.usefixtures("looked_at_often")
def test_a_worker_is_answered_though_the_host_hangs(
    url: str, serve: Callable[..., House], children: Children
) -> None:
    opened_bots = OpenedBots(refuse_private=False)
    run = make_run(url, bots=opened_bots.built_in("builtin:reflect", SMALL_TALK))
    house = serve(url, run, opened_bots=opened_bots)
    with house.page() as page:
        page.agree()
        page.open_topic()
        page.say("Hello!")
        (host,) = children()
        host.send_signal(signal.SIGSTOP)
        page.say("Are you there?")
    assert not host.is_running()
    assert query(url, "SELECT count(*) FROM turn WHERE author = 'bot'") == [(2,)]
    assert query(url, "SELECT DISTINCT kind FROM note") == [("bot_error",)]


def test_a_server_that_is_killed_leaves_no_host_behind(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from bots import Chat, Turn\n"
        "from server.bots.bot_hosts import BotHosts\n"
        "async def main():\n"
        "    hosts = BotHosts(1)\n"
        "    bot = hosts.open('qc', 'builtin:smalltalk')\n"
        "    hosts.start()\n"
        "    await bot.reply(Chat('c', 1, (), (Turn('worker', 'Hi'),)))\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    server = subprocess.Popen([sys.executable, "-c", script], cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    (host,) = hosts_of(server.pid)
    server.kill()
    server.wait()
    server.stdout.close()
    psutil.wait_procs([host], PATIENCE)
    assert not host.is_running()


# Imported by itself, in a process of its own.
_LIST = """
import sys, server.app, server.cli.serve
names = [name for name in sys.modules if name.startswith(("bots.builtin.", "bots.qc_bots.", "bots.host"))]
print(*sorted(names))
"""


def test_a_server_imports_no_builtin_bot() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIST], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_a_line_for_a_host_that_has_just_ended_is_dropped() -> None:
    """As uvloop has it, writing to it was an exception that nobody caught."""

    async def tell() -> list[object]:
        told: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: told.append(context))
        reading, writing = os.pipe()
        with os.fdopen(reading):
            pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb"))
            sender = bot_hosts._LineSender(pipe)
            pipe.abort()
            for _ in range(3):
                await asyncio.sleep(0)
            sender.send("{}")
            await asyncio.sleep(0)
        return told

    assert uvloop.run(tell()) == []
