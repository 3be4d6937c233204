"""Tests of ending a conversation while its session changes hands between processes, with fake sessions."""

import asyncio
from typing import Any, cast

from server.live.converse.interventions import ANSWERED, ASKED, Interventions
from server.live.converse.sessions import LiveSessions


class FakeSession:
    """Is lost to another process at the first `losses` interventions."""

    run_id, is_lost = "run", False

    def __init__(self, losses: int = 0) -> None:
        self.losses, self.tries = losses, 0

    async def intervene(self, event: object, also: object) -> bool:
        self.tries += 1
        return self.tries > self.losses


class FakeLive:
    """Holds one session, and notes what is released."""

    def __init__(self, session: FakeSession) -> None:
        self.session = session
        self.released: list[str] = []

    def held(self, assignment: str) -> FakeSession:
        return self.session

    async def open(self, assignment: str) -> FakeSession:
        return self.session

    def release(self, assignment: str) -> None:
        self.released.append(assignment)


class FakeNews:
    """Keeps what is published; `hear` delivers a payload."""

    def __init__(self) -> None:
        self.heard: dict[str, Any] = {}
        self.published = asyncio.Queue[str]()

    def subscribe(self, topic: str, hear: Any) -> None:
        self.heard[topic] = hear

    def publish(self, topic: str, payload: object) -> None:
        self.published.put_nowait(topic)


class Researcher:
    kind, name = "account", "eve"


def made(session: FakeSession) -> tuple[Interventions, FakeLive, FakeNews]:
    live, news = FakeLive(session), FakeNews()
    return Interventions(cast("LiveSessions", live), cast("Any", None), cast("Any", news)), live, news


async def test_a_session_that_is_lost_meanwhile_is_ended_at_the_next_try() -> None:
    session = FakeSession(losses=1)
    interventions, live, _ = made(session)
    await interventions.end_conversation("a", "Enough.", Researcher())
    assert session.tries == 2
    assert live.released == ["a", "a"]


async def test_a_session_ended_for_another_process_is_released() -> None:
    _, live, news = made(FakeSession())
    news.heard[ASKED]({"name": "n", "assignment": "a", "why": "Enough.", "actor": ["account", "eve"]})
    assert await news.published.get() == ANSWERED
    assert live.released == ["a"]
