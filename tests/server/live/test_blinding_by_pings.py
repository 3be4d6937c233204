"""Pongs of the server tell no kind of bot apart: a script pings while a bot is being asked.

A pong is late where the event loop is busy. The measure is the AUC of one system's latest pong against that
of all the rest, as in `test_blinding_in_time`. The limit on pings is lifted here; another test covers it.
"""

import asyncio
import itertools
import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from bots import Bot
from bots.endpoints.http import HttpEndpoint
from bots.endpoints.openai import OpenAiEndpoint
from server.bots.opened_bots import OpenedBots
from server.process import connections
from server.session.plan import QC
from server.session.protocol import PROTOCOL_VERSION
from tests.server.live.test_blinding_in_time import aucs
from tests.server.support.database import make_run, query
from tests.server.support.server import House
from tests.server.support.study import RATINGS, SYSTEMS, study_text
from tests.support.waiting import PATIENCE

Serve = Callable[..., House]
SOAK = int(os.environ.get("CANDOR_SOAK", "0"))
WORKERS = 60 * SOAK or 12
AT_ONCE = 12
INPUTS = 8
CONVERSATIONS = 4
EVERY = 0.004  # seconds between two pings
SMALL_TALK = "builtin:smalltalk"
TEXT = study_text(
    minimum_inputs=INPUTS,
    reply_time={"median": 0.25, "spread": 0.2, "longest": 0.6},
    systems_per_assignment=3,
)
BUILTIN = {
    "marmot_plain": "builtin:interviewer",
    "marmot_warm": "builtin:ngram",
    "quokka_plain": "builtin:retrieval",
    "quokka_warm": "builtin:reflect",
    QC: "qc",
}
# Bots elsewhere, of which most is to be feared, are families of one: they have the most conversations.
BOTS = {"wombat_plain": "http", "dugong_plain": "openai", **BUILTIN}
Place = tuple[str, int, int]


class Script:
    """A worker who pings, and notes the latest pong of each time that it waits for a reply."""

    def __init__(self, house: House, worker: str, noted: dict[Place, float]) -> None:
        joined = house.join(worker).json()
        self._worker, self._token, self._noted = worker, joined["token"], noted
        self._url = f"ws://127.0.0.1:{house.port}/ws"
        self._ids = itertools.count()

    async def run(self) -> None:
        async with connect(self._url, ping_interval=None) as socket:
            await self._send(socket, "hello", token=self._token, protocol=PROTOCOL_VERSION)
            await self._send(socket, "agree")
            await self._until(socket, "topic_due")
            for number in range(1, CONVERSATIONS + 1):
                named = {"conversation": number, "attempt": 1}
                await self._send(socket, "topic", **named, text="the sea", opinion="like")
                await self._until(socket, "conversation_started")
                for turn in range(0, 2 * INPUTS, 2):
                    pinging = asyncio.ensure_future(self._latest(socket))
                    text = f"I like the sea, and that is number {turn}. What about you?"
                    await self._send(socket, "say", **named, turn=turn, text=text)
                    await self._until(socket, "said")
                    pinging.cancel()
                    self._noted[self._worker, number, turn + 1] = await pinging
                    await asyncio.sleep(0.01)  # a line is shown up to a millisecond before it may be answered
                await self._send(socket, "end_conversation", **named)
                await self._until(socket, "rating_due")
                await self._send(socket, "rate", **named, ratings=RATINGS)
                await self._until(socket, "topic_due" if number < CONVERSATIONS else "feedback_due")

    async def _latest(self, socket: ClientConnection) -> float:
        latest = 0.0
        try:
            while True:
                latest = max(latest, await (await socket.ping()))
                await asyncio.sleep(EVERY)
        except asyncio.CancelledError:
            return latest

    async def _send(self, socket: ClientConnection, kind: str, **fields: Any) -> None:
        await socket.send(json.dumps({"type": kind, "id": f"m{next(self._ids)}", **fields}))

    async def _until(self, socket: ClientConnection, kind: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                frame = json.loads(await socket.recv())
                messages = frame if isinstance(frame, list) else [frame]
                kinds = {message["type"] for message in messages}
                assert not kinds & {"error", "replaced"}, messages
                if kind in kinds:
                    return


async def pinged(house: House) -> Mapping[str, list[float]]:
    """Have scripts take part; return the seconds of the latest pong of each reply, by system."""
    noted: dict[Place, float] = {}
    room = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with room:
            script = await asyncio.to_thread(Script, house, f"w{number}", noted)
            await script.run()

    await asyncio.gather(*(one(number) for number in range(WORKERS)))
    stored = query(
        house.url,
        "SELECT w.external_id, c.position, t.turn_index, s.name FROM turn t "
        "JOIN conversation c ON c.id = t.conversation_id JOIN system s ON s.id = c.system_id "
        "JOIN assignment a ON a.id = c.assignment_id JOIN worker w ON w.id = a.worker_id "
        "WHERE t.author = 'bot' AND c.position > 1",  # the first is slower, and never the qc bot's
    )
    by_system: dict[str, list[float]] = defaultdict(list)
    workers = {house.kept(f"w{number}"): f"w{number}" for number in range(WORKERS)}
    for kept, position, index, system in stored:
        by_system[system].append(noted[workers[kept], position, index])
    return by_system


@pytest.fixture(autouse=True)
def pings_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_PINGS", math.inf)


# A process of its own: what it computes must not be where the server computes.
ANSWERING = """
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMPLETION = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "I like it too."}, "finish_reason": "stop"}]}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content = COMPLETION if "completions" in self.path else {"text": "I like it too."}
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # whether it is there

    def log_message(self, *what):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def address() -> Iterator[str]:
    """Where both contracts are answered at once."""
    process = subprocess.Popen([sys.executable, "-c", ANSWERING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.timeout(1_200 if SOAK else 600)
async def test_pongs_tell_no_kind_of_bot_apart(url: str, serve: Serve, address: str) -> None:
    opened = OpenedBots(refuse_private=False)
    bots: dict[str, Bot] = {system: opened.built_in(spec, SMALL_TALK) for system, spec in BUILTIN.items()}
    bots["wombat_plain"] = opened.open(HttpEndpoint(kind="http", urls=[address]))
    bots["dugong_plain"] = opened.open(OpenAiEndpoint(kind="openai", urls=[f"{address}/v1"], model="m"))
    house = serve(url, make_run(url, TEXT, bots), opened_bots=opened, exempt_addresses=["127.0.0.1"])
    found = await pinged(house)
    assert found.keys() == {*SYSTEMS, QC}
    told = aucs(found)
    if SOAK:
        for system, auc in told.items():
            print(f"{auc:.3f} {len(found[system])} replies, {BOTS[system]}")  # noqa: T201
        assert min(map(len, found.values())) >= 200
    # The short form has some 15 replies of a system. In the long one those of a conversation, of which there
    # are 30 and more, share the machine's moments: a standard error of sqrt(1 / (12 * 30)) = 0.05 at worst.
    assert all(abs(auc - 0.5) <= (0.15 if SOAK else 0.35) for auc in told.values()), told
