"""Measure the cost of a bare turn: how much of a turn is this stack, and how much is Candor?

python benchmarks/bare_turns.py [--connections 50 --connections 500] [--seconds 10]

The server is the same as in `turns.py` (uvicorn, its WebSockets, its loop) with the least possible code for a
turn. An input is parsed with our protocol, stored with fsync in one commit with other pending inputs, and
acknowledged. A bot in another process is asked; its reply is stored as well and shown. Nothing belongs to
studies: no session, limit, check of a line, slot or fence, and only one table. Echo, load generator and
figures are those of `turns.py`, except that workers send inputs without end, and that the bot's process is
not counted.
"""

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.turns import SAYING, Tally, counted, echoes, listens, quantiles, shares
from server.clock import utc_now
from server.live.converse.socket import DIRECT
from server.process.connections import WebSocketConnection
from server.session.protocol import client_messages
from tests.support.local_process import free_port

LINES = [f"I have {number} shells from the sea, and what do you collect?" for number in range(100)]
Row = tuple[str, int, str, str, str | None, str]
commands = typer.Typer(add_completion=False)


class Talker(WSListener):  # type: ignore[misc]
    """Says a line, and the next when it has seen the reply."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._turn = 0
        self._sent = 0
        self._since: dict[str, float] = {}

    def say(self, transport: WSTransport) -> None:
        self._sent += 1
        name = f"m{self._sent}"
        where = {"conversation": 1, "attempt": 1, "turn": self._turn}
        self._since[name] = time.perf_counter()
        content = {"type": "say", "id": name, "text": SAYING, **where}
        transport.send(WSMsgType.TEXT, json.dumps(content).encode())

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        message = json.loads(frame.get_payload_as_bytes())
        if message["type"] == "accepted":
            self._tally.wait(self._since.pop(message["id"]))
            return
        self._turn = (message["turn"] + 1) % 40
        self._tally.done += self._tally.counting
        self.say(transport)


class Rows(threading.Thread):
    """Stores lines, all that wait in one commit, and says so in the event loop."""

    def __init__(self, database: str, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(daemon=True)
        self._database = database
        self._loop = loop
        self._waiting: list[tuple[Row, Callable[[], None]]] = []
        self._news = threading.Event()

    def put(self, row: Row, then: Callable[[], None]) -> None:
        self._waiting.append((row, then))
        self._news.set()

    def run(self) -> None:
        database = sqlite3.connect(self._database, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute(
            "CREATE TABLE turn (conversation, turn_index, author, text, client_id, created_at, "
            "PRIMARY KEY (conversation, turn_index))"
        )
        while self._news.wait():
            self._news.clear()
            stored, self._waiting = self._waiting, []
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?)", [row for row, _ in stored])
            database.execute("COMMIT")
            self._loop.call_soon_threadsafe(_tell, [then for _, then in stored])


def _tell(thens: list[Callable[[], None]]) -> None:
    for then in thens:
        then()


class Lines(asyncio.Protocol):
    """Frames of JSON, one a line: all those of one turn of the event loop are written together."""

    def __init__(self, hear: Callable[["Lines", dict[str, Any]], None]) -> None:
        self._hear = hear
        self._rest = b""
        self._out: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hear(self, json.loads(line))

    def send(self, content: dict[str, Any]) -> None:
        if not self._out:
            asyncio.get_running_loop().call_soon(self._flush)
        self._out.append(json.dumps(content).encode() + b"\n")

    def _flush(self) -> None:
        self._transport.write(b"".join(self._out))
        self._out = []


class BareServer:
    """The application: a turn and nothing else."""

    def __init__(self, database: str, bot: str) -> None:
        self._database = database
        self._bot_address = bot
        self._answers: dict[str, Callable[[str], None]] = {}

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await self._start()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await receive()
        await send({"type": "websocket.accept"})
        write, name, turns = scope["extensions"][DIRECT]["write"], str(id(scope)), 0
        while (message := await receive())["type"] == "websocket.receive":
            said = client_messages.validate_json(message["text"])
            row = (name, 2 * turns, "worker", said.text, said.id, utc_now().isoformat())
            self._rows.put(row, partial(self._stored, write, name, 2 * turns, said.id, said.text))
            turns += 1

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._rows = Rows(self._database, loop)
        self._rows.start()
        _, self._bot = await loop.create_unix_connection(lambda: Lines(self._hear), self._bot_address)

    def _hear(self, _: Lines, answer: dict[str, Any]) -> None:
        self._answers.pop(answer["ask"])(answer["text"])

    def _stored(self, write: Callable[[bytes], bool], name: str, index: int, said: str, text: str) -> None:
        write(json.dumps({"type": "accepted", "id": said}).encode())
        ask = f"{name}-{index}"
        self._answers[ask] = partial(self._replied, write, name, index + 1)
        self._bot.send({"ask": ask, "text": text})

    def _replied(self, write: Callable[[bytes], bool], name: str, index: int, text: str) -> None:
        shown = json.dumps({"type": "said", "turn": index, "text": text}).encode()
        self._rows.put((name, index, "bot", text, None, utc_now().isoformat()), partial(write, shown))


@commands.command(hidden=True)
def serve(port: int, database: str, bot: str) -> None:
    """Serve turns until it is killed."""
    sys.setswitchinterval(0.000_5)  # as Candor's server
    uvicorn.run(
        BareServer(database, bot),  # type: ignore[arg-type]  # uvicorn has types of its own for the same
        port=port,
        ws=WebSocketConnection,
        ws_per_message_deflate=False,
        log_level="warning",
        access_log=False,
    )


@commands.command(hidden=True)
def answer(address: str) -> None:
    """Answer at a UNIX socket until it is killed."""

    def hear(lines: Lines, question: dict[str, Any]) -> None:
        lines.send({"ask": question["ask"], "text": random.choice(LINES)})

    async def forever() -> None:
        await asyncio.get_running_loop().create_unix_server(lambda: Lines(hear), address)
        await asyncio.Event().wait()

    uvloop.run(forever())


@contextmanager
def bare_server(folder: Path) -> Iterator[tuple[int, int]]:
    """Run the server and its bot; yield the port and the id of the server's process."""
    port, bot = free_port(), folder / "bot.sock"
    run = (sys.executable, __file__)
    answering = subprocess.Popen([*run, "answer", str(bot)])
    while not bot.exists():
        time.sleep(0.1)
    serving = subprocess.Popen([*run, "serve", str(port), str(folder / "bare.db"), str(bot)])
    while not listens(port):
        time.sleep(0.1)
    try:
        yield port, serving.pid
    finally:
        for process in (serving, answering):
            process.kill()
            process.wait()


async def bare_turns(folder: Path, connections: int, seconds: float) -> tuple[float, Tally]:
    tally = Tally()
    with bare_server(folder) as (port, process):
        opened = [
            await ws_connect(lambda: Talker(tally), f"ws://127.0.0.1:{port}/") for _ in range(connections)
        ]
        for transport, talker in opened:
            talker.say(transport)
        rate = await counted(tally, seconds, process)
        for transport, _ in opened:
            transport.disconnect(graceful=False)
    return rate, tally


async def compared(connections: list[int], seconds: float) -> None:
    print(f"{'connections':>11} {'echo/s':>9} {'turns/s':>9} {'ratio':>7}  input to acknowledgement")
    for number in connections:
        with tempfile.TemporaryDirectory() as folder:
            echo, _ = await echoes(Path(folder), number, seconds)
            rate, tally = await bare_turns(Path(folder), number, seconds)
        print(f"{number:>11} {echo:>9.0f} {rate:>9.0f} {rate / echo:>7.3f}  {quantiles(tally.waits)}")
        print(f"            a bare turn: {shares(tally)}", flush=True)


@commands.callback(invoke_without_command=True)
def measure(
    context: typer.Context,
    connections: Annotated[list[int], typer.Option(help="Connections at a time; give it several times.")] = [  # noqa: B006
        50,
        500,
    ],
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 10.0,
) -> None:
    """Measure bare turns a second against a bare echo."""
    if context.invoked_subcommand is None:
        uvloop.run(compared(connections, seconds))


if __name__ == "__main__":
    commands()
