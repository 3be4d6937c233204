"""`candor host … --redis`: real processes that take work from a real Redis."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bots import BotError, Chat, Turn
from bots.core.ask import ask
from bots.streams import StreamAsker, queue
from tests.bots.support.host_process import COMMAND, REPOSITORY
from tests.support.redis_server import RedisServer
from tests.support.waiting import ENOUGH, until, wait_until

NAME = "ours"
STREAM = f"candor:work:{queue.VERSION}:{NAME}"
ASKS = 12
pytestmark = [pytest.mark.services, pytest.mark.timeout(2 * ENOUGH)]
Start = Callable[..., "subprocess.Popen[str]"]


def chat(number: int) -> Chat:
    return Chat(f"conversation {number}", 1, (), (Turn("worker", "Do you have pets?"),))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A function that starts a host, whose batches gather for a second, so that it can be caught at it."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, environment: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        with (tmp_path / f"host-{len(started)}.log").open("w") as log:
            command = [*COMMAND, "builtin:retrieval", "--name", NAME, "--wait-ms", "1000", *arguments]
            variables = os.environ | (environment or {})
            started.append(
                subprocess.Popen(command, stdout=log, stderr=log, text=True, cwd=REPOSITORY, env=variables)
            )
        return started[-1]

    yield start
    for host in started:
        host.kill()
        host.wait()


def begun_by(redis: RedisServer, host: "subprocess.Popen[str]") -> int:
    """How many asks a host has taken and not answered."""
    with redis.client() as client:
        pending = client.xpending(STREAM, "hosts")
    consumers = pending["consumers"]  # type: ignore[index,call-overload]
    return sum(each["pending"] for each in consumers if f"_{host.pid}-".encode() in each["name"])


def hosts_there(redis: RedisServer) -> int:
    with redis.client() as client:
        return int(client.zcard(f"candor:hosts:{queue.VERSION}:{NAME}"))  # type: ignore[arg-type]


async def test_the_work_of_a_killed_host_is_done_by_the_other_within_the_deadline(
    redis: RedisServer, start: Start
) -> None:
    """Two processes' askers, two hosts; one is killed while it has begun some of the asks."""
    hosts = start("--redis", redis.url), start("--redis", redis.url)
    wait_until(lambda: hosts_there(redis) == 2, "the hosts")
    askers = StreamAsker(redis.url), StreamAsker(redis.url)
    for asker in askers:
        asker.start()
    bots = [asker.replica(NAME) for asker in askers]
    asked = [asyncio.create_task(ask(bots[n % 2], chat(n), 60)) for n in range(ASKS)]
    await until(lambda: any(begun_by(redis, host) for host in hosts))
    victim = next(host for host in hosts if begun_by(redis, host))
    victim.kill()
    replies = await asyncio.gather(*asked)
    assert all(reply.text for reply in replies)
    assert len(replies) == ASKS
    (survivor,) = (host for host in hosts if host is not victim)
    survivor.send_signal(signal.SIGTERM)
    assert survivor.wait(ENOUGH) == 0
    for asker in askers:
        await asker.close()
    with redis.client() as client:
        assert list(client.scan_iter()) == []


async def test_a_host_that_is_told_to_end_answers_what_it_has_begun(redis: RedisServer, start: Start) -> None:
    host = start("--redis", redis.url)
    wait_until(lambda: hosts_there(redis) == 1, "the host")
    asker = StreamAsker(redis.url)
    asker.start()
    asked = asyncio.create_task(asker.replica(NAME).reply(chat(1)))
    await until(lambda: begun_by(redis, host))
    host.send_signal(signal.SIGTERM)
    assert (await asked).text
    assert host.wait(ENOUGH) == 0
    with pytest.raises(BotError, match="no bot host is connected"):
        await asker.replica(NAME).reply(chat(2))
    await asker.close()


def test_a_wrong_password_is_said_at_once(redis: RedisServer, start: Start, tmp_path: Path) -> None:
    with redis.client() as client:
        client.config_set("requirepass", "secret")
    assert start("--redis", redis.url).wait(ENOUGH) == 2
    said = " ".join((tmp_path / "host-0.log").read_text().split())
    assert "Redis does not take this host" in said
    assert "REDISCLI_AUTH" in said
    start("--redis", redis.url, environment={"REDISCLI_AUTH": "secret"})
    wait_until(lambda: "Ready: ours" in (tmp_path / "host-1.log").read_text(), "the host")


def test_what_is_no_address_is_said_at_once(start: Start, tmp_path: Path) -> None:
    assert start("--redis", "nowhere").wait(ENOUGH) == 2
    assert "redis://" in (tmp_path / "host-0.log").read_text()
    assert start("--redis", "redis://x", "--server", "ws://y").wait(ENOUGH) == 2
    assert "give one of them" in (tmp_path / "host-1.log").read_text()
