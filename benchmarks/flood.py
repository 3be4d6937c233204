"""What one who floods costs the others: waits from input to acknowledgement, without them and with them.

python benchmarks/flood.py [--workers 200] [--pause 2] [--rate 1000] [--seconds 10] [--rounds 3]

The workers take part as in `benchmarks/turns.py`, at a pace. In turns, so that a busy moment of the machine
meets all of them, they are alone; a worker among them sends so many messages a second over one connection,
whatever the server says to that (inputs, pings, and 60 KB that are no message); an address asks for the
worker's page and joins with what is no worker, so many times a second over many connections, and opens
sockets that never say anything. Each row says what p99 has become against that of the workers alone.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from benchmarks.turns import STUDY, Crowd, Tally, join, quantiles
from server.session.protocol import PROTOCOL_VERSION
from tests.support.server_process import Server

TICKS = 50  # a second, in each of which a part of the rate is sent
CALLERS = 20  # connections of the address that floods
SILENT = 10  # sockets a second that it opens, and leaves
REQUESTS = (
    b"GET /w/turns HTTP/1.1\r\nHost: h\r\n\r\n",
    b"POST /api/join HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
)


class FloodingClient(WSListener):  # type: ignore[misc]
    """A worker who has joined, and notes only what kinds of things the server says."""

    def __init__(self, token: str, heard: Counter[str]) -> None:
        self._token = token
        self._heard = heard

    def on_ws_connected(self, transport: WSTransport) -> None:
        hello = {"type": "hello", "id": "hello", "token": self._token, "protocol": PROTOCOL_VERSION}
        transport.send(WSMsgType.TEXT, json.dumps(hello).encode())

    def on_ws_frame(self, _transport: WSTransport, frame: WSFrame) -> None:
        self._heard["closed" if frame.msg_type == WSMsgType.CLOSE else "answered"] += 1


def _messages() -> Iterator[bytes]:
    says = [
        json.dumps(
            {"type": "say", "id": f"f{n}", "turn": 0, "text": "x" * 400, "conversation": 0, "attempt": 0}
        )
        for n in range(8)
    ]
    pings = [json.dumps({"type": "ping", "id": f"p{n}"}) for n in range(8)]
    return cycle([text.encode() for text in (*says, *pings, "{" * 60_000)])


async def worker_floods(server: Server, rate: int, heard: Counter[str]) -> None:
    """Send for ever; connect again when the server has had enough."""
    token = await asyncio.to_thread(join, server, f"flooding-{time.monotonic_ns()}")
    messages = _messages()
    while True:
        try:
            client = FloodingClient(token, heard)
            transport, _ = await ws_connect(lambda c=client: c, f"ws://127.0.0.1:{server.port}/ws")
        except OSError:
            heard["refused"] += 1
            await asyncio.sleep(1 / TICKS)
            continue
        heard["connected"] += 1
        left = asyncio.ensure_future(transport.wait_disconnected())
        try:
            while not left.done():
                for _ in range(rate // TICKS):
                    transport.send(WSMsgType.TEXT, next(messages))
                    heard["sent"] += 1
                await asyncio.sleep(1 / TICKS)
        finally:
            left.cancel()
            transport.disconnect(graceful=False)


async def address_floods(server: Server, rate: int, heard: Counter[str]) -> None:
    """Ask for ever over CALLERS connections, and open sockets that never say anything."""
    callers = (_asks(server.port, rate / CALLERS, heard) for _ in range(CALLERS))
    await asyncio.gather(*callers, _opens(server.port))


async def _asks(port: int, rate: float, heard: Counter[str]) -> None:
    requests = cycle(REQUESTS)
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                while True:
                    writer.write(next(requests))
                    head = await reader.readuntil(b"\r\n\r\n")
                    heard[head.split(b" ", 2)[1].decode()] += 1
                    lengths = [
                        line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
                    ]
                    await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)
                    await asyncio.sleep(1 / rate)
            finally:
                writer.close()
        await asyncio.sleep(1 / rate)


async def _opens(port: int) -> None:
    held = []
    while True:
        with suppress(OSError):
            held.append(await asyncio.open_connection("127.0.0.1", port))
        await asyncio.sleep(1 / SILENT)


Flood = Callable[[Server, int, Counter[str]], Awaitable[None]]
FLOODS: dict[str, Flood | None] = {
    "workers alone": None,
    "a worker floods": worker_floods,
    "an address floods": address_floods,
}


@asynccontextmanager
async def flooded(flood: Flood | None, server: Server, rate: int, heard: Counter[str]) -> AsyncIterator[None]:
    task = None if flood is None else asyncio.ensure_future(flood(server, rate, heard))
    try:
        yield
        if task is not None and task.done():
            task.result()  # a flood that has ended is none
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def measure(workers: int, pause: float, rate: int, seconds: float, rounds: int) -> None:
    waits: dict[str, list[float]] = {name: [] for name in FLOODS}
    p99: dict[str, list[float]] = {name: [] for name in FLOODS}
    heard: dict[str, Counter[str]] = {name: Counter() for name in FLOODS}
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        study = Path(folder) / "turns.yaml"
        study.write_text(STUDY)
        server.open_run(study, "turns")
        server.start()
        try:
            crowd = Crowd(server, pause, tally)
            await asyncio.gather(*(crowd.arrive() for _ in range(workers)))
            await asyncio.sleep(2 * pause)
            for _ in range(rounds):
                for name, flood in FLOODS.items():
                    async with flooded(flood, server, rate, heard[name]):
                        await asyncio.sleep(1)
                        tally.counting = True
                        await asyncio.sleep(seconds)
                        tally.counting = False
                    waits[name] += tally.waits
                    p99[name].append(statistics.quantiles(tally.waits, n=100)[98])
                    tally.waits.clear()
            crowd.leave()
            await asyncio.sleep(1)
        finally:
            server.stop()
    alone = p99["workers alone"]
    for name in FLOODS:
        ratios = ", ".join(f"{each / base:.2f}" for each, base in zip(p99[name], alone, strict=True))
        print(f"{name:18} {quantiles(waits[name])}; p99 over alone: {ratios}; {dict(heard[name])}")
    if tally.errors:
        print(f"errors: {dict(tally.errors)}")


def main(
    workers: Annotated[int, typer.Option(help="Workers who take part.")] = 200,
    pause: Annotated[float, typer.Option(help="Seconds until one of them answers.")] = 2.0,
    rate: Annotated[int, typer.Option(help="Messages, or requests, a second of who floods.")] = 1000,
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 10.0,
    rounds: Annotated[int, typer.Option(help="How often each is measured.")] = 3,
) -> None:
    """Measure what one who floods costs the others."""
    uvloop.run(measure(workers, pause, rate, seconds, rounds))


if __name__ == "__main__":
    typer.run(main)
