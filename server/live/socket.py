"""The WebSocket adapter: frames in, typed messages to the session; messages out, in frames."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from limits import RateLimitItem
from pydantic import ValidationError

from server.access.auth import Auth, Ticket
from server.access.rate_limit import RateLimits
from server.clock import utc_now
from server.errors import (
    CandorError,
    InvalidField,
    InvalidMessage,
    MalformedJson,
    MessageTooLong,
    OutdatedPage,
    RefusedMessage,
    RunOutOfHours,
    StorageFailed,
    UnknownMessage,
    WrongPhase,
)
from server.live.newcomers import Newcomers
from server.live.sessions import LiveSessions
from server.session.events import FromWorker
from server.session.protocol import (
    CLOSE_OUTDATED,
    MAX_FRAME_BYTES,
    PROTOCOL_VERSION,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    client_messages,
    frame_of,
    plain,
)

WRITE_NOW = "candor.write_now"  # an extension of our server's: writes a text at once, or says that it cannot
_HELLO_SECONDS = 15.0
_MOST_QUEUED = 256
_MOST_REFUSED = 50
_LONGEST_ERROR = 400
_CLOSE_NORMAL = 1000
_CLOSE_POLICY = 1008
log = structlog.get_logger()


class Page:
    """One worker's page: sends what is queued for it, in as few frames as it can.

    What was queued in one turn of the event loop is written at its end, where the page takes it at once. A
    task does what has to wait: for a page that reads slowly, and to close it.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._write_now: Callable[[bytes], bool] | None = (
            socket.scope.get("extensions", {}).get(WRITE_NOW, {}).get("write")
        )
        self._queue: list[ServerMessage] = []
        self._closing: int | None = None
        self._is_sending = False
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.sender = self._loop.create_task(self._send_all())

    def send(self, message: ServerMessage) -> None:
        """Queue a message; a page that has stopped reading is cut off, and gets a snapshot when back."""
        if self._closing is None:
            if not self._queue:
                self._loop.call_soon(self._flush)
            self._queue.append(message)
        if len(self._queue) > _MOST_QUEUED:
            self.sender.cancel()

    def close(self, code: int = _CLOSE_NORMAL) -> None:
        """Close the socket with `code` once everything queued is out; the first call counts."""
        if self._closing is None:
            self._closing = code
            self._news.set()

    def _flush(self) -> None:
        if not self._queue or self._is_sending:
            return
        if self._closing is None and self._write_now is not None and self._write_now(_frame_of(self._queue)):
            self._queue = []
        else:
            self._news.set()

    async def _send_all(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while self._closing is None or self._queue:
                await self._news.wait()
                self._news.clear()
                self._is_sending = True
                while self._queue:
                    messages, self._queue = self._queue, []
                    await self._socket.send_text(_frame_of(messages).decode())
                self._is_sending = False
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.close(self._closing or _CLOSE_NORMAL)


def _frame_of(messages: Sequence[ServerMessage]) -> bytes:
    first = messages[0]
    if isinstance(first, Error) and first.code == OutdatedPage.code:
        return first.model_dump_json().encode()
    return frame_of(messages)


class Session(Protocol):
    """What a page is connected to: a live session, or that of a newcomer."""

    async def attach(self, page: Page) -> None:
        """Show `page` where the worker is."""

    async def receive(self, message: FromWorker, page: Page) -> None:
        """Take a worker's message. Raises CandorError: it is not taken."""

    def detach(self, page: Page) -> None:
        """Forget `page`."""


class WorkerSocket:
    """Serves the workers' WebSocket.

    Args:
        live: The sessions alive here, which it opens and releases.
        newcomers: Takes those who have a ticket and no assignment.
        auth: Tells what a token is for.
        limits: Counts connections and messages.
        per_session: How many messages of one assignment are taken.
        per_address: How many connections of one address are taken.
    """

    def __init__(
        self,
        *,
        live: LiveSessions,
        newcomers: Newcomers,
        auth: Auth,
        limits: RateLimits,
        per_session: RateLimitItem,
        per_address: RateLimitItem,
    ) -> None:
        self._live = live
        self._newcomers = newcomers
        self._auth = auth
        self._limits = limits
        self._per_session = per_session
        self._per_address = per_address
        self.router = APIRouter()
        self.router.add_api_websocket_route("/ws", self.serve)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection until either side closes it.

        In a task of its own: within that of the application each message would wake the twenty coroutines of
        the framework that stand above this one.
        """
        await asyncio.get_running_loop().create_task(self._serve(socket))

    async def _serve(self, socket: WebSocket) -> None:
        await socket.accept()
        page = Page(socket)
        try:
            await self._converse(socket, page)
        except WebSocketDisconnect:
            pass
        except TimeoutError:
            page.send(Error(code="silent", message="no `hello` came in time", retry=True))
        except Exception:
            log.exception("connection failed")
            page.send(_error_message(CandorError("something went wrong on the server"), None))
        finally:
            page.close()
            with suppress(asyncio.CancelledError):
                await page.sender

    async def _converse(self, socket: WebSocket, page: Page) -> None:
        async with asyncio.timeout(_HELLO_SECONDS):
            opened = await self._greet(socket, page)
        if opened is None:
            return
        assignment_id, session = opened
        try:
            await session.attach(page)
            await self._listen(socket, page, assignment_id, session)
        finally:
            session.detach(page)
            self._live.release(assignment_id)

    async def _greet(self, socket: WebSocket, page: Page) -> tuple[str, Session] | None:
        frame = await _frame(socket)
        try:
            await self._limits.count_address(self._per_address, "connections from this address", socket)
            hello = parse(frame)
            if not isinstance(hello, Hello):
                raise WrongPhase("`hello` as the first message", f"`{hello.type}`")
            if hello.protocol != PROTOCOL_VERSION:
                raise OutdatedPage(newer=(hello.protocol or 0) > PROTOCOL_VERSION)
            return await self._open(hello.token, socket)
        except CandorError as error:
            page.send(_error_message(error, _id_in(frame)))
            page.close(CLOSE_OUTDATED if isinstance(error, OutdatedPage) else _CLOSE_NORMAL)
            return None

    async def _open(self, token: str, socket: WebSocket) -> tuple[str, Session]:
        """Return the session that a token opens, and the id of its assignment. Raises CandorError."""
        opens = self._auth.opened_by(token)
        if isinstance(opens, Ticket):
            ticket = opens
            found = await self._newcomers.find(ticket)
            if found is None:
                return ticket.assignment, self._newcomers.greet(ticket, socket)
            opens = found
        return opens, await self._live.open(opens)

    async def _listen(self, socket: WebSocket, page: Page, assignment_id: str, session: Session) -> None:
        refused = 0
        while refused < _MOST_REFUSED and not page.sender.done():
            frame = await _frame(socket)
            try:
                self._limits.count(self._per_session, "messages in a short time", socket, assignment_id)
                await session.receive(FromWorker(parse(frame), utc_now()), page)
            except CandorError as error:
                refused += not isinstance(error, StorageFailed)  # which is no fault of the page's
                page.send(_error_message(error, _id_in(frame)))
            except Exception:  # a fault of ours must not end the session of a worker
                log.exception("message failed", assignment=assignment_id)
                page.send(_error_message(CandorError("something went wrong on the server"), _id_in(frame)))
        if refused >= _MOST_REFUSED:
            log.warning("page closed for what it sends", assignment=assignment_id, refused=refused)
            page.close(_CLOSE_POLICY)


def parse(frame: str) -> ClientMessage:
    """Return the message that a frame holds.

    Raises:
        InvalidMessage: which kind of it, and which field.
    """
    if len(frame.encode("utf-8", "replace")) > MAX_FRAME_BYTES:
        raise MessageTooLong(f"a frame holds at most {MAX_FRAME_BYTES} bytes")
    try:
        return client_messages.validate_json(frame)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
    where, reason = ".".join(str(key) for key in problem["loc"][1:]), problem["msg"]
    match problem["type"]:
        case "json_invalid":
            raise MalformedJson(f"the frame is not JSON: {reason}")
        case "union_tag_invalid" | "union_tag_not_found":
            raise UnknownMessage(f"no message of this type: {reason}")
        case "string_too_long":
            raise MessageTooLong(f"{where}: {reason}")
        case _:
            raise InvalidField(f"{where}: {reason}" if where else reason)


async def _frame(socket: WebSocket) -> str:
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code") or 1000)
    text: str | None = received.get("text")
    return text if text is not None else bytes(received["bytes"]).decode("utf-8", "replace")


def _error_message(error: CandorError, message_id: str | None) -> Error:
    hint = f" {error.hint}" if isinstance(error, RefusedMessage | InvalidMessage) else ""
    what = error.message[:_LONGEST_ERROR]  # some repeat what was sent
    again_at = error.again_at if isinstance(error, RunOutOfHours) else None
    return Error(
        code=error.code, message=f"{what}.{hint}", retry=error.retry, id=message_id, again_at=again_at
    )


def _id_in(frame: str) -> str | None:
    """Return the id of a message that was refused, if it has one, so that its sender can tell which."""
    with suppress(ValueError, RecursionError):
        content: Any = json.loads(frame)
        if isinstance(content, dict) and isinstance(content.get("id"), str):
            return plain(content["id"])[:64] or None
    return None
