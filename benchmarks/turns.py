"""Measure durable turns a second of the server, against a bare WebSocket echo on the same uvicorn.

python benchmarks/turns.py [--connections 50 --connections 500] [--seconds 10]
python benchmarks/turns.py --connections 3000 --pause 10 --seconds 60

A turn is a worker's input, stored and acknowledged, and the bot's reply, stored and shown. Workers send the
next input when they have seen the reply, at once or after `--pause` seconds, plus or minus a half. They also
rate, continue with the next conversation, and join again after submitting; this takes part of the time and
is not counted as turns. The bot is the cheapest one (the QC bot, which draws a line). Rows are in SQLite,
each commit with fsync. One run measures the echo and the server, with one load generator (picows, in Cython)
in this process. Memory is the growth of the server's process for each session.

An arrival is a join over HTTP, a WebSocket, the consent to the instructions, a slot, the first topic and the
first conversation. Arrivals a second are those of the crowd at the beginning.

Below each row is the processor time of one echo and one turn, by process. On a machine with other work, it is
more reliable than the row, because it does not include the time of other processes.
"""

import asyncio
import json
import os
import platform
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect
from pydantic_core import from_json

sys.path.insert(0, str(Path(__file__).parents[1]))
from server.session.protocol import PROTOCOL_VERSION
from tests.support.server_process import Server

INPUTS = 20  # of a conversation
SYSTEMS = 5
STUDY = f"""\
name: turns
title: Turns
payment: Nobody is paid.
systems_per_assignment: {SYSTEMS}
qc_per_assignment: 1
minimum_inputs: {INPUTS}
criteria: [{{label: fun, statement: It was fun.}}]
systems:
{"".join(f"  - {{name: s{k}, family: f{k}, bot: qc}}" + chr(10) for k in range(SYSTEMS))}
"""
SAYING = "I have been reading about the sea and its tides lately, what do you think of it?"
WARM_UP = 3.0  # seconds before anything is counted
AT_ONCE = 32  # arrivals
TICKS = os.sysconf("SC_CLK_TCK")  # a second

ECHO = """
import sys, uvicorn
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})
uvicorn.run(app, port=int(sys.argv[1]), ws="websockets-sansio", log_level="warning", access_log=False)
"""


class Tally:
    """What was counted since the warm-up: messages echoed or turns completed, and waits in milliseconds."""

    def __init__(self) -> None:
        self.counting = False
        self.done = 0
        self.waits: list[float] = []
        self.errors: Counter[str] = Counter()
        self.memory = 0.0  # KiB a session
        self.arrivals = 0.0  # a second
        self.processor: dict[str, float] = {}  # microseconds of what was counted, by whom

    def wait(self, since: float) -> None:
        if self.counting:
            self.waits.append((time.perf_counter() - since) * 1000)


class EchoClient(WSListener):  # type: ignore[misc]
    """Sends a line when it is told to `begin`, and the next when it has come back."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._line = json.dumps({"type": "say", "id": "0" * 12, "turn": 1, "text": SAYING}).encode()

    def begin(self, transport: WSTransport) -> None:
        self._send(transport)

    def on_ws_frame(self, transport: WSTransport, _frame: WSFrame) -> None:
        if self._tally.counting:
            self._tally.done += 1
            self._tally.wait(self._since)
        self._send(transport)

    def _send(self, transport: WSTransport) -> None:
        self._since = time.perf_counter()
        transport.send(WSMsgType.TEXT, self._line)


class WorkerClient(WSListener):  # type: ignore[misc]
    """A worker. `talks`: from the first conversation on. `leave` is called when it hands in."""

    def __init__(self, token: str, pause: float, tally: Tally, leave: Callable[[], None]) -> None:
        self.talks = asyncio.Event()
        self._token = token
        self._pause = pause
        self._tally = tally
        self._leave = leave
        self._turn = 0
        self._sent = 0
        self._since: dict[str, float] = {}
        self._where: dict[str, int] = {}

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._send(transport, "hello", token=self._token, protocol=PROTOCOL_VERSION)

    def on_ws_disconnected(self, _transport: WSTransport) -> None:
        self._leave()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return
        content = from_json(frame.get_payload_as_bytes())
        for message in content if isinstance(content, list) else [content]:
            self._hear(transport, message)

    def _hear(self, transport: WSTransport, message: dict[str, Any]) -> None:
        match message["type"]:
            case "snapshot":
                self._send(transport, "agree")
            case "topic_due":
                self._where = {key: message[key] for key in ("conversation", "attempt")}
                self._send(transport, "topic", text="the sea", opinion="like", **self._where)
            case "conversation_started":
                self._turn = 0
                self.talks.set()
                self._say_later(transport)
            case "said":
                self._turn = message["turn"] + 1
                if self._tally.counting:
                    self._tally.done += 1
                if self._turn < 2 * INPUTS:
                    self._say_later(transport)
                else:
                    self._send(transport, "end_conversation", **self._where)
            case "rating_due":
                self._send(transport, "rate", ratings={"fun": 50}, **self._where)
            case "feedback_due":
                self._send(transport, "feedback", text="")
            case "completed":
                transport.disconnect()
            case "accepted":
                if (since := self._since.pop(message["id"], None)) is not None:
                    self._tally.wait(since)
            case "error":
                self._tally.errors[message["message"]] += 1
                transport.disconnect()

    def _say_later(self, transport: WSTransport) -> None:
        if not self._pause:
            self._say(transport)
            return
        seconds = random.uniform(0.5, 1.5) * self._pause
        asyncio.get_running_loop().call_later(seconds, self._say, transport)

    def _say(self, transport: WSTransport) -> None:
        self._sent += 1
        name = f"m{self._sent}"
        where = "".join([f'"{key}":{value},' for key, value in self._where.items()])
        line = f'{{"type":"say","id":"{name}",{where}"turn":{self._turn},"text":"{SAYING}"}}'
        self._since[name] = time.perf_counter()
        transport.send(WSMsgType.TEXT, line.encode())

    def _send(self, transport: WSTransport, kind: str, **fields: Any) -> str:
        self._sent += 1
        name = f"m{self._sent}"
        transport.send(WSMsgType.TEXT, json.dumps({"type": kind, "id": name, **fields}).encode())
        return name


async def join(server: Server, worker: str) -> str:
    """Return the token of a new simulated worker, whose replies are shown as soon as they are there.

    Written by hand, over a connection of its own: what a client's library takes for it, in a thread, the
    server would lack, with which it shares the processors.
    """
    content = {"run": "turns", "worker": worker, "simulated": True, "reply_pace": 0.0}
    body = json.dumps(content)
    head = (
        f"POST /api/join HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write((head + body).encode())
    answer = await reader.read()  # to its end, as the connection is closed then
    writer.close()
    status, _, rest = answer.partition(b"\r\n")
    if status.split()[1] != b"200":
        raise OSError(f"{worker} was not taken: {status.decode()}")
    return str(from_json(rest.partition(b"\r\n\r\n")[2])["token"])


async def connect_echo(port: int, tally: Tally, connections: int) -> list[WSTransport]:
    """Return so many connections. None says anything before all are there: each would wait for the others."""
    opened = [
        await ws_connect(lambda: EchoClient(tally), f"ws://127.0.0.1:{port}/") for _ in range(connections)
    ]
    for transport, client in opened:
        client.begin(transport)
    return [transport for transport, _ in opened]


class Crowd:
    """So many workers at a time; whoever hands in is followed by the next."""

    def __init__(self, server: Server, pause: float, tally: Tally) -> None:
        self._server = server
        self._pause = pause
        self._tally = tally
        self._number = 0
        self._door = asyncio.Semaphore(AT_ONCE)
        self._arriving: set[asyncio.Task[WorkerClient]] = set()
        self._transports: set[WSTransport] = set()
        self.over = False

    async def fill(self, number: int) -> float:
        """Let so many workers arrive; return how many a second did, each until their first conversation."""
        started = time.perf_counter()
        workers = await asyncio.gather(*(self.arrive() for _ in range(number)))
        await asyncio.gather(*(worker.talks.wait() for worker in workers))
        return number / (time.perf_counter() - started)

    async def arrive(self) -> WorkerClient:
        self._number += 1
        name = f"worker-{id(self)}-{self._number}"
        url = f"ws://127.0.0.1:{self._server.port}/ws"
        async with self._door:
            token = await join(self._server, name)
            client = WorkerClient(token, self._pause, self._tally, self._next)
            transport, _ = await ws_connect(lambda: client, url)
        self._transports.add(transport)
        return client

    def _next(self) -> None:
        if not self.over:
            task = asyncio.get_running_loop().create_task(self.arrive())
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    def leave(self) -> None:
        self.over = True
        for transport in self._transports:
            transport.disconnect(graceful=False)


async def counted(tally: Tally, seconds: float, server: int) -> float:
    """Return how many a second there were, after a warm-up. `server`: the id of its process."""
    await asyncio.sleep(WARM_UP)
    before = processor_seconds(server)
    tally.counting, started = True, time.perf_counter()
    await asyncio.sleep(seconds)
    tally.counting = False
    for who, used in processor_seconds(server).items():
        tally.processor[who] = 1e6 * (used - before.get(who, 0.0)) / max(tally.done, 1)
    return tally.done / (time.perf_counter() - started)


def processor_seconds(server: int) -> dict[str, float]:
    """Return the processor time of a server's event loop, its other threads, its bot hosts, and of us."""
    threads = {int(task.name): seconds_in(task / "stat") for task in Path(f"/proc/{server}/task").iterdir()}
    hosts = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return {
        "event loop": threads.pop(server),
        "its other threads": sum(threads.values()),
        "bot hosts": sum(seconds_in(Path(f"/proc/{host}/stat")) for host in hosts),
        "load generator": time.process_time(),
    }


def seconds_in(stat: Path) -> float:
    """Return the processor time, of user and system, that `stat` of a process or thread tells (proc(5))."""
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def echo_server(folder: Path) -> Iterator[tuple[int, int]]:
    """Run the echo; yield its port and the id of its process."""
    port = Server(folder).port
    process = subprocess.Popen([sys.executable, "-c", ECHO, str(port)])
    while not listens(port):
        time.sleep(0.1)
    try:
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def echoes(folder: Path, connections: int, seconds: float) -> tuple[float, Tally]:
    tally = Tally()
    with echo_server(folder) as (port, process):
        transports = await connect_echo(port, tally, connections)
        rate = await counted(tally, seconds, process)
        for transport in transports:
            transport.disconnect(graceful=False)
    return rate, tally


async def turns(server: Server, connections: int, pause: float, seconds: float) -> tuple[float, Tally]:
    tally = Tally()
    crowd = Crowd(server, pause, tally)
    before = resident(server)
    tally.arrivals = await crowd.fill(connections)
    await asyncio.sleep(1.5 * pause)  # all of them are in a conversation, at moments of their own
    rate = await counted(tally, seconds, server.process.pid)
    tally.memory = (resident(server) - before) / connections
    crowd.leave()
    await asyncio.sleep(1)
    return rate, tally


def resident(server: Server) -> float:
    """Return the KiB of memory that the server's process has."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return float(status.partition("VmRSS:")[2].split()[0])


def quantiles(waits: list[float]) -> str:
    if len(waits) < 100:
        return "too few"
    cut = statistics.quantiles(waits, n=100)
    return f"p50 {cut[49]:.1f} ms, p99 {cut[98]:.1f} ms, longest {max(waits):.0f} ms"


def shares(tally: Tally) -> str:
    """Return what one of what was counted took of the processors."""
    return ", ".join(f"{who} {used:.0f} µs" for who, used in tally.processor.items() if used >= 1)


async def measure(connections: list[int], pause: float, seconds: float) -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("uvicorn", "websockets", "picows"))
    print(f"Python {platform.python_version()}, {packages}")
    head = f"{'connections':>11} {'echo/s':>9} {'turns/s':>9} {'ratio':>7} {'KiB each':>9}"
    print(f"{head} {'arrivals/s':>10}  input to acknowledgement")
    for number in connections:
        with tempfile.TemporaryDirectory() as folder:
            echo, echoed = await echoes(Path(folder), number, seconds)
            server = Server(Path(folder))
            study = Path(folder) / "turns.yaml"
            study.write_text(STUDY)
            server.open_run(study, "turns")
            server.start()
            try:
                rate, tally = await turns(server, number, pause, seconds)
            finally:
                server.stop()
            measured = f"{number:>11} {echo:>9.0f} {rate:>9.0f} {rate / echo:>7.3f} {tally.memory:>9.0f}"
            print(f"{measured} {tally.arrivals:>10.0f}  {quantiles(tally.waits)}", flush=True)
            print(f"            an echo: {shares(echoed)}\n            a turn: {shares(tally)}", flush=True)
            if tally.errors:
                print(f"            errors: {dict(tally.errors)}")


def main(
    connections: Annotated[list[int], typer.Option(help="Connections at a time; give it several times.")] = [  # noqa: B006
        50,
        500,
    ],
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 10.0,
    pause: Annotated[float, typer.Option(help="Seconds until a worker answers; people take about 10.")] = 0.0,
) -> None:
    """Measure durable turns a second against a bare echo."""
    uvloop.run(measure(connections, pause, seconds))


if __name__ == "__main__":
    typer.run(main)
