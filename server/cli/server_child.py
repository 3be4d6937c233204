"""Start a Candor server with its own data folder in a child process, for demonstrations."""

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

_SECONDS = 120.0  # time to start, on a busy machine
_LAST = 2_000  # characters shown of the log's end


def own_settings(data: Path) -> Settings:
    """Return settings with a free port for a server in `data`. CANDOR_… variables are ignored."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    plain = {
        name: field.get_default(call_default_factory=True) for name, field in Settings.model_fields.items()
    }
    return Settings(**plain | {"data": data, "port": port})


@contextmanager
def server_child(settings: Settings, variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, yield its process once it is ready, and stop it afterwards.

    Args:
        settings: the folder and the port, from `own_settings`.
        variables: further environment variables of the server.

    Raises:
        CandorError: the server did not start; the hint is the end of its log.
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
    raise CandorError("The server did not start", f"This is the end of its log:\n{said}")


class DeskClient:
    """Client of a server's researcher API, below one path. Raises CandorError for error responses."""

    def __init__(self, settings: Settings, path: str) -> None:
        self.token = load_signer(settings.data, settings.token_days).researcher_token
        self._start = f"{settings.own_url}/api/desk"
        self._path = path
        headers = {"Authorization": f"Bearer {self.token}"}
        self._client = httpx2.Client(headers=headers, timeout=60.0)

    def ask(self, path: str, method: str = "POST", body: Any = None) -> Any:
        """Send a request below the client's path and return the JSON response."""
        return self.ask_at(f"{self._path}{path}", method, body)

    def ask_at(self, path: str, method: str = "POST", body: Any = None) -> Any:
        """Send a request below `/api/desk` and return the JSON response."""
        answer = self._client.request(method, f"{self._start}{path}", json=body)
        if not answer.is_success:
            error = answer.json()["error"]
            raise CandorError(error["message"], error["hint"])
        return answer.json() if answer.content else None
