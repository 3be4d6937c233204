"""A live session without a socket: a store, a run, and a page that keeps what it is sent."""

import asyncio
from typing import Any

from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse.live_session import LiveSession, utc_now
from server.live.converse.sessions import LiveSessions
from server.news import News
from server.recruiters.arrival import Arrival
from server.session.events import FromWorker
from server.session.protocol import ServerMessage, client_messages
from tests.server.support.database import query
from tests.server.support.page import OF_A_CONVERSATION
from tests.support.waiting import PATIENCE

AUTH = Auth("secret", "token", 3600)


class RecordingPage:
    """A page that keeps what it is sent."""

    def __init__(self) -> None:
        self.messages: list[ServerMessage] = []
        self.closed = False
        self._news = asyncio.Event()

    def send(self, *messages: ServerMessage) -> None:
        self.messages.extend(messages)
        self._news.set()

    def close(self) -> None:
        self.closed = True

    def types(self) -> list[str]:
        return [message.type for message in self.messages]

    async def hears(self, type_: str, times: int = 1) -> ServerMessage:
        """Return the `times`-th message of a type, once it is there."""
        async with asyncio.timeout(PATIENCE):
            while self.types().count(type_) < times:
                self._news.clear()
                await self._news.wait()
        return [message for message in self.messages if message.type == type_][times - 1]


class Stage:
    """A store, a run, and one worker's session on a page."""

    def __init__(self, url: str, run: OpenRun, store: Store) -> None:
        self.url, self.run, self.store = url, run, store
        self.news = News()
        self.live = self.elsewhere(self.news)
        self._ids = 0

    async def enrolment(self, worker: str = "ann") -> str:
        worker = ArrivingWorker(Arrival("link", worker), f"W-{worker}", False, 1.0)
        at = utc_now()
        taken = await self.store.submit(lambda connection: enrol(connection, self.run, worker, at))
        return taken.assignment

    def elsewhere(self, news: News | None = None) -> LiveSessions:
        """Return the sessions of another process, which hears nothing of this one but over `news`."""
        return LiveSessions(self.store, {self.run.id: self.run}, AUTH, news or News())

    async def open(
        self, assignment: str, live: LiveSessions | None = None
    ) -> tuple[LiveSession, RecordingPage]:
        """Have a page connect, in this process unless told."""
        sessions = self.live if live is None else live
        session, page = await sessions.open(assignment), RecordingPage()
        await session.attach(page)
        return session, page

    async def chatting(self) -> tuple[str, LiveSession, RecordingPage]:
        """A session in its first chat."""
        assignment = await self.enrolment()
        session, page = await self.open(assignment)
        await self.send(session, page, "agree")
        await self.send(session, page, "topic", text="the sea", opinion="like")
        return assignment, session, page

    async def send(self, session: LiveSession, page: RecordingPage, type_: str, **fields: Any) -> None:
        self._ids += 1
        current = session.state.current
        where = {}
        if type_ in OF_A_CONVERSATION and current:
            where = {"conversation": current.plan.position, "attempt": current.plan.attempt}
        where |= {"turn": len(current.turns)} if type_ == "say" and current else {}
        content = {"type": type_, "id": f"m{self._ids}", **where, **fields}
        await session.receive(FromWorker(client_messages.validate_python(content), utc_now()), page)

    def notes(self) -> list[tuple[str, str]]:
        return query(self.url, "SELECT kind, text FROM note ORDER BY id")  # type: ignore[return-value]
