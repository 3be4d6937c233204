"""Serve the workers' WebSocket: parse frames into typed messages, and write messages as frames."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import structlog
from fastapi import WebSocket, WebSocketDisconnect
from limits import RateLimitItem
from pydantic import ValidationError

from server.access.auth import Auth, Ticket
from server.access.rate_limit import OpenSockets, RateLimits
from server.clock import utc_now
from server.errors import (
    AlreadyTookPart,
    CandorError,
    InvalidField,
    InvalidMessage,
    MalformedJson,
    MessageTooLong,
    NotAvailable,
    OutdatedPage,
    RefusedMessage,
    RunOutOfHours,
    StorageFailed,
    TooMany,
    UnknownMessage,
    WrongPhase,
)
from server.live.converse.newcomers import Newcomers
from server.live.converse.sessions import LiveSessions
from server.session.events import FromWorker
from server.session.protocol import (
    CLOSE_OUTDATED,
    MAX_FRAME_BYTES,
    PROTOCOL_VERSION,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    WayBackCard,
    client_messages,
    frame_of,
    plain,
)

# The name of an extension of our server. `write` writes a text at once and returns whether it could.
DIRECT = "candor.direct"
_HELLO_SECONDS = 15.0
_MOST_QUEUED = 256
_MOST_REFUSED = 50
_LONGEST_ERROR = 400
_CLOSE_NORMAL = 1000
_CLOSE_POLICY = 1008
log = structlog.get_logger()


class Page:
    """One worker's page. Messages are sent at once if the page can take them.

    A task does everything that has to wait: sending to a page that reads slowly, and closing.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._write_now: Callable[[bytes], bool] | None = _direct(socket).get("write")
        self._queue: list[ServerMessage] = []
        self._closing: int | None = None
        self._is_sending = False
        self._news = asyncio.Event()
        self.sender = asyncio.get_running_loop().create_task(self._send_all())

    def send(self, *messages: ServerMessage) -> None:
        """Send messages, in one frame.

        A page that has stopped reading is disconnected, and gets a snapshot when it reconnects.
        """
        if self._closing is not None:
            return
        write = None if self._queue or self._is_sending else self._write_now
        if write is not None and write(_frame_of(messages)):
            return
        self._queue.extend(messages)
        self._news.set()
        if len(self._queue) > _MOST_QUEUED:
            self.sender.cancel()

    def close(self, code: int = _CLOSE_NORMAL) -> None:
        """Close the socket with `code` once everything queued is sent. Only the first call counts."""
        if self._closing is None:
            self._closing = code
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


class SocketSession(Protocol):
    """The session that a page is connected to: a live session, or one of a newcomer."""

    @property
    def way_back(self) -> WayBackCard | None:
        """The link for returning the study, if the worker came from a platform and has no assignment."""

    async def attach(self, page: Page) -> None:
        """Attach `page`, and show the session's current state there."""

    async def receive(self, message: FromWorker, page: Page) -> None:
        """Process a worker's message; return once it is acknowledged. Raises whatever prevented it."""

    def detach(self, page: Page) -> None:
        """Detach `page`."""


class WorkerSocket:
    """Serve the workers' WebSocket.

    Args:
        live: The sessions of this process; opened and released here.
        newcomers: Handles workers who have a ticket and no assignment yet.
        auth: Tells which assignment or ticket a token stands for.
        limits: Counts connections and messages.
        per_session: Limit on messages for one assignment.
        per_address: Limit on connections from one address.
        open_sockets: Counts open sockets.
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
        open_sockets: OpenSockets,
    ) -> None:
        self._live = live
        self._newcomers = newcomers
        self._auth = auth
        self._limits = limits
        self._per_session = per_session
        self._per_address = per_address
        self._open_sockets = open_sockets

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection until either side closes it.

        Runs in a task of its own: in the application's task, each message would wake the twenty coroutines of
        the framework above this one. When the server ends it cancels tasks that are left, such as one that
        waits for an unreachable database. That is no error: its page was told to reconnect.
        """
        with self._open_sockets.counted(socket) as may_be_open, suppress(asyncio.CancelledError):
            await asyncio.get_running_loop().create_task(self._serve(socket, may_be_open=may_be_open))

    async def _serve(self, socket: WebSocket, *, may_be_open: bool) -> None:
        await socket.accept()
        page = Page(socket)
        try:
            if may_be_open:
                await self._converse(socket, page)
            else:  # before any `hello`: a silent client would hold one more socket until the `hello` timeout
                page.send(_error_message(TooMany("Too many open connections from this address"), None))
        except WebSocketDisconnect:
            pass
        except TimeoutError:
            page.send(Error(code="silent", message="no `hello` came in time", retry=True))
        except Exception:
            log.exception("connection failed")
            page.send(_error_message(CandorError("Something went wrong on the server"), None))
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

    async def _greet(self, socket: WebSocket, page: Page) -> tuple[str, SocketSession] | None:
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

    async def _open(self, token: str, socket: WebSocket) -> tuple[str, SocketSession]:
        """Return the id of the assignment that a token opens, and its session. Raises CandorError."""
        opens = self._auth.opened_by(token)
        if isinstance(opens, Ticket):
            ticket = opens
            found = await self._newcomers.find(ticket)
            if found is None:
                return ticket.assignment, self._newcomers.greet(ticket, socket)
            opens = found
        return opens, await self._live.open(opens)

    async def _listen(
        self, socket: WebSocket, page: Page, assignment_id: str, session: SocketSession
    ) -> None:
        what = "messages in a short time"
        count = self._limits.counter(self._per_session, what, socket, assignment_id)
        await Listener(page, session, count, assignment_id).hear_all(socket)


class Listener:
    """Receive a page's messages one after the other and pass them to its session.

    Args:
        page: Gets the error message if a message is refused.
        session: Processes the messages.
        count: Counts a message; raises TooMany above the limit.
        assignment: The assignment's id, for the log.
    """

    def __init__(
        self, page: Page, session: SocketSession, count: Callable[[], None], assignment: str
    ) -> None:
        self._page = page
        self._session = session
        self._count = count
        self._assignment = assignment
        self._refused = 0
        self._waiting: asyncio.Task[None] | None = None  # while there is no frame
        self._is_over = False
        page.sender.add_done_callback(lambda _: self._end())

    async def hear_all(self, socket: WebSocket) -> None:
        """Receive until the page is gone or has sent too many messages that were refused."""
        while (frame := await self._next(socket)) is not None:
            try:
                self._count()
                await self._session.receive(FromWorker(parse(frame), utc_now()), self._page)
            except Exception as error:  # a refusal, or an error in our code
                self._refuse(frame, error)

    async def _next(self, socket: WebSocket) -> str | None:
        """Return the next frame, or None if no more frames are to be read."""
        if self._is_over:
            return None
        self._waiting = asyncio.current_task()
        try:
            return await _frame(socket)
        except WebSocketDisconnect:
            return None
        except asyncio.CancelledError:
            if not self._is_over:
                raise
            return None
        finally:
            self._waiting = None

    def _refuse(self, frame: str, error: Exception) -> None:
        if isinstance(error, CandorError):
            self._refused += not isinstance(error, StorageFailed)  # which is not the page's fault
        else:  # an error in our code must not end a worker's session
            log.error("message failed", assignment=self._assignment, exc_info=error)
            error = CandorError("Something went wrong on the server")
        self._page.send(_error_message(error, _id_in(frame), self._session.way_back))
        if self._refused == _MOST_REFUSED:
            log.warning(
                "page closed after too many refused messages",
                assignment=self._assignment,
                refused=self._refused,
            )
            self._page.close(_CLOSE_POLICY)
            self._end()

    def _end(self) -> None:
        """Hear no more. A message that is being processed is finished first."""
        self._is_over = True
        if self._waiting is not None:
            self._waiting.cancel()


def parse(frame: str) -> ClientMessage:
    """Return the message that a frame holds.

    Raises:
        InvalidMessage: The frame holds no valid message. Its subclass names the kind of problem.
    """
    # A character has four bytes at most, so most frames need not be encoded to be measured.
    if 4 * len(frame) > MAX_FRAME_BYTES and len(frame.encode("utf-8", "replace")) > MAX_FRAME_BYTES:
        raise MessageTooLong(f"A frame holds at most {MAX_FRAME_BYTES} bytes")
    try:
        return client_messages.validate_json(frame)
    except ValidationError as error:
        # Without the context: a ValueError in it holds this frame, which would hold the error.
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where, reason = ".".join(str(key) for key in problem["loc"][1:]), problem["msg"]
    match problem["type"]:
        case "json_invalid":
            raise MalformedJson(f"The frame is not JSON: {reason}")
        case "union_tag_invalid" | "union_tag_not_found":
            raise UnknownMessage(f"No message of this type: {reason}")
        case "string_too_long":
            raise MessageTooLong(f"{where}: {reason}")
        case _:
            raise InvalidField(f"{where}: {reason}" if where else reason)


def _direct(socket: WebSocket) -> dict[str, Any]:
    """Return the functions of the `DIRECT` extension; empty with any other server."""
    found: dict[str, Any] = socket.scope.get("extensions", {}).get(DIRECT, {})
    return found


async def _frame(socket: WebSocket) -> str:
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code") or 1000)
    text: str | None = received.get("text")
    return text if text is not None else bytes(received["bytes"]).decode("utf-8", "replace")


def _error_message(error: CandorError, message_id: str | None, way_back: WayBackCard | None = None) -> Error:
    hint = f" {error.hint}" if isinstance(error, RefusedMessage | InvalidMessage) else ""
    what = error.message[:_LONGEST_ERROR]  # some messages repeat what was sent
    again_at = error.again_at if isinstance(error, RunOutOfHours) else None
    has_none = isinstance(error, NotAvailable) and not isinstance(error, AlreadyTookPart)
    return Error(
        code=error.code,
        message=f"{what}.{hint}",
        retry=error.retry,
        id=message_id,
        again_at=again_at,
        way_back=way_back if has_none else None,
    )


def _id_in(frame: str) -> str | None:
    """Return the id in a refused frame, if it has one, so that the page knows which message was refused."""
    with suppress(ValueError, RecursionError):
        content: Any = json.loads(frame)
        if isinstance(content, dict) and isinstance(content.get("id"), str):
            return plain(content["id"])[:64] or None
    return None
