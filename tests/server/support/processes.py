"""Web processes as far as sessions go: each holds its way to the store, its news, and the pages it serves."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from bots import Chat, Reply
from bots.crowd.view import PageView, draw, show
from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.db.store import Store
from server.errors import StorageFailed
from server.live.converse import presence
from server.live.converse.live_session import LiveSession
from server.live.converse.sessions import LiveSessions
from server.news import News, Payload
from server.session.protocol import ServerMessage, frame_of
from server.session.records import BotSaid, Record, WorkerSaid

T = TypeVar("T")
Message = dict[str, Any]
AUTH = Auth("secret", "token", 3600)


class Bots:
    """All the bots of a run: each answers, or fails, when a rule says so."""

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[str]] = []
        self.at_once = False
        self._numbers = itertools.count()

    async def reply(self, chat: Chat) -> Reply:
        number = next(self._numbers)
        if self.at_once:
            return Reply(f"Reply {number}.")
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.asked.append(future)
        try:
            return Reply(f"{await future} {number}.")
        finally:
            self.asked.remove(future)


@dataclass
class HeldStore:
    """A process's way to the store, which may stop before or behind it, or lose what it is answered."""

    store: Store
    order: asyncio.Lock
    written: dict[tuple[str, int], int]
    tried: dict[tuple[str, int], set[int]]
    busy: set[asyncio.Task[Any]]
    before: asyncio.Event = field(default_factory=asyncio.Event)
    behind: asyncio.Event = field(default_factory=asyncio.Event)
    fails: list[str] = field(default_factory=list)

    async def append(
        self, assignment: str, fence: int, records: Sequence[Record], at: datetime, also: None
    ) -> None:
        assert also is None
        lines = [(r.conversation, r.index) for r in records if isinstance(r, WorkerSaid | BotSaid)]

        async def write() -> None:
            for line in lines:
                self.tried.setdefault(line, set()).add(fence)
            await self.store.append(assignment, fence, records, at)
            self.written.update(dict.fromkeys(lines, fence))

        await self._pass(write, may_fail=True)

    async def submit(self, work: Callable[[Any], T]) -> T:
        return await self._pass(lambda: self.store.submit(work))

    async def read(self, work: Callable[[Any], T]) -> T:
        return await self._pass(lambda: self.store.read(work))

    async def look_up(self, work: Callable[[Any], T]) -> T:
        return await self._pass(lambda: self.store.look_up(work))

    async def _pass(self, call: Callable[[], Awaitable[T]], *, may_fail: bool = False) -> T:
        await self.before.wait()
        how = self.fails.pop() if may_fail and self.fails else None
        if how == "nothing stored":
            raise StorageFailed("the database could not store this")
        # What has reached the database is done there, whatever becomes of the process.
        task = asyncio.ensure_future(self._in_order(call))
        self.busy.add(task)
        task.add_done_callback(self._let_go)
        try:
            result = await asyncio.shield(task)
        finally:
            await self.behind.wait()
        if how == "stored, and nobody told":
            raise StorageFailed("the database could not store this")
        return result

    def _let_go(self, task: asyncio.Task[Any]) -> None:
        """Forget what is done. Where who waited for it was cancelled meanwhile, nobody asks how it ended."""
        self.busy.discard(task)
        if not task.cancelled():
            task.exception()

    async def _in_order(self, call: Callable[[], Awaitable[T]]) -> T:
        async with self.order:  # one after the other, so that an example is the same each time
            return await call()


class Gossip:
    """News between the processes, on its way until a rule delivers it or loses it."""

    def __init__(self) -> None:
        self.members: list[HeardNews] = []
        self.under_way: list[tuple[HeardNews, str, Payload]] = []

    def tell(self, teller: "HeardNews", topic: str, payload: Payload) -> None:
        self.under_way += [(member, topic, payload) for member in self.members if member is not teller]


class HeardNews(News):
    """What one process hears: its own news at once."""

    def __init__(self, gossip: Gossip) -> None:
        super().__init__()
        self._gossip = gossip
        gossip.members.append(self)

    def publish(self, topic: str, payload: Payload) -> None:
        super().publish(topic, payload)
        if topic != presence.TOPIC:  # what desks hear comes by the clock, and is nothing to a session
            self._gossip.tell(self, topic, payload)


class Page:
    """A page of the worker's: what it was told, and how it stands by that."""

    def __init__(self, process: "Process") -> None:
        self.process = process
        self.session: LiveSession | None = None
        self.told: list[Message] = []
        self.outbox: list[str] = []
        self.view: PageView | None = None
        self.closed = self.cut = False

    @property
    def alive(self) -> bool:
        return self.session is not None and self.view is not None and not self.closed and not self.cut

    def send(self, *messages: ServerMessage) -> None:
        for message in messages:
            self._take(message)

    def _take(self, message: ServerMessage) -> None:
        if self.cut:
            return
        assert not self.closed, f"told {message} after the end"
        (content,) = json.loads(frame_of([message]))
        self.told.append(content)
        if self.view is None:
            if content["type"] == "snapshot":
                self.view = draw(content)
        elif content["type"] != "error":
            self.view = show(self.view, content)

    def close(self, code: int = 1000) -> None:
        self.closed = True


class Process:
    """A web process, as far as sessions go."""

    def __init__(self, store: HeldStore, gossip: Gossip, run: OpenRun) -> None:
        self.store = store
        self.news = HeardNews(gossip)
        self.live = LiveSessions(store, {run.id: run}, AUTH, self.news)  # type: ignore[arg-type]
        self.tasks: set[asyncio.Task[None]] = set()
        self.go_on()

    def go_on(self) -> None:
        self.store.before.set()
        self.store.behind.set()

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            task.result()  # nothing but what is caught below may come of it
