"""Candor: each participant chats with the cheapest bot of a study."""

import itertools
import json
import sqlite3
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.platforms.adapter import Participant, Platform
from benchmarks.turns import STUDY, join
from server.session.protocol import PROTOCOL_VERSION
from tests.support.server_process import Server


class CandorWorker(Participant):
    """A worker in the first conversation of an assignment, which lasts as long as the measurement."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count()
        self._unread: list[dict[str, Any]] = []
        self._where: dict[str, int] = {}
        self._turn = 0

    async def begin(self, token: str) -> None:
        await self._tell("hello", token=token, protocol=PROTOCOL_VERSION)
        await self._until("snapshot")
        await self._tell("agree")
        due = await self._until("topic_due")
        self._where = {key: due[key] for key in ("conversation", "attempt")}
        await self._tell("topic", text="the sea", opinion="like", **self._where)
        await self._until("conversation_started")

    async def send(self, text: str) -> None:
        name = await self._tell("say", turn=self._turn, text=text, **self._where)
        while (await self._until("accepted"))["id"] != name:
            pass

    async def hear(self) -> None:
        self._turn = (await self._until("said"))["turn"] + 1

    async def _tell(self, kind: str, **fields: Any) -> str:
        name = f"m{next(self._ids)}"
        await self._socket.send(json.dumps({"type": kind, "id": name, **fields}))
        return name

    async def _until(self, kind: str) -> dict[str, Any]:
        """Return the next message of this kind; those of other kinds stay unread."""
        while True:
            for place, message in enumerate(self._unread):
                if message["type"] == "error":
                    raise RuntimeError(message["message"])
                if message["type"] == kind:
                    return self._unread.pop(place)
            content = json.loads(await self._socket.recv())
            self._unread += content if isinstance(content, list) else [content]


class CandorServer(Platform):
    exchange = "a person with a bot that draws a line"
    acknowledged = "the server's message `accepted`"
    store = "the table of messages in its SQLite database"

    def __init__(self, folder: Path, home: Path | None) -> None:
        super().__init__(folder, home)
        self._server = Server(folder)
        self._running = False

    async def start(self, participants: int) -> None:
        study = self.folder / "turns.yaml"
        study.write_text(f"{STUDY}maximum_inputs: 1000\n")
        self._server.open_run(study, "turns")
        self._running = True
        self._server.start()

    async def join(self, number: int) -> CandorWorker:
        token = await join(self._server, f"worker-{number}")
        worker = CandorWorker(await connect(f"ws://127.0.0.1:{self._server.port}/ws"))
        await worker.begin(token)
        return worker

    def stored(self) -> Iterator[str]:
        with sqlite3.connect(self.folder / "candor.db") as database:
            for (text,) in database.execute("SELECT text FROM v1_turn"):
                yield text

    def versions(self) -> dict[str, str]:
        return {name: version(name) for name in ("candor-eval", "uvicorn", "websockets")}

    @property
    def process(self) -> int:
        return self._server.process.pid

    def kill(self) -> None:
        if self._running:
            self._server.kill()
            self._running = False
