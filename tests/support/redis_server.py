"""A real Redis for tests: on a free port, without a file, gone when the tests are."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.support.local_process import ended_with_us, free_port
from tests.support.waiting import wait_until


class RedisServer:
    """A server that can be stopped and started again; what it held is lost, as Candor has to bear."""

    def __init__(self, folder: Path, *options: str, password: str | None = None) -> None:
        self._folder = folder
        self._options = [*options, *(["--requirepass", password] if password else [])]
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        """How Candor's settings name it."""
        secret = f":{self._password}@" if self._password else ""
        return f"redis://{secret}127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        """Return a client of it, to be closed."""
        return redis.Redis.from_url(self.url)

    def start(self) -> None:
        """Start, and return once it answers."""
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*ended_with_us(signal.SIGKILL), *command, *self._options],
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )
        wait_until(self._answers, "Redis")

    def stop(self) -> None:
        """End it at once; nothing happens where it is stopped already."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "redis.log").read_text()
        client = self.client()
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False
        finally:
            client.close()


@contextmanager
def serving(*options: str, password: str | None = None) -> Iterator[RedisServer]:
    """Give a server that is started, and that is stopped afterwards. `options` are of its command line."""
    with tempfile.TemporaryDirectory(prefix="candor-redis-") as folder:
        server = RedisServer(Path(folder), *options, password=password)
        server.start()
        try:
            yield server
        finally:
            server.stop()
