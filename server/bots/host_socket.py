"""The WebSocket adapter for bot hosts that dial in: frames in, replicas attached; asks out."""

import asyncio
from contextlib import suppress
from datetime import datetime
from itertools import count

import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from sqlalchemy import Connection

from bots import DIAL_IN_PATH, DialInEndpoint, Drain, HostReplica, HostSession, Offer, WireError
from server.access.auth import Auth
from server.bots import registration
from server.bots.registration import Registration
from server.bots.registry import Registry
from server.clock import utc_now
from server.db.store import Store
from server.errors import BotExists, BotNotFound, CandorError, InvalidMessage, NotAuthorised, StorageFailed

_HELLO_SECONDS = 15.0
_RECHECK_SECONDS = 5.0  # how long a host can stay whose token was revoked
_MOST_QUEUED = 4_096  # frames that a host has not read yet
log = structlog.get_logger()


class Wire:
    """Sends what is queued for one host. A host that has stopped reading is cut off."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(_MOST_QUEUED)
        self._sender = asyncio.get_running_loop().create_task(self._send_all())

    def send(self, frame: str) -> None:
        """Queue a frame; never waits."""
        self._put(frame)

    async def close(self) -> None:
        """Close the connection once everything queued is out."""
        self._put(None)
        with suppress(asyncio.CancelledError):
            await self._sender

    def _put(self, frame: str | None) -> None:
        try:
            self._queue.put_nowait(frame)
        except asyncio.QueueFull:
            self._sender.cancel()

    async def _send_all(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            try:
                while (frame := await self._queue.get()) is not None:
                    await self._socket.send_text(frame)
            finally:
                await self._socket.close()


class HostSocket:
    """Serves the hosts' WebSocket. What a host offers is registered, unless it is already."""

    def __init__(self, *, store: Store, auth: Auth, registry: Registry) -> None:
        self._store = store
        self._auth = auth
        self._registry = registry
        self._connections = count(1)
        self.router = APIRouter()
        self.router.add_api_websocket_route(DIAL_IN_PATH, self.serve)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection until either side closes it."""
        await socket.accept()
        wire = Wire(socket)
        host = HostSession(next(self._connections), wire.send)
        try:
            await self._converse(socket, host, wire)
        except WebSocketDisconnect:
            pass
        except CandorError as error:
            log.warning("bot host refused", host=host.url, reason=error.message)
            _refuse(host, error)
        except Exception:
            log.exception("connection of a bot host failed")
            _refuse(host, CandorError("something went wrong on the server"))
        finally:
            await wire.close()

    async def _converse(self, socket: WebSocket, host: HostSession, wire: Wire) -> None:
        # Refused by a message, like everything else: the server's HTTP layer logs a denied handshake as a
        # fault of the application.
        authorization = socket.headers.get("authorization")
        await self._auth.require_host(authorization)
        await _greet(socket, host)
        log.info("bot host dialled in", host=host.url)
        watch = asyncio.get_running_loop().create_task(self._watch(authorization, host, wire))
        replicas: dict[str, HostReplica] = {}
        leaving: list[asyncio.Task[None]] = []
        try:
            while True:
                match _read(host, await _frame(socket)):
                    case Offer(name=name):
                        replicas[name] = await self._attach(host, name)
                    case Drain():
                        leaving = self._detach(replicas)
                        await asyncio.sleep(0)  # now nobody is sent there; what is under way is waited for
                        host.release()
        finally:
            watch.cancel()
            host.lose("the connection to the bot host was lost")
            await asyncio.gather(*(leaving or self._detach(replicas)))
            log.info("bot host is gone", host=host.url)

    async def _watch(self, authorization: str | None, host: HostSession, wire: Wire) -> None:
        """Turn the host out once its token is revoked."""
        while True:
            await asyncio.sleep(_RECHECK_SECONDS)
            try:
                await self._auth.require_host(authorization)
            except NotAuthorised as error:
                log.warning("bot host turned out", host=host.url, reason=error.message)
                _refuse(host, error)
                await wire.close()
                return
            except StorageFailed:
                continue  # as the store has said; to lose every host for that would help nobody

    async def _attach(self, host: HostSession, name: str) -> HostReplica:
        """Have the host answer as `name`, which is registered now if it was not. Raises CandorError."""
        row = await self._store.submit(lambda connection: _registered(connection, name, utc_now()))
        self._registry.apply(row.name, row.endpoint, row.enabled)
        replica = host.accept(name)
        self._registry.attach(name, replica)
        return replica

    def _detach(self, replicas: dict[str, HostReplica]) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self._let_go(name, replica)) for name, replica in replicas.items()]

    async def _let_go(self, name: str, replica: HostReplica) -> None:
        with suppress(KeyError):  # the bot was deleted meanwhile, and its replicas with it
            await self._registry.detach(name, replica)


def _registered(connection: Connection, name: str, at: datetime) -> Registration:
    """Return the bot that dials in as `name`, registered if there was none.

    Raises:
        BotInvalid: `name` cannot be a bot's.
        BotExists: it is a bot of another kind.
    """
    try:
        found = registration.find(connection, name)
    except BotNotFound:
        return registration.add(connection, name, DialInEndpoint(kind="dial-in"), at)
    if not isinstance(found.endpoint, DialInEndpoint):
        raise BotExists(
            f"`{name}` is registered as a bot of kind {found.endpoint.kind}, at an address",
            "Start the host with another --name, or delete that bot first.",
        )
    return found


async def _greet(socket: WebSocket, host: HostSession) -> None:
    try:
        async with asyncio.timeout(_HELLO_SECONDS):
            first = await _frame(socket)
    except TimeoutError as error:
        raise InvalidMessage("no `hello` came in time") from error
    try:
        host.greet(first)
    except WireError as error:
        raise _invalid(error) from error


def _read(host: HostSession, frame: str) -> Offer | Drain | None:
    try:
        return host.receive(frame)
    except WireError as error:
        raise _invalid(error) from error


def _invalid(error: WireError) -> InvalidMessage:
    return InvalidMessage(str(error), "Install the same version of Candor on the server and beside the bot.")


async def _frame(socket: WebSocket) -> str:
    """Return the next frame as text. Raises WebSocketDisconnect."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"], message.get("reason"))
    text = message.get("text")
    return text if text is not None else bytes(message["bytes"]).decode("utf-8", "replace")


def _refuse(host: HostSession, error: CandorError) -> None:
    host.refuse(error.code, error.message, error.hint, error.retry or error.status >= 500)
