"""WebSocket endpoint of bot hosts that connect to the server."""

import asyncio
from contextlib import suppress
from typing import Annotated

import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from bots.serving import DIAL_IN_PATH, Drain, HostReplica, HostSession, Offer, WireError
from server.access.auth import Auth
from server.access.parts import Secrets, part
from server.bots.registered_bots import RegisteredBots
from server.errors import CandorError, InvalidMessage, NotAuthorised, StorageFailed

_HELLO_SECONDS = 15.0
_RECHECK_SECONDS = 5.0  # after which a host with a revoked token is disconnected
_MOST_QUEUED = 4_096  # unread frames, after which a host is disconnected
log = structlog.get_logger()


class FrameSender:
    """Sends queued frames to one host. Disconnects a host that has stopped reading."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(_MOST_QUEUED)
        self._sender = asyncio.get_running_loop().create_task(self._send_all())

    def send(self, frame: str | None) -> None:
        """Queue a frame, or None to close the connection after all queued frames. Never waits."""
        try:
            self._queue.put_nowait(frame)
        except asyncio.QueueFull:
            self._sender.cancel()

    async def close(self) -> None:
        """Send all queued frames, close the connection, and return when that is done."""
        self.send(None)
        with suppress(asyncio.CancelledError):
            await self._sender

    async def _send_all(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            try:
                while (frame := await self._queue.get()) is not None:
                    await self._socket.send_text(frame)
            finally:
                await self._socket.close()


router = APIRouter()


@router.websocket(DIAL_IN_PATH)
async def serve(
    socket: WebSocket, auth: Secrets, bots: Annotated[RegisteredBots, part(RegisteredBots)]
) -> None:
    """Serve a bot host until either side closes the connection. Bots that it offers are registered if new."""
    await socket.accept()
    sender = FrameSender(socket)
    host = HostSession(next(bots.connections), sender.send)
    try:
        await _converse(socket, host, sender, auth, bots)
    except WebSocketDisconnect:
        pass
    except WireError as error:
        hint = "Install the same version of Candor on the server and beside the bot."
        _refuse(host, InvalidMessage(str(error), hint))
    except CandorError as error:
        _refuse(host, error)
    except Exception:
        log.exception("connection of a bot host failed")
        _refuse(host, CandorError("Something went wrong on the server"))
    finally:
        await sender.close()


async def _converse(
    socket: WebSocket, host: HostSession, sender: FrameSender, auth: Auth, bots: RegisteredBots
) -> None:
    # A refusal is a message on the open connection: the server's HTTP layer would log a denied handshake
    # as an error of the application.
    authorization = socket.headers.get("authorization")
    actor = await auth.host(authorization)
    await _greet(socket, host)
    log.info("bot host dialled in", host=host.url)
    watch = asyncio.get_running_loop().create_task(_watch(authorization, host, sender, auth))
    replicas: dict[str, HostReplica] = {}
    leaving: list[asyncio.Task[None]] = []

    def detach() -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(bots.detach(name, replica)) for name, replica in replicas.items()]

    try:
        while True:
            match host.receive(await _frame(socket)):
                case Offer(name=name):
                    replicas[name] = await bots.attach(name, host, actor)
                case Drain():
                    leaving = detach()
                    await asyncio.sleep(0)  # detaching has begun: no new calls, open ones are awaited
                    host.release()
    finally:
        watch.cancel()
        host.lose("the connection to the bot host was lost")
        await asyncio.gather(*(leaving or detach()))
        log.info("bot host is gone", host=host.url)


async def _watch(authorization: str | None, host: HostSession, sender: FrameSender, auth: Auth) -> None:
    """Close the connection once the host's token is revoked."""
    while True:
        await asyncio.sleep(_RECHECK_SECONDS)
        try:
            await auth.host(authorization)
        except NotAuthorised as error:
            _refuse(host, error)
            await sender.close()
            return
        except StorageFailed:
            continue  # the store has logged it; disconnecting all hosts would not help


async def _greet(socket: WebSocket, host: HostSession) -> None:
    try:
        async with asyncio.timeout(_HELLO_SECONDS):
            first = await _frame(socket)
    except TimeoutError as error:
        raise InvalidMessage("No “hello” came in time") from error
    host.greet(first)


async def _frame(socket: WebSocket) -> str:
    """Return the next frame as text. Raises WebSocketDisconnect."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"], message.get("reason"))
    text = message.get("text")
    return text if text is not None else bytes(message["bytes"]).decode("utf-8", "replace")


def _refuse(host: HostSession, error: CandorError) -> None:
    log.warning("bot host refused", host=host.url, reason=error.message)
    host.refuse(error.code, error.message, error.hint, error.retry or error.status >= 500)
