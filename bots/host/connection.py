"""One connection of a host to a server: offer models, answer asks, and leave in the regular way."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from bots.core.ask import rechecked
from bots.core.failures import BotError, ChatRefused
from bots.core.host_protocol import (
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
