"""A real PostgreSQL for tests: on a free port, in a folder of its own, gone when the tests are."""

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from server.db.engine import migrate
from tests.support.local_process import as_user, ended_with_us, free_port
from tests.support.waiting import wait_until

PASSWORD = "a password: p@ss/word"  # what a URL has to quote
_OWNER = "postgres"  # of the folder, where we are root: PostgreSQL refuses to run as root
# Files in memory outlive whatever a test kills. To make a database for a test, and to drop it, takes a fifth
# of the time that it takes on a disk, which PostgreSQL waits for again and again.
_MEMORY = Path("/dev/shm")  # noqa: S108 - the folder is made there with a name of its own
_ROOM = 4 * 1024**3  # bytes, of which a server uses 65 MB and its log
# Small, for it is one of several on the machine; everything that makes a commit durable is as it comes.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "synchronous_commit": "on",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "log_min_messages": "panic",
}


class Postgres:
    """A server that can be stopped, killed and started again, with databases made and dropped quickly."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = programs()
        self._process: subprocess.Popen[bytes] | None = None
        self._names = (f"test{number}" for number in itertools.count())
        self._templates: set[str] = set()
        self.port = free_port()
        password = folder / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            shutil.chown(folder, _OWNER, _OWNER)
            shutil.chown(password, _OWNER, _OWNER)
        subprocess.run(
            [
                *as_user(_OWNER),
                self._programs / "initdb",
                f"--pgdata={folder / 'data'}",
                f"--username={_OWNER}",
                "--auth=md5",
                f"--pwfile={password}",
                "--encoding=UTF8",
                # Words in the order of a dictionary, as on most machines: no result may hang on it.
                "--locale=C.UTF-8",
                "--locale-provider=icu",
                "--icu-locale=en",
                "--no-sync",
            ],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        """Start, and return once it answers."""
        settings = [f"--{name}={value}" for name, value in (_SETTINGS | {"port": str(self.port)}).items()]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *as_user(_OWNER),  # first: the kernel forgets the signal when the user changes
                    *ended_with_us(signal.SIGQUIT),
                    self._programs / "postgres",
                    "-D",
                    self._folder / "data",
                    *settings,
                ],
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )
        wait_until(self.answers, "PostgreSQL")

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended since."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Stop at once, as a fast shutdown does: what is under way is rolled back."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it as a crash does: the next start recovers from the log."""
        self._end(signal.SIGQUIT)

    def url(self, database: str) -> str:
        """Return the URL of a database, as Candor's settings have it."""
        return f"postgresql+psycopg://{_OWNER}:{_quoted(PASSWORD)}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str) -> None:
        """Run a statement that concerns the whole server."""
        with psycopg.connect(self._admin, autocommit=True) as connection:
            connection.execute(statement.encode())

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """Give the URL of a database that nobody else has; it is dropped afterwards."""
        name = next(self._names)
        template = self._migrated() if migrated else "template0"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @property
    def _admin(self) -> str:
        return f"host=127.0.0.1 port={self.port} user={_OWNER} password='{PASSWORD}' dbname=postgres"

    def _migrated(self) -> str:
        name = "migrated"
        if name not in self._templates:
            self.execute(f"CREATE DATABASE {name} TEMPLATE template0")
            migrate(self.url(name))
            self._templates.add(name)
        return name

    def answers(self) -> bool:
        """Return whether it takes connections."""
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text()
        try:
            psycopg.connect(self._admin).close()
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, by: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait()
            self._process = None


@contextmanager
def serving() -> Iterator[Postgres]:
    """Give a server that is started, and that is stopped and deleted afterwards."""
    with own_folder() as folder, serving_in(folder) as server:
        yield server


@contextmanager
def own_folder() -> Iterator[Path]:
    """Give a folder for a server, deleted afterwards: not pytest's, into which only its owner gets."""
    roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    where = _MEMORY if roomy else None
    with tempfile.TemporaryDirectory(
        prefix="candor-postgres-", dir=where, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@contextmanager
def serving_in(folder: Path) -> Iterator[Postgres]:
    """Give a server that keeps everything in `folder`, and that is stopped afterwards."""
    server = Postgres(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises FileNotFoundError where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    debian = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(debian, key=lambda path: float(path.parts[-3]), default=None)
    if newest is None:
        raise FileNotFoundError("there is no PostgreSQL here: run tests/support/need-services")
    return newest.parent


def _quoted(password: str) -> str:
    return "".join(f"%{ord(c):02X}" if not c.isalnum() else c for c in password)
