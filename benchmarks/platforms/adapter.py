"""Platform and Participant: the operations that the load generator needs of any chat platform."""

import os
import signal
import subprocess
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from tests.support.local_process import free_port
from tests.support.waiting import wait_until


class Participant(ABC):
    """One person in a conversation. `opens` says whether they write its first message."""

    opens = True

    @abstractmethod
    async def send(self, text: str) -> None:
        """Send a message, and return when the platform has acknowledged it."""

    @abstractmethod
    async def hear(self) -> None:
        """Wait for the other side's next message."""


class Platform(ABC):
    """One server of a platform, with a store of its own in `folder`.

    Args:
        folder: empty; everything that the platform stores goes there.
        home: where the platform was installed, as docs/explanation/platforms.md says.
    """

    exchange: ClassVar[str]  # who answers a message
    acknowledged: ClassVar[str]  # by which sign a message counts as acknowledged
    store: ClassVar[str]  # where messages are looked for after the kill

    def __init__(self, folder: Path, home: Path | None) -> None:
        self.folder = folder
        self._home = home

    @abstractmethod
    async def start(self, participants: int) -> None:
        """Start the server, and prepare it for so many participants."""

    @abstractmethod
    async def join(self, number: int) -> Participant:
        """Let a participant join; `number` counts from 0."""

    @abstractmethod
    def stored(self) -> Iterator[str]:
        """Yield the text of the store, in pieces that contain whole messages."""

    @abstractmethod
    def versions(self) -> Mapping[str, str]:
        """Return the versions of what was measured, by name."""

    @property
    @abstractmethod
    def process(self) -> int:
        """The id of the server's process. The server may have children."""

    @abstractmethod
    def kill(self) -> None:
        """Kill the server and its children as `kill -9` does, if it is running."""

    @property
    def home(self) -> Path:
        """The folder in which the platform was installed."""
        if self._home is None:
            raise SystemExit("Install the platform first, and give its folder with --home.")
        return self._home.resolve()


class InstalledPlatform(Platform):
    """A platform of others: a web server that is started by a command of its own environment."""

    _server: subprocess.Popen[bytes] | None = None

    def __init__(self, folder: Path, home: Path | None) -> None:
        super().__init__(folder, home)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"

    def run(self, *command: str, cwd: Path, **environment: str) -> None:
        """Start the server, and wait until it answers."""
        with self.log.open("wb") as log:
            self._server = server = subprocess.Popen(
                command, cwd=cwd, env=os.environ | environment, stdout=log, stderr=log, start_new_session=True
            )
        wait_until(lambda: self._answers(server), "the server")

    def packages(self, *names: str) -> dict[str, str]:
        """Return the versions of packages in the platform's own environment."""
        script = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
        python = str(self.home / "env/bin/python")
        found = subprocess.run([python, "-c", script, *names], check=True, capture_output=True, text=True)
        shown = subprocess.run([python, "--version"], check=True, capture_output=True, text=True)
        return {"Python": shown.stdout.split()[1], **dict(zip(names, found.stdout.split(), strict=True))}

    @property
    def process(self) -> int:
        assert self._server is not None  # noqa: S101 - it was started
        return self._server.pid

    def kill(self) -> None:
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
            self._server = None

    def _answers(self, server: "subprocess.Popen[bytes]") -> bool:
        if server.poll() is not None:
            raise SystemExit(f"The server did not start:\n{self.log.read_text()}")
        try:
            with urllib.request.urlopen(self.url, timeout=5):  # noqa: S310
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
