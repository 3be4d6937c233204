"""An installation, a crowd in it, and trouble of every kind while the crowd takes part.

Web processes with a bot host each, a PostgreSQL and a Redis, all of them real. What happens next is drawn
with a fixed seed; when, is fixed by how much the crowd was told is stored.
"""

import os
import random
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import yaml

from tests.needs import need_services
from tests.support import postgres as postgres_server
from tests.support import redis_server
from tests.support.bad_network import Link, link
from tests.support.postgres import Postgres
from tests.support.redis_server import RedisServer
from tests.support.server_process import Server
from tests.support.set_clock import SetClock
from tests.support.small_disk import SmallDisk, mounted
from tests.support.tally import Tally, count
from tests.support.waiting import wait_until
from tests.support.warm_process import WarmProcess

DEMO = Path(__file__).parents[2] / "server" / "studies" / "demo.yaml"
SOAK = int(os.environ.get("CANDOR_SOAK", "0"))  # `make soak`: so many times 20 workers and 40 troubles
WORKERS, INPUTS = 20 * SOAK or 12, 10 if SOAK else 3
A_STORM = 1_200 if SOAK else 600  # seconds, more than enough on a machine that is busy with other things
DISK = 1_500 if SOAK else 300  # megabytes that the database has
A_MOMENT = 3.0 if SOAK else 1.5  # seconds at most for which a part is stopped or silent
CONVERSATIONS = 6
PROCESSES = 2


class Installation(ABC):
    """Servers on a PostgreSQL and a Redis, and how a crowd reaches them."""

    workers = WORKERS

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.folder = folder
        place = stack.enter_context(postgres_server.own_folder())
        # Where nobody may mount anything, the database has the machine's disk, which is never full.
        self.disk = stack.enter_context(mounted(place, DISK))
        self.postgres: Postgres = stack.enter_context(postgres_server.serving_in(place))
        self.redis: RedisServer = stack.enter_context(redis_server.serving())
        self.database = stack.enter_context(self.postgres.database(migrated=False))
        self.servers: list[Server] = []
        self.log = folder / "acknowledged.jsonl"
        self.log.touch()
        self._told = stack.enter_context(self.log.open("rb"))
        self._acknowledgements = 0

    @abstractmethod
    def crowd(self) -> WarmProcess:
        """Open the study and start its workers."""

    @property
    def options(self) -> list[str]:
        """The crowd's, beside where the server is."""
        return ["--workers", str(self.workers), "--patience", str(A_STORM), "--log", str(self.log)]

    @property
    def said(self) -> str:
        return "".join((server.data / "server.log").read_text() for server in self.servers)

    def acknowledgements(self) -> int:
        self._acknowledgements += self._told.read().count(b"\n")
        return self._acknowledgements

    def webs(self) -> list[psutil.Process]:
        """Return the web processes that there are, of each server the oldest first."""
        return [
            each
            for server in self.servers
            for each in psutil.Process(server.process.pid).children()
            if _is(each, "web_process")
        ]

    def hosts(self) -> list[psutil.Process]:
        """Return the bot hosts that servers have started for themselves."""
        with suppress(psutil.NoSuchProcess):
            found = [
                each
                for server in self.servers
                for each in psutil.Process(server.process.pid).children(recursive=True)
            ]
            return [each for each in found if _is(each, "bots.host.child")]
        return []

    def backends(self) -> list[int]:
        """Return the processes of PostgreSQL that serve ours."""
        asking = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with psycopg.connect(self.database.replace("+psycopg", ""), autocommit=True) as connection:
            return [pid for (pid,) in connection.execute(asking)]


class Stage(Installation):
    """One server of several processes. Pages, database and Redis are reached over links that can be bad."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        super().__init__(stack, folder)
        self.to_database = stack.enter_context(link(self.postgres.port))
        self.to_redis = stack.enter_context(link(self.redis.port))
        environment = {
            "CANDOR_DATABASE_URL": self.database.replace(
                f":{self.postgres.port}/", f":{self.to_database.port}/"
            ),
            "CANDOR_REDIS_URL": self.redis.url.replace(f":{self.redis.port}/", f":{self.to_redis.port}/"),
        }
        self.clock = SetClock(folder)
        server = Server(
            folder,
            "--processes",
            str(PROCESSES),
            environment=environment | self.clock.environment,
            interpreter=[sys.executable, "-m", "server"],  # a library is loaded as a process starts
        )
        self.servers.append(server)
        server.start()
        stack.callback(server.stop)
        wait_until(lambda: "is ready" in self.said, "all of the processes")
        self.to_server = stack.enter_context(link(server.port))

    def crowd(self) -> WarmProcess:
        """Start the workers of a study of the demo's systems, over the link to the server."""
        (server,) = self.servers
        study = self.folder / "storm.yaml"
        content = yaml.safe_load(DEMO.read_text()) | {"minimum_inputs": INPUTS}
        study.write_text(yaml.safe_dump(content))
        server.open_run(study, "storm")
        direct, server.url = server.url, f"http://127.0.0.1:{self.to_server.port}"
        started = server.crowd("storm", *self.options)
        server.url = direct
        return started


def _is(process: psutil.Process, module: str) -> bool:
    with suppress(psutil.Error):
        return any(module in word for word in process.cmdline())
    return False


# ---- what happens to an installation -----------------------------------------------------------


class Trouble:
    """Makes one kind of trouble at a time; each method returns when the trouble itself is over."""

    def __init__(self, stage: Installation, rng: random.Random) -> None:
        self._stage = stage
        self._rng = rng

    def web_killed(self) -> None:
        self._kill(self._stage.webs())

    def bot_host_killed(self) -> None:
        self._kill(self._stage.hosts())

    def redis_killed(self) -> None:
        self._stage.redis.stop()
        self._a_moment()
        self._stage.redis.start()

    def backend_terminated(self) -> None:
        for pid in self._stage.backends()[:2]:
            self._stage.postgres.execute(f"SELECT pg_terminate_backend({pid})")

    def backend_killed(self) -> None:
        """PostgreSQL ends all of its processes then, and recovers from its log."""
        backends = self._stage.backends()
        if backends:
            with suppress(ProcessLookupError):
                os.kill(self._rng.choice(backends), signal.SIGKILL)
        wait_until(self._stage.postgres.answers, "PostgreSQL to recover")

    def postgres_restarted(self) -> None:
        self._stage.postgres.stop()
        self._stage.postgres.start()

    def postgres_crashed(self) -> None:
        self._stage.postgres.kill()
        self._stage.postgres.start()

    def disk_full(self, disk: SmallDisk) -> None:
        """PostgreSQL refuses what is written then, or ends itself; somebody makes room and starts it."""
        disk.fill()
        with suppress(psycopg.Error):  # its log wants a file of 16 MB for each
            for _ in range(5):
                self._stage.postgres.execute("SELECT pg_logical_emit_message(false, '', ''), pg_switch_wal()")
        self._a_moment()
        disk.free()
        if not self._stage.postgres.runs:
            self._stage.postgres.kill()
            self._stage.postgres.start()

    def clock_set(self, clock: SetClock) -> None:
        """Now that of the servers, and not the database's nor the pages', is wrong by up to a minute."""
        clock.set(self._rng.uniform(-60, 60))
        self._a_moment()

    def rolling_restart(self) -> None:
        for server in self._stage.servers:
            server.process.send_signal(signal.SIGHUP)

    def web_paused(self, to_server: Link) -> None:
        """Its pages go elsewhere meanwhile; it comes back believing that it has their sessions."""
        wait_until(lambda: len(self._stage.webs()) >= PROCESSES, "another process")
        paused = self._rng.choice(self._stage.webs())
        with suppress(psutil.NoSuchProcess):
            paused.suspend()
            to_server.cut()
            self._a_moment()
            paused.resume()

    def cut(self, link_: Link) -> None:
        link_.cut()

    def half_closed(self, link_: Link) -> None:
        link_.half_close()

    def delayed(self, link_: Link) -> None:
        link_.delay(0.2)
        self._a_moment()
        link_.recover()

    def stalled(self, link_: Link) -> None:
        link_.stall()
        self._a_moment()
        link_.recover()

    def stalled_then_cut(self, link_: Link) -> None:
        """What was said meanwhile is lost, on whichever side of a commit it was."""
        link_.stall()
        self._a_moment(10)
        link_.cut()
        link_.recover()

    def refused(self, link_: Link) -> None:
        link_.refuse()
        self._a_moment()
        link_.recover()

    def _kill(self, processes: Sequence[psutil.Process]) -> None:
        if processes:
            with suppress(psutil.NoSuchProcess):
                self._rng.choice(processes).kill()

    def _a_moment(self, messages: int = 30) -> None:
        """Wait until so many more messages are acknowledged, for a moment at most."""
        enough, end = self._stage.acknowledgements() + messages, time.monotonic() + A_MOMENT
        while self._stage.acknowledgements() < enough and time.monotonic() < end:
            time.sleep(0.01)


# ---- the storm ---------------------------------------------------------------------------------


def moments(rng: random.Random, times: int, workers: int) -> list[int]:
    """Return after how many acknowledgements something happens: once in each of so many equal parts.

    The parts cover nine tenths of the least that the crowd sends. A worker agrees, holds their conversations
    of a topic, INPUTS inputs, an end and a rating, and hands in.
    """
    part = workers * (1 + CONVERSATIONS * (INPUTS + 3) + 1) * 9 // 10 / times
    return [round((number + rng.random()) * part) for number in range(times)]


def dealt(rng: random.Random, kinds: Sequence[str], times: int) -> list[str]:
    """Return so many kinds, each as often as the others, in any order."""
    hands = [name for _ in range(times // len(kinds) + 1) for name in rng.sample(kinds, len(kinds))]
    return hands[:times]


def storm(stage: Installation, kinds: Mapping[str, Callable[[], None]], times: int) -> tuple[Tally, str]:
    """Let a crowd take part while trouble of all kinds comes; return the tally, and it in words."""
    rng = random.Random(20)
    started = time.monotonic()
    crowd = stage.crowd()
    happened: Counter[str] = Counter()
    for moment, kind in zip(moments(rng, times, stage.workers), dealt(rng, list(kinds), times), strict=True):
        while stage.acknowledgements() < moment:
            assert crowd.poll() is None, (
                f"the crowd ended at {stage.acknowledgements()}: {crowd.communicate()[0]}"
            )
            for server in stage.servers:
                assert server.process.poll() is None, f"a server ended: {stage.said[-3_000:]}"
            assert time.monotonic() < started + A_STORM, (
                f"stuck at {stage.acknowledgements()} after {happened}"
            )
            time.sleep(0.01)
        kinds[kind]()
        happened[kind] += 1
    output, _ = crowd.communicate(timeout=A_STORM)
    assert crowd.returncode == 0, output
    tally = count(stage.log, stage.database, CONVERSATIONS, stage.said)
    troubles = {kind: happened[kind] for kind in kinds}
    seconds = round(time.monotonic() - started)
    return tally, tally.table(**troubles, seconds=seconds)


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    need_services()
    with ExitStack() as stack:
        yield Stage(stack, folder)
