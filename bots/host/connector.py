"""Dialling in: connect a host to a server, and reconnect whenever the connection is lost."""

import asyncio
import os
import re
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from bots.core.host_protocol import MOST_BYTES, PATH
from bots.host.app import Host
from bots.host.client import HostClient
from bots.host.connection import ConnectionLost, HostConnection, HostRejected
from candor.common.network import backoff

HEARTBEAT_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class HostConnector(HostClient):
    """Connects a host to a server, again and again until it is drained or rejected.

    `say` shows a line to the user who started the host.
    """

    def __init__(self, host: Host, server: str, token: str, say: Callable[[str], None]) -> None:
        """Prepare; nothing is connected yet. Call this in the event loop.

        Raises:
            ValueError: `server` is not an address, or `token` cannot be a token.
        """
        super().__init__()
        self._host = host
        self._address = address_of(server)
        self._token = plausible(token)
        self._say = say
        self._draining = asyncio.Event()
        self._withdrawn: set[str] = set()
        self._began = 0.0
        self._last_reason = ""

    def _leave(self) -> None:
        if self._draining.is_set():
            self._cancel()
        self._draining.set()

    async def _serve(self) -> None:

        # websockets' own `async for socket in connect(…)` pauses only if no connection was opened: it would
        # reconnect without pause to a server that accepts connections and closes them. Also, its pause
        # cannot be cut short.
        tries = AsyncRetrying(
            retry=retry_if_exception_type(ConnectionLost),
            wait=backoff(FIRST_PAUSE, longest=LONGEST_PAUSE, growth=2.0),
            after=self._report_loss,
            sleep=self._pause,
        )
        await tries(self._serve_once)

    def _report_loss(self, tried: RetryCallState) -> None:
        """Report why the connection was lost, once a reason; reset the back-off after a long connection."""
        reason = str(tried.outcome and tried.outcome.exception())
        if reason != self._last_reason:
            self._last_reason = reason
            self._say(f"{reason}; trying again until it works")
        if time.monotonic() - self._began > LONGEST_PAUSE:
            tried.attempt_number, self._last_reason = 1, ""

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._draining.wait(), seconds)

    async def _serve_once(self) -> None:
        """Serve one connection until the host has left. Raises ConnectionLost, HostRejected."""
        if self._draining.is_set():
            return
        self._began = time.monotonic()
        try:
            async with connect(
                self._address,
                additional_headers={"Authorization": f"Bearer {self._token}"},
                max_size=MOST_BYTES,
                ping_interval=HEARTBEAT_SECONDS,
                ping_timeout=2 * HEARTBEAT_SECONDS,
            ) as opened:
                connection = HostConnection(
                    opened, self._host, self._say, self._news, self._draining, self._withdrawn
                )
                await connection.greet(label())
                self._say(f"Connected to {self._address}")
                await connection.serve()
        except InvalidStatus as error:
            raise self._refusal(error) from None
        except ConnectionClosed as error:
            raise ConnectionLost(f"The connection to {self._address} was lost") from error
        except (OSError, WebSocketException, TimeoutError) as error:
            raise ConnectionLost(
                f"No connection to {self._address}: {error or type(error).__name__}"
            ) from error

    def _refusal(self, error: InvalidStatus) -> Exception:
        """Return the exception for a server that did not open a WebSocket."""
        status = error.response.status_code
        if status in (408, 425, 429) or status >= 500:
            return ConnectionLost(f"{self._address} cannot take this host now (status {status})")
        return HostRejected(f"{self._address} answers with status {status}: check the address after --server")


def address_of(server: str) -> str:
    """Return the WebSocket address at which `server` accepts bot hosts.

    Raises:
        ValueError: `server` is not the address of a server.
    """
    mistake = ValueError(f'"{server}" is no address of a server: write it like wss://candor.example.org')
    try:
        parts = urlsplit(server.strip())
        _ = parts.port  # read for its error
    except ValueError:
        raise mistake from None
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise mistake
    return f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}{PATH}"


def plausible(token: str) -> str:
    """Return `token` without outer blanks. Raises ValueError if it cannot be a token."""
    if not re.fullmatch("[!-~]+", token.strip()):
        raise ValueError("the token is empty, or has blanks or characters in it that no token has")
    return token.strip()


def label() -> str:
    """Return a label of this process that tells it from other hosts."""
    machine = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname()).strip(".-")[:50]
    return f"{machine or 'host'}_{os.getpid()}"
