"""The clients through which a host gets its work: a connection to a server, or Redis without any server."""

import asyncio
import os
import re
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel
from redis.exceptions import AuthenticationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from bots.core.ask import rechecked
from bots.core.chat import Chat, Reply
from bots.core.failures import BotError, ChatRefused
from bots.core.host_protocol import (
    MOST_BYTES,
    PATH,
    VERSION,
    Ask,
    Cancel,
    Drain,
    Earlier,
    Hold,
    HostHello,
    Offer,
    Offered,
    Probe,
    Refused,
    Released,
    ServerMessage,
    Welcome,
    WireError,
    Withdrawn,
    failed,
    frame,
    from_server,
    replied,
)
from bots.host.app import Host
from bots.streams import StreamConsumer
from candor.common.network import backoff
from candor.common.telemetry import span

PATIENCE = 60.0
RELEASE_SECONDS = 10.0
WELCOME_SECONDS = 15.0


class HostRejected(Exception):
    """The server does not accept this host, now or later. The message says why and what to do."""


class ConnectionLost(Exception):
    """There is no usable connection, for a reason that may pass."""


@dataclass(slots=True)
class HostConnection:
    """Serves `host` to the server at the other end of `socket`.

    `say` shows a line to the user who started the host. `news` is set when another model is ready, `draining`
    when the host must leave. `withdrawn` holds the names that the server no longer needs.
    """

    socket: ClientConnection
    host: Host
    say: Callable[[str], None]
    news: asyncio.Event
    draining: asyncio.Event
    withdrawn: set[str]
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    async def greet(self, label: str) -> None:
        """Introduce the host as `label`. Raises ConnectionLost, HostRejected, ConnectionClosed."""
        await self._send(HostHello(version=VERSION, label=label))
        try:
            async with asyncio.timeout(WELCOME_SECONDS):
                first = _read(await self.socket.recv())
        except TimeoutError as error:
            raise ConnectionLost(f"The server said nothing within {WELCOME_SECONDS:g} s") from error
        if isinstance(first, Refused):
            raise _refusal(first)
        if not isinstance(first, Welcome):
            raise ConnectionLost(f"The server said `{first.type}` where `welcome` was due")

    async def serve(self) -> None:
        """Serve until the host has left. Raises ConnectionLost, HostRejected, ConnectionClosed."""
        try:
            await _first_of(self._listen(), self._offer(), self._leave())
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _offer(self) -> None:
        """Offer every model as soon as it is ready."""
        offered: set[str] = set()
        while True:
            self.news.clear()
            for name in self.host.names:
                if self.host.health(name).ready and name not in offered | self.withdrawn:
                    offered.add(name)
                    await self._send(Offer(name=name))
            await self.news.wait()

    async def _leave(self) -> None:
        """Wait until the host must leave, and then until all pending asks are answered."""
        await self.draining.wait()
        await self._send(Drain())
        with suppress(TimeoutError):
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._released.wait()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=PATIENCE)

    async def _listen(self) -> None:
        async for received in self.socket:
            match _read(received):
                case Ask() as ask:
                    self._start(ask)
                case Cancel(ask=number):
                    if (task := self._tasks.get(number)) is not None:
                        task.cancel()
                case Offered(name=name):
                    self.say(f"Ready: {name}")
                case Withdrawn(name=name):
                    self._withdraw(name)
                case Released():
                    self._released.set()
                case Refused() as refused:
                    raise _refusal(refused)
                case Welcome() | Hold() | Earlier() | Probe() as message:
                    raise ConnectionLost(f"The server said `{message.type}`, which makes no sense here")
        raise ConnectionLost("The server closed the connection")

    def _withdraw(self, name: str) -> None:
        self.withdrawn.add(name)
        reason = f'the bot "{name}" was deleted on the server'
        if self.withdrawn.issuperset(self.host.names):
            raise HostRejected(f"{reason}. Start this host again to register it anew.")
        self.say(f"No longer offered: {reason}")

    def _start(self, ask: Ask) -> None:
        task = asyncio.ensure_future(self._answer(ask))
        self._tasks[ask.ask] = task
        task.add_done_callback(lambda _: self._tasks.pop(ask.ask))

    async def _answer(self, ask: Ask) -> None:
        try:
            if ask.name not in self.host.names:
                raise ChatRefused(f'no model is called "{ask.name}" here')
            with span("reply", parent=ask.trace):
                reply = await self.host.reply(ask.name, ask.chat.chat())
            await self._send(replied(ask.ask, rechecked(reply)))
        except BotError as error:
            await self._send(failed(ask.ask, error))

    async def _send(self, message: BaseModel) -> None:
        with suppress(ConnectionClosed):  # `_listen` raises it too, after the server's last messages
            await self.socket.send(frame(message))


def _read(received: str | bytes) -> ServerMessage:
    try:
        return from_server(received)
    except WireError as error:
        raise ConnectionLost(f"The server sent what this host cannot read: {error}") from None


def _refusal(message: Refused) -> Exception:
    reason = f"The server does not take this host: {message.message}. {message.hint}"
    return ConnectionLost(reason) if message.retry else HostRejected(reason)


async def _first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Run all until one of them ends, then return or raise as that one did."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class HostClient(ABC):
    """Serves a host until it is drained or stopped. Call `run` once; the other methods are thread-safe."""

    def __init__(self) -> None:
        """Prepare; nothing is started yet. Call this in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._running: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    def changed(self) -> None:
        """Check again which models are ready."""
        self._call_in_loop(self._news.set)

    def drain(self) -> None:
        """Leave when all accepted asks are answered. The second call leaves at once."""
        self._call_in_loop(self._leave)

    def stop(self) -> None:
        """Leave at once."""
        self._call_in_loop(self._cancel)

    async def run(self) -> None:
        """Serve until drained or stopped.

        Raises:
            HostRejected: the other side does not accept this host.
        """
        self._running = asyncio.ensure_future(self._serve())
        with suppress(asyncio.CancelledError):
            await self._running

    @abstractmethod
    async def _serve(self) -> None:
        """Serve until the host has left."""

    @abstractmethod
    def _leave(self) -> None:
        """Accept no more asks; on the second call, cancel."""

    def _call_in_loop(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: it is over anyway
            self._loop.call_soon_threadsafe(call)

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()


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


class RedisWorker(HostClient):
    """Lets the models of a host answer the asks for the bots of the same names, over Redis.

    `say` shows a line to the user who started the host.
    """

    def __init__(
        self, host: Host, url: str, password: str | None, room: int, say: Callable[[str], None]
    ) -> None:
        """Prepare; no work is taken yet. Call this in the event loop.

        Args:
            host: the host of the models.
            url: of the Redis.
            password: of the Redis, if the url has none.
            room: the most asks that each model works on at once.
            say: see above.

        Raises:
            ValueError: `url` is not the URL of a Redis.
        """
        super().__init__()
        self._host = host
        self._consumers = {
            name: StreamConsumer(
                url, name, _HostedModel(host, name), label=label(), room=room, password=password
            )
            for name in host.names
        }
        self._say = say
        self._draining = False
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def _leave(self) -> None:
        if self._draining:
            self._cancel()
        self._draining = True
        for consumer in self._consumers.values():
            consumer.leave()
        self._news.set()

    async def _serve(self) -> None:
        try:
            while not self._draining:
                self._news.clear()
                self._start_ready()
                await self._news.wait()
                for task in self._tasks.values():
                    if task.done():
                        task.result()
            await asyncio.gather(*self._tasks.values())
        except AuthenticationError as error:
            raise HostRejected(
                f"Redis does not take this host: {error} Write the password into the URL,"
                " as redis://:PASSWORD@HOST:6379/0, or into the variable REDISCLI_AUTH."
            ) from error
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _start_ready(self) -> None:
        for name, consumer in self._consumers.items():
            if name not in self._tasks and self._host.health(name).ready:
                self._tasks[name] = asyncio.ensure_future(consumer.run())
                self._tasks[name].add_done_callback(lambda _: self._news.set())
                self._say(f"Ready: {name}")


class _HostedModel:
    """A model of a host, as a bot."""

    def __init__(self, host: Host, name: str) -> None:
        self._host = host
        self._name = name

    async def reply(self, chat: Chat) -> Reply:
        return await self._host.reply(self._name, chat)
