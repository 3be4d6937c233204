"""Measure how much a flooding client slows other workers: waits from input to acknowledgement.

python benchmarks/flood.py [--workers 200] [--pause 2] [--rate 1000] [--seconds 10] [--rounds 3]

The workers take part as in `benchmarks/turns.py`, with pauses. Four conditions alternate, so that a busy
moment of the machine affects all of them:
1. The workers are alone.
2. One worker sends so many messages a second over one connection (inputs, pings, and 60 KB of invalid data),
   and ignores refusals.
3. A client with its own address sends so many requests a second over many connections: it asks for the
   worker's page, joins with invalid data, and opens sockets that never send anything.
4. The same client opens a new connection for each request.
Each row compares p99 with that of the workers alone: the median of all rounds, and each round.

The output also gives the CPU time of the server's event loop, which other work on the machine changes little.
The flooding client is a process of its own, so the load generator's own waits are not in the figures.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from benchmarks.turns import STUDY, Crowd, Tally, join, processor_seconds, quantiles
from server.session.protocol import PROTOCOL_VERSION
from tests.support.server_process import Server

TICKS = 50  # a second, in each of which a part of the rate is sent
FLOODING = "127.0.0.2"  # the workers' own, 127.0.0.1, has no limits in this benchmark
CALLERS = 20  # connections of the address that floods
BEFORE = 2.0  # seconds that it floods before anything is counted
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


async def worker_floods(port: int, token: str, rate: int, heard: Counter[str]) -> None:
    """Send for ever; connect again when the server has had enough."""
    messages = _messages()
    while True:
        try:
            client = FloodingClient(token, heard)
            transport, _ = await ws_connect(lambda c=client: c, f"ws://127.0.0.1:{port}/ws")
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


async def address_floods(port: int, _token: str, rate: int, heard: Counter[str]) -> None:
    """Ask for ever over CALLERS connections, and open sockets that never say anything."""
    callers = (_asks(port, rate / CALLERS, heard) for _ in range(CALLERS))
    await asyncio.gather(*callers, _opens(port))


async def address_connects(port: int, _token: str, rate: int, heard: Counter[str]) -> None:
    """Ask for ever, over a new connection each time, and wait for no answer before the next."""
    requests, asking = cycle(REQUESTS), set()
    while True:
        for _ in range(rate // TICKS):
            task = asyncio.ensure_future(_asks_once(port, next(requests), heard))
            asking.add(task)
            task.add_done_callback(asking.discard)
        await asyncio.sleep(1 / TICKS)


async def _asks(port: int, rate: float, heard: Counter[str]) -> None:
    requests = cycle(REQUESTS)
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await _open(port)
            try:
                while True:
                    await _ask(reader, writer, next(requests), heard)
                    await asyncio.sleep(1 / rate)
            finally:
                writer.close()
        await asyncio.sleep(1 / rate)


async def _asks_once(port: int, request: bytes, heard: Counter[str]) -> None:
    try:
        reader, writer = await _open(port)
        try:
            await _ask(reader, writer, request, heard)
        finally:
            writer.close()
    except (OSError, asyncio.IncompleteReadError):
        heard["closed"] += 1


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes, heard: Counter[str]
) -> None:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    heard[head.split(b" ", 2)[1].decode()] += 1
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)


def _open(port: int) -> Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    return asyncio.open_connection("127.0.0.1", port, local_addr=(FLOODING, 0))


async def _opens(port: int) -> None:
    held = []
    while True:
        with suppress(OSError):
            held.append(await _open(port))
        await asyncio.sleep(1 / SILENT)


Flood = Callable[[int, str, int, Counter[str]], Awaitable[None]]
FLOODS: dict[str, Flood | None] = {
    "workers alone": None,
    "a worker floods": worker_floods,
    "an address floods": address_floods,
    "one that connects": address_connects,
}


def flooded(name: str, port: int, token: str, rate: int, seconds: float) -> Counter[str]:
    """Flood for so many seconds, in a process of its own; return what the server has answered."""
    heard: Counter[str] = Counter()
    flood = FLOODS[name]
    if flood is not None:
        with suppress(TimeoutError):
            uvloop.run(asyncio.wait_for(flood(port, token, rate, heard), seconds))
    return heard


def event_loop_seconds(server: Server) -> float:
    return processor_seconds(server.process.pid)["event loop"]


async def measure(workers: int, pause: float, rate: int, seconds: float, rounds: int) -> None:
    waits: dict[str, list[float]] = {name: [] for name in FLOODS}
    p99: dict[str, list[float]] = {name: [] for name in FLOODS}
    heard: dict[str, Counter[str]] = {name: Counter() for name in FLOODS}
    busy = dict.fromkeys(FLOODS, 0.0)
    tally, loop = Tally(), asyncio.get_running_loop()
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
                for name in FLOODS:
                    token = await join(server, f"flooding-{time.monotonic_ns()}")
                    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
                        await loop.run_in_executor(apart, str)  # it has started
                        length = seconds + BEFORE
                        flood = loop.run_in_executor(apart, flooded, name, server.port, token, rate, length)
                        await asyncio.sleep(BEFORE)
                        before, tally.counting = event_loop_seconds(server), True
                        await asyncio.sleep(seconds)
                        tally.counting = False
                        busy[name] += (event_loop_seconds(server) - before) / (seconds * rounds)
                        heard[name] += await flood
                    waits[name] += tally.waits
                    p99[name].append(statistics.quantiles(tally.waits, n=100)[98])
                    tally.waits.clear()
            crowd.leave()
            await asyncio.sleep(3)  # who was about to arrive has
        finally:
            server.stop()
    alone = p99["workers alone"]
    for name in FLOODS:
        each = [one / base for one, base in zip(p99[name], alone, strict=True)]
        ratios = f"{statistics.median(each):.2f} (each: {', '.join(f'{one:.2f}' for one in each)})"
        loop_share = f"event loop {busy[name]:.0%} of a processor"
        print(
            f"{name:18} {quantiles(waits[name])}; p99 over alone: {ratios}; {loop_share}; {dict(heard[name])}"
        )
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
