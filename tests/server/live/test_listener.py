"""Hearing a page's messages: each in its turn, whether it is heard as it comes or waits to be received."""

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

WhenDone = Callable[[Exception | None], None]


class Socket:
    """A socket of our server's, as far as hearing goes: what is not heard at once waits."""

    def __init__(self) -> None:
        self.scope = {"extensions": {DIRECT: {"write": self._write, "hear_by": self._hear_by}}}
        self.written: list[Any] = []
        self.hear: Callable[[str], bool] | None = None
        self.waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        return await self.waiting.get()

    def comes(self, name: str) -> None:
        text = json.dumps({"type": "leave", "id": name})
        if self.hear is None or not self.waiting.empty() or not self.hear(text):
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

    def _hear_by(self, hear: Callable[[str], bool] | None) -> None:
        self.hear = hear


class Session:
    """Takes messages, and is done with one when it is told."""

    way_back = None

    def __init__(self) -> None:
        self.taken: list[str] = []
        self._thens: list[WhenDone] = []

    def take(self, message: FromWorker, _page: Page, then: WhenDone) -> None:
        self.taken.append(message.message.id)
        self._thens.append(then)

    def done(self) -> None:
        self._thens.pop(0)(None)


def listening(count: Callable[[], None] = lambda: None) -> tuple[Socket, Session, asyncio.Task[None]]:
    socket, session = Socket(), Session()
    page = Page(cast("WebSocket", socket))
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


@pytest.mark.parametrize("error", [TooMany("too many"), RuntimeError("a fault of ours")])
async def test_a_message_that_cannot_be_counted_is_answered_and_the_next_one_heard(error: Exception) -> None:
    errors = [error]

    def count() -> None:
        if errors:
            raise errors.pop()

    socket, session, hearing = listening(count)
    await asyncio.sleep(0)
    socket.comes("a")
    assert [(answer["type"], answer["id"]) for answer in socket.written] == [("error", "a")]
    socket.comes("b")
    assert session.taken == ["b"]
    session.done()
    await ended(socket, hearing)


async def test_a_page_that_is_gone_keeps_no_session() -> None:
    socket, session, hearing = listening()
    await asyncio.sleep(0)
    await ended(socket, hearing)
    assert socket.hear is None
    kept = weakref.ref(session)
    del session, hearing
    await until(lambda: gc.collect() >= 0 and kept() is None)
