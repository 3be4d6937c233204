"""Bots that behave on purpose, and what a check of one may have found."""

import asyncio
import random
import string
import threading
from typing import Any

from bots import BotError, Chat, Reply
from bots.conformance.report import Latency
from bots.serving import ConformanceReport, Finding, Verdict


class Echo:
    """Answers at once, with the worker's last words and the number of its reply."""

    async def reply(self, chat: Chat) -> Reply:
        return Reply(f"Reply {chat.replies_given()} to: {chat.turns[-1].text}")


class Babbles:
    """Answers with six words of its own making, other ones in every reply of every conversation."""

    async def reply(self, chat: Chat) -> Reply:
        rng = random.Random(f"{chat.seed} {chat.replies_given()}")
        return Reply(" ".join("".join(rng.choices(string.ascii_lowercase, k=4)) for _ in range(6)))


class Says:
    """Answers with the same text whatever is said; the text may be no text at all."""

    def __init__(self, text: Any) -> None:
        self._text = text

    async def reply(self, chat: Chat) -> Reply:
        return Reply(self._text)


class ReturnsNothing:
    """Breaks the contract: returns None."""

    async def reply(self, chat: Chat) -> Any:
        return None


class Raises:
    """Fails with `error` for the first `times` calls, every time if None; echoes afterwards."""

    def __init__(self, error: BaseException, times: int | None = None) -> None:
        self._error = error
        self._left = times
        self.calls = 0

    async def reply(self, chat: Chat) -> Reply:
        self.calls += 1
        if self._left is None or self._left > 0:
            self._left = None if self._left is None else self._left - 1
            raise self._error
        return await Echo().reply(chat)


class Gated:
    """Answers once the gate is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.calls = 0

    async def reply(self, chat: Chat) -> Reply:
        self.calls += 1
        while not self.gate.is_set():  # noqa: ASYNC110  (opened from another thread)
            await asyncio.sleep(0.005)
        return await Echo().reply(chat)


BROKEN = Raises(BotError("out of order"))


def report(verdict: Verdict) -> ConformanceReport:
    """Return the report of a check that asked one question."""
    return ConformanceReport(
        verdict=verdict,
        findings=(Finding(question="Is it a bird?", verdict=verdict, reason="Feathers."),),
        latency=Latency(),
        expected_overruns=None,
        calls=1,
        stopped=False,
        transcripts=(),
    )
