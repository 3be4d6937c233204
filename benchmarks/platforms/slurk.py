"""slurk: two participants in a room write to each other."""

import asyncio
import itertools
import json
import sqlite3
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.platforms.adapter import InstalledPlatform, Participant


class SlurkUser(Participant):
    """A user in a room. It speaks Socket.IO (protocol 5, over Engine.IO 4) as text frames."""

    _reading: asyncio.Task[None]

    def __init__(self, socket: ClientConnection, room: int, opens: bool) -> None:
        self.opens = opens
        self._socket = socket
        self._room = room
        self._ids = itertools.count()
        self._acknowledged: dict[str, asyncio.Event] = {}
        self._others: asyncio.Queue[None] = asyncio.Queue()
        self._mine: set[str] = set()

    async def begin(self) -> None:
        await self._socket.send("40")
        while not (frame := str(await self._socket.recv())).startswith("40"):
            if frame.startswith("44"):
                raise RuntimeError(f"The connection was refused: {frame}")
        self._reading = asyncio.create_task(self._read())

    async def send(self, text: str) -> None:
        name = str(next(self._ids))
        event = self._acknowledged[name] = asyncio.Event()
        self._mine.add(text)
        await self._socket.send(f"42{name}{json.dumps(['text', {'room': self._room, 'message': text}])}")
        await self._or_closed(event.wait())

    async def hear(self) -> None:
        await self._or_closed(self._others.get())

    async def _or_closed(self, waiting: Any) -> None:
        """Wait; raise what ended the reading of frames if that ends first."""
        task = asyncio.ensure_future(waiting)
        await asyncio.wait({task, self._reading}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            self._reading.result()

    async def _read(self) -> None:
        while True:
            frame = str(await self._socket.recv())
            kind, content = frame[:2], frame[2:].lstrip("0123456789")
            if frame == "2":
                await self._socket.send("3")
            elif kind == "43":
                answer = json.loads(content)
                if answer != [True]:
                    raise RuntimeError(f"The message was refused: {answer}")
                self._acknowledged.pop(frame[2 : -len(content)]).set()
            elif kind == "42":
                name, *fields = json.loads(content)
                if name == "text_message":
                    self._take(fields[0]["message"])

    def _take(self, text: str) -> None:
        """Count a message of the room, unless it is our own."""
        if text in self._mine:
            self._mine.discard(text)
        else:
            self._others.put_nowait(None)


class Slurk(InstalledPlatform):
    exchange = "two people with each other"
    acknowledged = "the callback of Socket.IO for the event `text`"
    store = "the table Log in its SQLite database"

    async def start(self, participants: int) -> None:
        self.run(
            str(self.home / "env/bin/gunicorn"),
            *("-b", f"127.0.0.1:{self.port}"),
            *("-k", "geventwebsocket.gunicorn.workers.GeventWebSocketWorker"),
            "slurk:create_app()",
            cwd=self.home / "slurk",
            SLURK_DATABASE_URI=f"sqlite:///{self.folder.resolve() / 'slurk.db'}",
        )
        admin = self.log.read_text().partition("admin token:\n")[2].split()[0]
        self._api = httpx2.AsyncClient(
            base_url=f"{self.url}/slurk/api/", headers={"Authorization": f"Bearer {admin}"}, timeout=60
        )
        layout = (await self._add("layouts", title="Chat"))["id"]
        permissions = (await self._add("permissions", send_message=True))["id"]
        self._rooms = []
        for _ in range((participants + 1) // 2):
            room = (await self._add("rooms", layout_id=layout))["id"]
            token = await self._add("tokens", permissions_id=permissions, room_id=room, registrations_left=2)
            self._rooms.append((room, token["id"]))

    async def join(self, number: int) -> SlurkUser:
        room, token = self._rooms[number // 2]
        user = (await self._add("users", name=f"user-{number}", token_id=token))["id"]
        socket = await connect(
            f"ws://127.0.0.1:{self.port}/socket.io/?EIO=4&transport=websocket",
            additional_headers={"Authorization": f"Bearer {token}", "user": str(user)},
        )
        participant = SlurkUser(socket, room, opens=number % 2 == 0)
        await participant.begin()
        return participant

    async def _add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Create an object over slurk's API; return it."""
        answer = await self._api.post(kind, json=fields)
        answer.raise_for_status()
        return dict(answer.json())

    def stored(self) -> Iterator[str]:
        with sqlite3.connect(self.folder / "slurk.db") as database:
            for (data,) in database.execute("SELECT data FROM Log WHERE event = 'text_message'"):
                yield data

    def versions(self) -> dict[str, str]:
        commit = ["git", "-C", str(self.home / "slurk"), "rev-parse", "HEAD"]
        found = subprocess.run(commit, check=True, capture_output=True, text=True)
        packages = self.packages("Flask", "Flask-SocketIO", "gevent", "gunicorn", "SQLAlchemy")
        return {"slurk": found.stdout.strip(), **packages}
