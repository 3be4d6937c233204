"""Hearing a page's messages, each in its turn."""

import asyncio
import gc
import json
import weakref
from collections.abc import Callable
from typing import Any, cast

import pytest
from fastapi import WebSocket

from server.errors import TooMany
from server.live.converse.socket import DIRECT, Listener, Page
from server.session.events import FromWorker
from tests.support.waiting import until


class Socket:
    """A socket of our server's, as far as hearing goes."""

    def __init__(self) -> None:
        self.scope = {"extensions": {DIRECT: {"write": self._write}}}
        self.written: list[Any] = []
        self.page: Page | None = None
        self.waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        return await self.waiting.get()

    def comes(self, name: str) -> None:
        text = json.dumps({"type": "leave", "id": name})
        self.waiting.put_nowait({"type": "websocket.receive", "text": text})

    def goes(self) -> None:
        self.waiting.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async def send_text(self, text: str) -> None:
        raise AssertionError("the page takes everything at once")

    async def close(self, _code: int) -> None:
        self.goes()

    def _write(self, text: bytes) -> bool:
        self.written += json.loads(text)
        return True


class Session:
    """Takes messages, and is done with one when it is told."""

    way_back = None

    def __init__(self) -> None:
        self.taken: list[str] = []
        self._done = asyncio.Semaphore(0)

    async def receive(self, message: FromWorker, _page: Page) -> None:
        self.taken.append(message.message.id)
        await self._done.acquire()

    def done(self) -> None:
        self._done.release()


def listening(count: Callable[[], None] = lambda: None) -> tuple[Socket, Session, asyncio.Task[None]]:
    socket, session = Socket(), Session()
    page = Page(cast("WebSocket", socket))
    socket.page = page
    listener = Listener(page, cast("Any", session), count, "assignment")
    return socket, session, asyncio.create_task(listener.hear_all(cast("WebSocket", socket)))


async def ended(socket: Socket, hearing: asyncio.Task[None]) -> None:
    socket.goes()
    await hearing


@pytest.mark.parametrize("turns", range(6))
async def test_nothing_overtakes_what_waits(turns: int) -> None:
    """Whenever the next message comes: while one is taken, as it is done, or turns of the loop later."""
    socket, session, hearing = listening()
    await asyncio.sleep(0)
    socket.comes("a")
    socket.comes("b")
    session.done()
    for _ in range(turns):
        await asyncio.sleep(0)
    socket.comes("c")
    await until(lambda: "b" in session.taken)
    session.done()
    await until(lambda: "c" in session.taken)
    assert session.taken == ["a", "b", "c"]
    session.done()
    await ended(socket, hearing)


@pytest.mark.parametrize("turns", range(4))
async def test_nothing_overtakes_what_came_before_there_was_a_listener(turns: int) -> None:
    socket, session, hearing = listening()
    socket.comes("early")
    for _ in range(turns):
        await asyncio.sleep(0)
    socket.comes("late")
    await until(lambda: session.taken == ["early"])
    session.done()
    await until(lambda: session.taken == ["early", "late"])
    session.done()
    await ended(socket, hearing)


async def test_a_page_that_goes_while_a_message_is_taken_is_let_go_after_it() -> None:
    socket, session, hearing = listening()
    await asyncio.sleep(0)
    socket.comes("a")
    socket.goes()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not hearing.done()
    session.done()
    await hearing


async def test_a_page_whose_sender_ends_while_nothing_comes_is_let_go() -> None:
    socket, session, hearing = listening()
    await asyncio.sleep(0)
    assert socket.page is not None
    socket.page.sender.cancel()
    await hearing
    assert session.taken == []


async def test_a_page_whose_sender_ends_while_a_message_is_taken_is_let_go_after_it() -> None:
    socket, session, hearing = listening()
    socket.comes("a")
    socket.comes("b")
    await until(lambda: session.taken == ["a"])
    assert socket.page is not None
    socket.page.sender.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not hearing.done()
    session.done()
    await hearing
    assert session.taken == ["a"]


@pytest.mark.parametrize("error", [TooMany("too many"), RuntimeError("a fault of ours")])
async def test_a_message_that_cannot_be_counted_is_answered_and_the_next_one_heard(error: Exception) -> None:
    errors = [error]

    def count() -> None:
        if errors:
            raise errors.pop()

    socket, session, hearing = listening(count)
    await asyncio.sleep(0)
    socket.comes("a")
    await until(lambda: [(answer["type"], answer["id"]) for answer in socket.written] == [("error", "a")])
    socket.comes("b")
    await until(lambda: session.taken == ["b"])
    session.done()
    await ended(socket, hearing)


async def test_a_page_that_is_gone_keeps_no_session() -> None:
    socket, session, hearing = listening()
    await asyncio.sleep(0)
    await ended(socket, hearing)
    kept = weakref.ref(session)
    del session, hearing, socket
    await until(lambda: gc.collect() >= 0 and kept() is None)
