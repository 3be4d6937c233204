"""A server over a folder of its own, in a child process, for commands that show something with one."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from server.access.auth import load_signer
from server.config import Settings
from server.errors import CandorError

_SECONDS = 120.0  # that it may take to begin, on a machine that is busy
_LAST = 2_000  # characters of its log that are shown


def own_settings(data: Path) -> Settings:
    """Return the settings of such a server: nothing that the environment says of another one counts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    plain = {
        name: field.get_default(call_default_factory=True) for name, field in Settings.model_fields.items()
    }
    return Settings(**plain | {"data": data, "port": port})


@contextmanager
def server_child(settings: Settings, variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Serve, and yield the process once it is ready; end it afterwards.

    Args:
        settings: the folder and the port, as of `own_settings`.
        variables: what else the server is to find in its environment.

    Raises:
        CandorError: it did not begin; with the end of its log.
    """
    others = {name: value for name, value in os.environ.items() if not name.startswith("CANDOR_")}
    command = [sys.executable, "-m", "server", "serve", "--port", str(settings.port)]
    log = settings.data / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*command, "--data", str(settings.data)], env=others | variables, stdout=output, stderr=output
        )
    try:
        _wait_until_ready(process, settings.own_url, log)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx2.get(f"{url}/readyz", timeout=5.0).is_success:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    said = log.read_text(encoding="utf-8", errors="replace")[-_LAST:]
    raise CandorError("the server did not begin", f"This is the end of its log:\n{said}")


class DeskClient:
    """The researcher's API of such a server, below one path. What is refused raises CandorError."""

    def __init__(self, settings: Settings, path: str) -> None:
        self.token = load_signer(settings.data, settings.token_days).researcher_token
        self._start = f"{settings.own_url}/api/desk"
        self._path = path
        headers = {"Authorization": f"Bearer {self.token}"}
        self._client = httpx2.Client(headers=headers, timeout=60.0)

    def ask(self, path: str, method: str = "POST", body: Any = None) -> Any:
        """Return what is answered to a call below the path."""
        return self.ask_at(f"{self._path}{path}", method, body)

    def ask_at(self, path: str, method: str = "POST", body: Any = None) -> Any:
        """Return what is answered to a call anywhere below `/api/desk`."""
        answer = self._client.request(method, f"{self._start}{path}", json=body)
        if not answer.is_success:
            error = answer.json()["error"]
            raise CandorError(error["message"], error["hint"])
        return answer.json() if answer.content else None
