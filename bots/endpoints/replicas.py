"""Several replicas of one bot: who is asked, who rests after failures, who steps in."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bots.chat import Bot, BotError, Chat, Reply

FAILURES = 3
PAUSE = 5.0


class Declined(BotError):
    """The replica works, but has no usable reply to this chat now. Does not count against it."""


class Replica(Bot, Protocol):
    """One server that answers for a bot."""

    @property
    def url(self) -> str:
        """Where it is, as researchers may see it."""

    async def close(self) -> None:
        """Let go of its connections."""


@dataclass(slots=True, eq=False)
class _Place:
    """A replica with its circuit breaker: closed below FAILURES failures in a row, then open.

    While open nobody is sent there until `rests_until`; then one call is, as a trial.
    """

    replica: Replica
    in_flight: int = 0
    calls: int = 0
    failures: int = 0
    rests_until: float = 0.0

    @property
    def load(self) -> tuple[int, int]:
        """What `min` chooses by. A failure weighs like a call in flight, so that a retry goes elsewhere."""
        return self.in_flight + min(self.failures, FAILURES), self.calls

    def takes(self, now: float) -> bool:
        return self.failures < FAILURES or now >= self.rests_until

    def start(self) -> None:
        self.in_flight += 1
        self.calls += 1
        if self.failures >= FAILURES:
            self.rests_until = float("inf")

    def finish(self, works: bool, now: float) -> None:
        self.in_flight -= 1
        self.failures = 0 if works else self.failures + 1
        if self.failures >= FAILURES:
            self.rests_until = now + PAUSE


class Replicas:
    """A bot that asks the least busy of its replicas, and the next one when that fails.

    A replica that fails FAILURES times in a row is left alone for PAUSE seconds, then tried with one
    call. A call that its caller gave up counts as a failure: that is what a hanging replica looks like.
    """

    def __init__(
        self, replicas: Sequence[Replica], patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take `replicas`, each of which has `patience` seconds for a reply; `clock` counts seconds."""
        self._places = [_Place(replica) for replica in replicas]
        self._patience = patience
        self._clock = clock

    async def reply(self, chat: Chat) -> Reply:
        """Return the first reply that a replica gives.

        Raises:
            BotError: every replica failed or rests; says for each what was the matter.
        """
        tried: dict[_Place, str] = {}
        latest: BotError | None = None
        while (place := self._least_busy(tried)) is not None:
            try:
                return await self._ask(place, chat)
            except BotError as error:
                tried[place], latest = str(error), error
        reasons = [
            f"{place.replica.url}: {tried.get(place) or self._resting(place)}" for place in self._places
        ]
        raise BotError("; ".join(reasons)) from latest

    async def close(self) -> None:
        """Let go of every connection."""
        for place in self._places:
            await place.replica.close()

    def _least_busy(self, tried: dict[_Place, str]) -> _Place | None:
        now = self._clock()
        able = [place for place in self._places if place not in tried and place.takes(now)]
        return min(able, key=lambda place: place.load, default=None)

    async def _ask(self, place: _Place, chat: Chat) -> Reply:
        works = False
        place.start()
        try:
            async with asyncio.timeout(self._patience):
                reply = await place.replica.reply(chat)
            works = True
        except Declined:
            works = True
            raise
        except TimeoutError as error:
            raise BotError(f"no reply within {self._patience:g} s") from error
        finally:
            place.finish(works, self._clock())
        return reply

    def _resting(self, place: _Place) -> str:
        left = place.rests_until - self._clock()
        when = f"in {max(left, 0):.0f} s" if left < float("inf") else "once a call under way has succeeded"
        return f"not asked, because it failed {place.failures} times in a row; asked again {when}"
