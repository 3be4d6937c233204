"""Several processes on one machine: what happens to their pages when they end, die, or are replaced."""

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import create_engine, text

from bots.builtin import open_bot
from bots.corpus import load_corpus
from bots.crowd.crowd import PatientClient
from bots.crowd.profile import PROFILES
from bots.crowd.talk import OwnChat, Retrieved, Speaker
from bots.crowd.view import Message
from bots.crowd.worker import Diary, SimulatedWorker
from bots.researcher_api import ResearcherClient, access
from tests.crowd.test_crowd import open_demo
from tests.needs import need_services
from tests.support import redis_server
from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, until, wait_until

pytestmark = [pytest.mark.services, pytest.mark.timeout(3 * ENOUGH)]
PROCESSES = 2
WORKERS = 8
INPUTS = 3  # of a conversation; the demo study asks for 10
LINES = 6 * INPUTS  # that a worker says
PACE = 0.1  # of people's reply times: the workers are in the middle of it while the processes are replaced


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """The Redis of this module."""
    need_services()
    with redis_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[str]:
    """The URL of the database of this module."""
    with postgres.database(migrated=False) as url:
        yield url


@pytest.fixture(scope="module")
def cluster(database: str, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of two processes, which each test leaves as it was; the last test ends it."""
    environment = {
        "CANDOR_DATABASE_URL": database,
        "CANDOR_REDIS_URL": redis.url,
        "CANDOR_DRAIN_SECONDS": "60",
    }
    data = tmp_path_factory.mktemp("cluster")
    server = Server(data, "--processes", str(PROCESSES), environment=environment)
    server.start()
    # The first of them answers while others start; a process that dies then ends the server, and should.
    wait_until(lambda: "is ready" in log_of(server).read_text(), "all of the processes")
    yield server
    server.stop()


@pytest.fixture
def log(cluster: Server) -> Callable[[], str]:
    """A function that returns what the processes have logged since the test began."""
    file = log_of(cluster)
    before = file.stat().st_size

    def logged() -> str:
        return file.read_bytes()[before:].decode()

    return logged


def log_of(server: Server) -> Path:
    return server.data / "server.log"


def processes(server: Server) -> set[int]:
    """Return the ids of the processes that serve."""
    supervisor = server.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    return set(map(int, children))


def readiness(server: Server) -> dict[str, object]:
    answer: dict[str, object] = httpx2.get(f"{server.url}/readyz", timeout=ENOUGH).json()
    return answer


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Acknowledgements:
    """What a crowd was told is stored: the ids of its lines, by assignment."""

    def __init__(self) -> None:
        self.lines: Counter[tuple[str, str]] = Counter()

    def note(self, assignment: str, message: Message) -> None:
        if message["type"] == "say":
            self.lines[assignment, message["id"]] += 1


class StayingSpeaker:
    """Says a worker's lines as `speaker` does, but the last of them only after `replaced` is set."""

    def __init__(self, speaker: Speaker, replaced: asyncio.Event) -> None:
        self._speaker = speaker
        self._replaced = replaced
        self._lines = 0

    async def say(self, chat: OwnChat) -> str:
        self._lines += 1
        if self._lines == LINES:
            await self._replaced.wait()
        return await self._speaker.say(chat)


async def test_a_rolling_restart_costs_a_page_one_connection_at_most_and_loses_nothing(
    cluster: Server, database: str, log: Callable[[], str]
) -> None:
    open_demo(cluster, "short", INPUTS)
    old = processes(cluster)
    acknowledged = Acknowledgements()
    replaced = asyncio.Event()
    way_in = access(cluster.url, cluster.token)
    speaker = Retrieved(open_bot("builtin:retrieval", load_corpus("builtin:smalltalk")))
    with ResearcherClient(way_in) as client, PatientClient(client, ENOUGH) as patient:
        crowd = [
            SimulatedWorker(
                name=f"worker-{number}",
                profile=PROFILES["honest"](random.Random(number)),
                rng=random.Random(number),
                speaker=StayingSpeaker(speaker, replaced),
                client=patient,
                socket_url=f"ws://127.0.0.1:{cluster.port}/ws",
                patience=ENOUGH,
                diary=Diary(partial(acknowledged.note)),
            )
            for number in range(WORKERS)
        ]
        tasks = [asyncio.create_task(worker.run("short", PACE)) for worker in crowd]
        await until(lambda: len({assignment for assignment, _ in acknowledged.lines}) == WORKERS)
        cluster.process.send_signal(signal.SIGHUP)
        await until(lambda: "the processes were replaced" in log())
        assert any(not task.done() for task in tasks), "the crowd was gone too early"
        replaced.set()
        await asyncio.gather(*tasks)
    assert [worker.diary.failure for worker in crowd] == [None] * WORKERS
    assert max(worker.diary.reconnects for worker in crowd) == 1
    assert not old & processes(cluster)
    engine = create_engine(database)
    with engine.connect() as connection:
        rows = connection.execute(
            text("SELECT split_part(conversation_id, '-', 1), client_id FROM turn WHERE author = 'worker'")
        )
        stored = Counter((assignment, client_id) for assignment, client_id in rows)
    engine.dispose()
    assert stored == acknowledged.lines
    assert set(stored.values()) == {1}


@contextmanager
def schema_version(database: str, version: str) -> Iterator[None]:
    """Let the database say that its schema is of another version."""
    engine = create_engine(database)
    changed = text("UPDATE alembic_version SET version_num = :version")
    with engine.begin() as connection:
        own = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        connection.execute(changed, {"version": version})
    yield
    with engine.begin() as connection:
        connection.execute(changed, {"version": own})
    engine.dispose()


def test_where_a_new_process_does_not_start_the_old_ones_are_kept(
    cluster: Server, database: str, log: Callable[[], str]
) -> None:
    """As with a new version whose schema the database does not have."""
    old = processes(cluster)
    with schema_version(database, "0001"):
        cluster.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the processes were not replaced" in log(), "the refusal")
    wait_until(lambda: processes(cluster) == old, "the new process to be gone")
    assert "the database's schema is 0001" in log()
    assert httpx2.get(f"{cluster.url}/healthz", timeout=ENOUGH).status_code == 200


def test_a_process_that_dies_is_started_again(cluster: Server, log: Callable[[], str]) -> None:
    before = processes(cluster)
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: victim not in processes(cluster), "the process to be gone")
    assert readiness(cluster)["ready"], readiness(cluster)  # the other one
    wait_until(lambda: len(processes(cluster)) == PROCESSES, "another process")
    assert victim not in processes(cluster)
    assert "a process ended by itself" in log()


def test_the_processes_end_with_their_supervisor(cluster: Server) -> None:
    cluster.kill()
    wait_until(lambda: is_free(cluster.port), "the port to be free")


def test_a_process_that_cannot_start_ends_the_server(
    postgres: Postgres, redis: RedisServer, tmp_path: Path
) -> None:
    script = (
        "import runpy;"
        "import server.process.supervisor as supervisor; supervisor._MODULE = 'server.no_such_module';"
        "runpy.run_module('server', run_name='__main__')"
    )
    port, data = str(Server(tmp_path).port), str(tmp_path)
    command = [sys.executable, "-c", script, "serve", "--processes", "2", "--data", data, "--port", port]
    with postgres.database() as database:
        done = subprocess.run(
            command,
            env=os.environ | {"CANDOR_DATABASE_URL": database, "CANDOR_REDIS_URL": redis.url},
            capture_output=True,
            text=True,
            timeout=ENOUGH,
            check=False,
        )
    assert done.returncode == 2
    assert "a process of the server did not start" in done.stderr
