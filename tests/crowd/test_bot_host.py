"""A bot host dies while a crowd chat: none of them sees an error, no line is lost or doubled."""

import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.local_process import free_port
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, wait_until
from tests.support.warm_process import WarmProcess

WORKERS, CONVERSATIONS, INPUTS = 12, 3, 4
UNDER_WAY = 2  # replies, at least, that a host has begun when it is killed
STUDY = """\
name: short
title: Short chats
payment: Nobody is paid.
systems_per_assignment: 2
minimum_inputs: 4
criteria: [{{label: fun, statement: It was fun.}}]
systems:
  - {{name: first, family: one, bot: ours}}
  - {{name: second, family: two, bot: ours}}
simulate: {{quality: {{first: 0.6, second: 0.5}}}}
timeouts: {{bot_try: 200, bot_total: 400}}
{bots}
"""


class BotHost:
    """`candor host` with a model that takes a second, so that it can be caught at it on a busy machine."""

    def __init__(self, log: Path, *arguments: str) -> None:
        self._log = log
        self._arguments = ["builtin:retrieval", "--name", "ours", "--wait-ms", "1000", *arguments]
        self._process: WarmProcess | None = None
        self.start()

    def start(self) -> None:
        self._process = WarmProcess(["host", *self._arguments], os.environ, self._log)

    @property
    def label(self) -> str:
        """What the host is called among those that dialled in."""
        assert self._process is not None
        return f"_{self._process.pid}/"

    def send(self, what: signal.Signals) -> int:
        """Send a signal that ends the host; return its exit status."""
        assert self._process is not None
        self._process.send_signal(what)
        return self._process.wait(ENOUGH)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.send(signal.SIGKILL)


Start = Callable[..., BotHost]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Start]:
    """A function that starts a host."""
    started: list[BotHost] = []

    def start(*arguments: str) -> BotHost:
        started.append(BotHost(tmp_path / f"host-{len(started)}.log", *arguments))
        return started[-1]

    yield start
    for host in started:
        host.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Any]:
    """A server of its own for each test: its log and its database tell what happened there."""
    (tmp_path / "candor").mkdir()
    running = Server(tmp_path / "candor")
    yield running
    running.stop()


def until(condition: Callable[[], Any], what: str) -> None:
    wait_until(condition, what, ENOUGH)


def study(tmp_path: Path, bots: str = "") -> Path:
    path = tmp_path / "short.yaml"
    path.write_text(STUDY.format(bots=bots))
    return path


def is_ready(url: str) -> bool:
    """Whether the model of a host that listens is loaded."""
    try:
        return bool(httpx2.get(f"{url}/health", timeout=ENOUGH).json()["ready"])
    except httpx2.HTTPError:
        return False


def under_way(url: str) -> int:
    """How many replies a host that listens has begun."""
    try:
        return int(httpx2.get(f"{url}/health", timeout=ENOUGH).json()["under_way"])
    except httpx2.HTTPError:
        return 0


def replicas(server: Any) -> list[dict[str, Any]]:
    """The replicas of the registered bot, as a researcher sees them."""
    headers = {"Authorization": f"Bearer {server.token}"}
    answer = httpx2.get(f"{server.url}/api/desk/bots/ours", headers=headers, timeout=ENOUGH)
    found: list[dict[str, Any]] = answer.json().get("replicas", [])
    return found


def in_flight(server: Any, host: BotHost) -> int:
    return sum(each["in_flight"] for each in replicas(server) if host.label in each["url"])


def crowd(server: Any, log: Path) -> WarmProcess:
    process: WarmProcess = server.crowd("short", "--workers", str(WORKERS), "--seed", "1", "--log", str(log))
    return process


def require_whole(server: Any, workers: WarmProcess, log: Path) -> None:
    """No worker failed; what each was told is stored is stored once; no conversation broke off."""
    output, _ = workers.communicate(timeout=ENOUGH)
    assert workers.returncode == 0, output
    told = [json.loads(line) for line in log.read_text().splitlines()]
    said = Counter(
        (entry["assignment"], entry["message"]["id"], entry["message"]["text"])
        for entry in told
        if entry["message"]["type"] == "say"
    )
    with sqlite3.connect(server.data / "candor.db") as database:
        stored = Counter(
            database.execute(
                "SELECT substr(conversation_id, 1, instr(conversation_id, '-') - 1), client_id, text"
                " FROM turn WHERE author = 'worker'"
            ).fetchall()
        )
        shapes = Counter(
            database.execute(
                "SELECT count(*), count(DISTINCT turn_index), max(turn_index), sum(author = 'worker'),"
                " sum((author = 'worker') = (turn_index % 2 = 0)) FROM turn GROUP BY conversation_id"
            ).fetchall()
        )
        statuses = Counter(database.execute("SELECT status FROM conversation").fetchall())
    assert stored == said
    # Lines 0 to 7 of every conversation, each once, the worker's first.
    assert shapes == {(2 * INPUTS, 2 * INPUTS, 2 * INPUTS - 1, INPUTS, 2 * INPUTS): WORKERS * CONVERSATIONS}
    assert statuses == {("rated",): WORKERS * CONVERSATIONS}


def incidents(server: Any) -> int:
    """How often a bot's failure got as far as a worker's session, which then asked again."""
    with sqlite3.connect(server.data / "candor.db") as database:
        return int(database.execute("SELECT count(*) FROM note WHERE kind = 'bot_error'").fetchone()[0])


def broken_off(server: Any, reason: str) -> int:
    """How many replies were under way on a connection when it was lost, by the server's log."""
    lines = (server.data / "server.log").read_text().splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    return sum(event["event"] == "replica failed" and reason in event["reason"] for event in events)


def test_one_of_two_hosts_at_addresses_is_killed(server: Any, hosts: Start, tmp_path: Path) -> None:
    ports = [free_port(), free_port()]
    urls = [f"http://127.0.0.1:{port}/ours" for port in ports]
    server.open_unchecked(
        study(tmp_path, f"bots: {{ours: {{kind: http, urls: {json.dumps(urls)}}}}}"), "short"
    )
    killed, _ = (hosts("--port", str(port)) for port in ports)
    until(lambda: all(is_ready(url) for url in urls), "two hosts are ready")
    server.start()
    workers = crowd(server, tmp_path / "told.jsonl")
    until(lambda: under_way(urls[0]) >= UNDER_WAY, "the host has replies under way")
    killed.send(signal.SIGKILL)
    require_whole(server, workers, tmp_path / "told.jsonl")
    assert broken_off(server, "the connection broke off") > 0
    assert incidents(server) == 0


def dialled_in(server: Any, hosts: Start, count: int, tmp_path: Path) -> list[BotHost]:
    """Start a server, hosts that dial in to it, and a run with their bot."""
    server.start()
    started = [hosts("--server", server.url, "--token", server.token) for _ in range(count)]
    until(lambda: len(replicas(server)) == count, "the hosts have dialled in")
    server.open_unchecked(study(tmp_path), "short")
    until(
        lambda: httpx2.get(f"{server.url}/w/short", timeout=ENOUGH).status_code == 200,
        "the run can be joined",
    )
    return started


@pytest.mark.soak  # of the hosts at addresses one of two is killed, and of those that dial in the only one
def test_one_of_two_hosts_that_dialled_in_is_killed(server: Any, hosts: Start, tmp_path: Path) -> None:
    killed, _ = dialled_in(server, hosts, 2, tmp_path)
    server.stop()
    server.start()
    until(lambda: len(replicas(server)) == 2, "the hosts are back")
    workers = crowd(server, tmp_path / "told.jsonl")
    until(lambda: in_flight(server, killed) >= UNDER_WAY, "the host has replies under way")
    killed.send(signal.SIGKILL)
    require_whole(server, workers, tmp_path / "told.jsonl")
    assert broken_off(server, "the connection to the bot host was lost") > 0
    assert incidents(server) == 0
    # The one that is left did all the rest.
    (left,) = replicas(server)
    assert left["calls"] > WORKERS * CONVERSATIONS * INPUTS / 4
    assert left["failures"] == 0


@pytest.mark.soak  # as above
def test_the_only_host_at_an_address_is_killed_and_started_again(
    server: Any, hosts: Start, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/ours"
    server.open_unchecked(study(tmp_path, f"bots: {{ours: {{kind: http, urls: [{url}]}}}}"), "short")
    host = hosts("--port", str(port))
    until(lambda: is_ready(url), "the host is ready")
    server.start()
    workers = crowd(server, tmp_path / "told.jsonl")
    until(lambda: under_way(url) >= UNDER_WAY, "the host has replies under way")
    host.send(signal.SIGKILL)
    host.start()
    require_whole(server, workers, tmp_path / "told.jsonl")
    # Whether a failure gets as far as a session depends on how soon the host is back.
    assert broken_off(server, "the connection broke off") > 0


def test_the_only_host_that_dialled_in_is_killed_and_started_again(
    server: Any, hosts: Start, tmp_path: Path
) -> None:
    (host,) = dialled_in(server, hosts, 1, tmp_path)
    workers = crowd(server, tmp_path / "told.jsonl")
    until(lambda: in_flight(server, host) >= UNDER_WAY, "the host has replies under way")
    host.send(signal.SIGKILL)
    host.start()
    require_whole(server, workers, tmp_path / "told.jsonl")
    assert broken_off(server, "the connection to the bot host was lost") > 0
    assert incidents(server) > 0


def test_a_host_that_is_told_to_stop_finishes_its_replies_and_another_does_the_rest(
    server: Any, hosts: Start, tmp_path: Path
) -> None:
    leaving, staying = dialled_in(server, hosts, 2, tmp_path)
    workers = crowd(server, tmp_path / "told.jsonl")
    both = (leaving, staying)
    until(lambda: all(in_flight(server, each) >= UNDER_WAY for each in both), "both share the load")
    assert leaving.send(signal.SIGTERM) == 0
    require_whole(server, workers, tmp_path / "told.jsonl")
    assert broken_off(server, "") == 0
    assert incidents(server) == 0
    (left,) = replicas(server)
    assert staying.label in left["url"]
