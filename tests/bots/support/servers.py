"""Servers that answer in whatever way a test wants, well or badly, on a port of this machine."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext

from bots import Chat, Turn

CHAT = Chat(
    "c1",
    7,
    ("i have a dog .", "i like tea ."),
    (Turn("worker", "hi"), Turn("bot", "hey"), Turn("worker", "a pet?")),
)


@dataclass(frozen=True)
class Request:
    """What a server was sent."""

    path: str
    headers: dict[str, str]
    body: bytes


Behaviour = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Served:
    """A server, and what it was sent so far."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving(
    behaviour: Behaviour, host: str = "127.0.0.1", port: int = 0, ssl: SSLContext | None = None
) -> AsyncIterator[Served]:
    """Serve one request a connection in the way of `behaviour`."""
    served = Served()
    handling: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handling.add(task)
        try:
            request = await read(reader)
            served.requests.append(request)
            await behaviour(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            handling.discard(task)
            writer.close()

    server = await asyncio.start_server(handle, host, port, ssl=ssl)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in handling:
            task.cancel()
        await asyncio.gather(*handling)
        await server.wait_closed()


async def read(reader: asyncio.StreamReader) -> Request:
    """Return the request that comes in."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(head[0].split(" ")[1], headers, body)


def answer(status: int, body: bytes, **headers: str) -> Behaviour:
    """Return the behaviour of answering so to everything."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    whole = "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    async def behave(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole)
        await writer.drain()

    return behave


def said(text: str | None) -> bytes:
    """Return a good answer, in the form of every kind at once."""
    return json.dumps({"text": text, "choices": [{"message": {"content": text}}]}).encode()


def saying(text: str | None) -> Behaviour:
    """Return the behaviour of saying `text` to everybody."""
    return answer(200, said(text), Content_Type="application/json")


async def hang(request: Request, writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def drip(request: Request, writer: asyncio.StreamWriter) -> None:
    """Answer a byte at a time, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def pour(request: Request, writer: asyncio.StreamWriter) -> None:
    """Answer without end, as fast as it is read."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b'{"text": "')
    while True:
        writer.write(b"a" * 65536)
        await writer.drain()


async def break_off(request: Request, writer: asyncio.StreamWriter) -> None:
    """Close in the middle of an answer."""
    writer.write(
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"text": "so'
    )
    await writer.drain()


async def close_at_once(request: Request, writer: asyncio.StreamWriter) -> None:
    """Close without an answer."""


async def babble(request: Request, writer: asyncio.StreamWriter) -> None:
    """Answer in another protocol."""
    writer.write(b"220 mail.example ESMTP\r\n")
    await writer.drain()
