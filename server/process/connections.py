"""Serve connections with uvicorn, with limits for silent clients, pings and invalid text.

The classes here derive from classes of uvicorn and h11, and read the state of websockets' parser. No document
promises these, so importing this module checks that they are as expected.

Raises:
    ImportError: The installed versions do not fit. `server.process.server` then does without this module.
"""

import asyncio
from collections import deque
from dis import get_instructions
from http import HTTPStatus
from inspect import isfunction
from time import monotonic
from types import CodeType
from typing import Any, Final, Protocol, cast

import h11
import structlog
from starlette.types import Message
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.streams import StreamReader

from server.live.converse.socket import DIRECT
from server.process.traffic_shaping import Shaper, refusal_bytes

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

_TEXT, _MASKED = 0x81, 0x80  # first byte of an unfragmented text frame; mask bit of a client's frames
_SHORT, _LONG = 126, 65_536  # lengths below these take one byte, and three bytes


def text_frame(text: bytes) -> bytes:
    """Return the frame that sends a text, in UTF-8, to a client (RFC 6455, section 5.2)."""
    size = len(text)
    if size < _SHORT:
        return bytes((_TEXT, size)) + text
    if size < _LONG:
        return bytes((_TEXT, 126)) + size.to_bytes(2, "big") + text
    return bytes((_TEXT, 127)) + size.to_bytes(8, "big") + text


def whole_text(data: bytes) -> bytes | None:
    """Return the text if `data` is exactly one unfragmented text frame of a client, else None.

    Also return None for frames longer than 65,535 bytes (RFC 6455, section 5.2).
    """
    if len(data) < 6 or data[0] != _TEXT or not data[1] & _MASKED:
        return None
    size, start = data[1] & ~_MASKED, 2
    if size == 127:
        return None
    if size == 126:
        size, start = int.from_bytes(data[2:4], "big"), 4
    if len(data) != start + 4 + size:
        return None
    return apply_mask(data[start + 4 :], data[start : start + 4])


REQUEST_SECONDS = 15.0
MOST_PINGS, PINGS_A_SECOND = 30, 1.0  # per client: a page sends none, a bot host one every ten seconds
_ENDS = frozenset({b"content-length", b"transfer-encoding"})  # headers that define the end of a request
_AT_START = StreamReader.at_eof.__code__  # where the parser waits for the beginning of a frame
log = structlog.get_logger()


class HasAddress(Protocol):
    """A collection of addresses and networks."""

    def __contains__(self, address: str) -> bool:
        """Return whether the collection contains the address."""


class ConnectionCounts(ServerState):
    """The state shared by the connections of a server. `silent`: connections closed for silence."""

    def __init__(self, shaper: Shaper, proxies: HasAddress) -> None:
        super().__init__()
        self.silent = 0
        self.shaper = shaper
        self.proxies = proxies


class Requests(h11.Connection):
    """Parses requests, and refuses those with both Content-Length and Transfer-Encoding.

    RFC 9112 (6.1) allows a server to use one of the two. If a proxy in front used the other, the body of one
    caller's request could be read here as the next caller's request (request smuggling).
    """

    def next_event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        """Return the next event. Raises h11.RemoteProtocolError, after which the connection is closed."""
        event = super().next_event()
        if isinstance(event, h11.Request) and {name for name, _ in event.headers} >= _ENDS:
            raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event


class HttpConnection(H11Protocol):
    """An HTTP connection that is closed if a request is not complete within `REQUEST_SECONDS`.

    uvicorn's own limit only covers the time between a response and the next byte. Without this limit, silent
    connections and unfinished requests could use up all files that the process may open.
    """

    server_state: ConnectionCounts
    _limit: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = Requests(h11.SERVER)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first request."""
        super().connection_made(transport)
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Process data, or refuse a request unread if its peer, which is not a proxy, sends too many."""
        seconds = self._refusal()
        if seconds is None:
            super().data_received(data)
        else:
            self.transport.write(refusal_bytes(seconds))
            self.transport.close()

    def _refusal(self) -> int | None:
        """Return after how many seconds a request would be accepted; None if it is accepted now."""
        state = self.server_state
        if self.client is None or self.conn.their_state is not h11.IDLE or self.client[0] in state.proxies:
            return None
        return state.shaper.refusal(self.client[0], monotonic())

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit."""
        self._expect_nothing()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Cancel the time limit, because WebSockets have their own limits."""
        self._expect_nothing()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        super().on_response_complete()
        self._expect_request()

    def _expect_request(self) -> None:
        self._expect_nothing()
        if not self.transport.is_closing():
            self._limit = self.loop.call_later(REQUEST_SECONDS, self._close_if_silent)

    def _expect_nothing(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _close_if_silent(self) -> None:
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            self.server_state.silent += 1
            self.transport.abort()  # no response is due


class Received:
    """A queue of received events for exactly one task.

    asyncio's queue serves any number of tasks, at four times the cost.
    """

    def __init__(self) -> None:
        self._waiting: deque[Message] = deque()
        self._taker: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def empty(self) -> bool:
        """Return whether the queue is empty."""
        return not self._waiting

    def put_nowait(self, event: Message) -> None:
        """Add an event."""
        self._waiting.append(event)
        if self._taker is not None and not self._taker.done():
            self._taker.set_result(None)

    async def get(self) -> Message:
        """Remove and return the first event; wait if there is none."""
        if not self._waiting:
            self._taker = asyncio.get_running_loop().create_future()
            await self._taker
        return self._waiting.popleft()


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket that closes on text that is not valid UTF-8, and on too many pings, with a line in the log.

    With many pings, a worker could measure how busy the server is while a bot is called. The scope has the
    extension `DIRECT`: `write_now` sends without waiting.
    """

    _pings = 0.0
    _pinged = 0.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.queue: Received = Received()  # type: ignore[assignment]  # all that is asked of a queue
        self._direct: dict[object, object] = {}

    def connection_lost(self, exc: Exception | None) -> None:
        """Break reference cycles, which otherwise only the rare garbage collection would free."""
        super().connection_lost(exc)
        self._direct.clear()

    def data_received(self, data: bytes) -> None:
        """Process data. A complete text frame, which is the most frequent case, bypasses the parser."""
        text = whole_text(data) if self._is_between_messages() else None
        if text is None:
            super().data_received(data)
        else:
            self.curr_msg_data_type = "text"
            self.frames = [text]
            self.send_receive_event_to_app()

    def _is_between_messages(self) -> bool:
        """Return whether the parser waits for the first byte of a message."""
        conn = self.conn
        is_open = conn.state is State.OPEN and conn.current_size is None and not conn.reader.buffer
        return is_open and _innermost(conn.parser) is _AT_START

    def handle_cont(self, event: Frame) -> None:
        """Keep a part of a message, unless it is empty: empty parts count against no limit of size."""
        if event.data or event.fin:
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answer a ping, or close the connection after too many recent pings."""
        now = self.loop.time()
        self._pings = max(self._pings - (now - self._pinged) * PINGS_A_SECOND, 0) + 1
        self._pinged = now
        if self._pings <= MOST_PINGS:
            super().handle_ping()
        elif not self.close_sent:
            self._close(CloseCode.POLICY_VIOLATION, "it pings too often")

    def handle_connect(self, event: Request) -> None:
        """Begin to serve the connection; the application's task starts when this has returned."""
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            self._direct.update(write=self.write_now)
            self.scope["extensions"] = {**(self.scope["extensions"] or {}), DIRECT: self._direct}

    def write_now(self, text: bytes) -> bool:
        """Send a UTF-8 text if that is possible without waiting; return whether it was sent."""
        if not self.writable.is_set() or self.close_sent or self.disconnected or self.transport.is_closing():
            return False
        self.transport.write(text_frame(text))
        return True

    def send_receive_event_to_app(self) -> None:
        """Pass on a complete message. Pause reading only if another message is waiting already.

        uvicorn pauses and resumes reading at every message, which costs two system calls each.
        """
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        self.frames = []
        if self.close_sent:
            return
        if self.curr_msg_data_type == "bytes":
            self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        else:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                self._close(CloseCode.INVALID_DATA, "a message was not valid UTF-8")
                return
            self.queue.put_nowait({"type": "websocket.receive", "text": text})
        if len(self.queue) > 1 and not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def _close(self, code: CloseCode, reason: str) -> None:
        # The id from `RequestIds`, because this does not run in the context of the connection's task.
        name = self.scope["state"].get("request_id")
        log.warning(f"connection closed: {reason}", request_id=name)
        self.conn.fail(code, reason)
        self.handle_parser_exception()


def _innermost(generator: Any) -> CodeType:
    """Return the code of the innermost generator in which a chain of generators waits."""
    while generator.gi_yieldfrom is not None:
        generator = generator.gi_yieldfrom
    return cast("CodeType", generator.gi_code)


# The attributes of each class that are used here. Each is defined in the class or assigned in a method of it.
_USED: Final = {
    H11Protocol: "client conn connection_lost connection_made cycle data_received handle_websocket_upgrade "
    "loop on_response_complete shutdown transport",
    WebSocketsSansIOProtocol: "close_sent conn connection_lost curr_msg_data_type data_received disconnected "
    "frames handle_connect handle_cont handle_parser_exception handle_ping loop queue read_paused response "
    "scope send_receive_event_to_app transport writable",
    ServerProtocol: "current_size fail parser reader state",
    StreamReader: "buffer",
}
_HANDSHAKE: Final = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def _require_fitting() -> None:
    """Check that uvicorn and websockets are as the classes above expect. Raises ImportError."""
    for kind, used in _USED.items():
        missing = sorted(set(used.split()) - _names_in(kind))
        if missing:
            raise ImportError(f"{kind.__module__}.{kind.__name__} has no {', '.join(missing)}")
    conn = ServerProtocol()
    try:
        conn.receive_data(_HANDSHAKE)
        for request in conn.events_received():
            if isinstance(request, Request):
                conn.send_response(conn.accept(request))
    except Exception as error:
        raise ImportError(f"websockets' parser refuses a handshake: {error!r}") from error
    if conn.state is not State.OPEN or conn.current_size is not None or conn.reader.buffer:
        raise ImportError("websockets' parser is in an unknown state after a handshake")
    if _innermost(conn.parser) is not _AT_START:
        raise ImportError("websockets' parser does not wait for a frame in StreamReader.at_eof")


def _names_in(kind: type) -> set[str]:
    """Return the names of all attributes that a class has, or that its methods assign."""
    functions = [each for parent in kind.__mro__ for each in vars(parent).values() if isfunction(each)]
    assigned = {
        str(each.argval)
        for function in functions
        for each in get_instructions(function)
        if each.opname == "STORE_ATTR"
    }
    return assigned | set(dir(kind))


_require_fitting()
