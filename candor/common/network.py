"""Network helpers: sockets, certificates, back-off, Redis pools, limits of requests and answers."""

import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cache
from ssl import SSLContext
from typing import Any, cast

import httpx2
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as ConnectionLost
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tenacity import wait_exponential, wait_random_exponential
from tenacity.wait import wait_base

LARGEST_ANSWER = 8 * 1024 * 1024  # bytes: more than any service that is asked here has to say


def backoff(first: float, *, longest: float, growth: float) -> wait_base:
    """Return pauses of `first` seconds, then `growth` times as long up to `longest`, each times 0.5 to 1.5.

    The random factor keeps clients that lost the same server from returning all at the same moment.
    """
    half = wait_exponential(multiplier=first / 2, max=longest / 2, exp_base=growth)
    return half + wait_random_exponential(multiplier=first, max=longest, exp_base=growth)


@cache
def trusted() -> SSLContext:
    """Return the TLS context by which this process checks certificates.

    It is cached: reading it blocks the event loop for tens of milliseconds.
    """
    return httpx2.create_ssl_context()


def listener(address: str, port: int) -> socket.socket:
    """Return a socket that listens on `address`, of IPv4 or IPv6; port 0 is any free one.

    A name with addresses of both kinds is listened on by IPv4. `::` means every address of the machine, IPv4
    included.

    Connections inherit TCP_NODELAY. asyncio does not see that they are TCP, and an answer, which is written
    in two parts, would wait 40 ms for the client's acknowledgement of the first.

    Raises OSError: it cannot listen there.
    """
    found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    families = {family for family, *_ in found}
    family = socket.AF_INET if socket.AF_INET in families else socket.AF_INET6
    both = family == socket.AF_INET6 and address == "::" and socket.has_dualstack_ipv6()
    listening = socket.create_server((address, port), family=family, backlog=2048, dualstack_ipv6=both)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def in_url(address: str, port: int) -> str:
    """Return an address and a port as written in a URL."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class BodyLimit:
    """ASGI middleware: refuse a body whose announced length is more than `most` bytes with 413, unread.

    Of a body without an announced length, at most that much is read; then the application answers the
    HTTPException.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: int,
        refusal: Callable[[str], ASGIApp],
        elsewhere: Mapping[re.Pattern[str], int] | None = None,
    ) -> None:
        """Guard `app`.

        `refusal` makes the response to an announced body from a reason. `elsewhere`: other limits, by a
        pattern that matches the whole path.
        """
        self._app = app
        self._most = most
        self._refusal = refusal
        self._elsewhere = elsewhere or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_at(scope["path"])
        reason = f"a request holds at most {most} bytes"
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > most:
            await self._refusal(reason)(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, reason)
            return message

        await self._app(scope, counted, send)

    def _most_at(self, path: str) -> int:
        found = (most for pattern, most in self._elsewhere.items() if pattern.fullmatch(path))
        return next(found, self._most)


class _Connection(AbstractConnection):
    """A mixin that reports a connection closed by the other end as lost.

    uvloop raises a RuntimeError for it, which redis-py and its callers do not expect.
    """

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        """Send a command. Raises RedisError, OSError."""
        writer = self._writer  # redis-py drops it if sending fails
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            if writer is None or not writer.is_closing():
                raise
            raise ConnectionLost("Redis has closed the connection") from error


def redis_pool(url: str, **options: Any) -> ConnectionPool:
    """Return a connection pool for the Redis at `url`, owned by the client; nothing is sent yet.

    `options` are redis-py's. Commands raise RedisError or OSError if Redis is away.

    Raises:
        ValueError: `url` is not the URL of a Redis.
    """
    pool = ConnectionPool.from_url(url, **options)
    # The URL determines the class: over TLS, over a Unix socket, or plain.
    pool.connection_class = type("Connection", (_Connection, pool.connection_class), {})
    return pool


class UnreadableAnswer(httpx2.TransportError):
    """An answer has the wrong encoding, or is too long to be read to its end."""


class BoundedClient(httpx2.AsyncClient):
    """An HTTP client that reads at most LARGEST_ANSWER bytes of an answer.

    A longer answer raises UnreadableAnswer. Of an error only the beginning is read.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(verify=trusted(), event_hooks={"response": [_bound]}, **options)
        # Uncompressed, because a small compressed answer could unpack to a huge one.
        self.headers["Accept-Encoding"] = "identity"


async def _bound(response: httpx2.Response) -> None:
    bound_answer(response, LARGEST_ANSWER)


def bound_answer(response: httpx2.Response, most: int) -> None:
    """Limit the size of an answer that is not read yet. Raises UnreadableAnswer if it is compressed."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise UnreadableAnswer("the answer is compressed, though it was asked not to be")
    stream = cast(httpx2.AsyncByteStream, response.stream)
    response.stream = _Bounded(stream, most, refuse=response.is_success)


class _Bounded(httpx2.AsyncByteStream):
    """A stream that ends, or is refused, after `most` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int, refuse: bool) -> None:
        self._stream = stream
        self._most = most
        self._refuse = refuse

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for chunk in self._stream:
            total += len(chunk)
            if total > self._most and self._refuse:
                raise UnreadableAnswer(f"the answer has more than {self._most // 1024} KiB")
            if total > self._most:
                return
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
