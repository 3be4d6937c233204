"""The server's side of a connection with a bot host: asks whose time is over."""

import asyncio
import json

import pytest

from bots import Chat, Reply, Turn
from bots.core.failures import BotTimeout
from bots.core.host_protocol import frame, replied
from bots.serving import HostSession, KnownLines

CHAT = Chat("c", 7, (), (Turn("worker", "Hello?"),))


async def test_an_overdue_ask_fails_the_host_forgets_it_and_others_wait_on() -> None:
    frames: list[str] = []
    session = HostSession(1, frames.append, KnownLines())
    asks = [
        asyncio.create_task(session.ask("bot1", CHAT, patience=5.0)),
        asyncio.create_task(session.ask("bot1", CHAT, patience=50.0)),
        asyncio.create_task(session.ask("bot1", CHAT)),
    ]
    await asyncio.sleep(0)
    now = asyncio.get_running_loop().time()
    session.fail_overdue(now + 4.0)
    assert len(frames) == 3
    session.fail_overdue(now + 6.0)
    with pytest.raises(BotTimeout, match="no reply within 5 s"):
        await asks[0]
    assert [json.loads(sent) for sent in frames[3:]] == [{"type": "cancel", "ask": 1}]
    session.receive_line(frame(replied(1, Reply("too late"))).encode())
    session.fail_overdue(now + 1e9)
    session.receive_line(frame(replied(3, Reply("Hi!"))).encode())
    with pytest.raises(BotTimeout, match="no reply within 50 s"):
        await asks[1]
    assert await asks[2] == Reply("Hi!")
    assert session.in_flight == 0
