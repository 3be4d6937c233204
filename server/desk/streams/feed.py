"""Feed of changes for several watchers: one query serves all watchers in a process.

A feed queries soon after news of a change, at most twice a second, and also every few seconds without news,
because news may be lost. Without watchers, it does not query.
"""

import asyncio
import re
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import structlog

from server.errors import StorageFailed

_APART = 0.5  # shortest time between queries, in seconds
_UNASKED = 5.0  # time after which to query without news, in seconds
_KEPT = 200  # changes kept for watchers who reconnect
_LONGEST = 60.0  # longest stream in seconds: permissions are checked again at every reconnection
_NUMBER = re.compile(r"[0-9]{1,18}")
log = structlog.get_logger()

Row = TypeVar("Row")
Parts = Mapping[str, Any]  # by name, compared by value


@dataclass(frozen=True, slots=True)
class Sight(Generic[Row]):
    """The result of a query: `parts` by name, and the rows of a table by key, in order."""

    parts: Parts
    rows: Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class FeedChange(Generic[Row]):
    """The difference between two results: changed `parts` and `rows`, and the keys of removed rows (`gone`).

    `whole`: it is a complete result that replaces everything before. `name`: the event id, from which the
    feed knows what a reconnecting watcher has received.
    """

    whole: bool
    parts: Parts
    rows: Mapping[str, Row]
    gone: tuple[str, ...]
    name: str = ""


class Feed(Generic[Row]):
    """Sends changes to its followers. `look` queries the current state, and may raise StorageFailed."""

    def __init__(self, look: Callable[[], Awaitable[Sight[Row]]]) -> None:
        self._look = look
        self._epoch = secrets.token_hex(4)
        self._number = 0
        self._sight: Sight[Row] | None = None
        self._changes: deque[tuple[int, FeedChange[Row]]] = deque(maxlen=_KEPT)
        self._followers = 0
        self._told = asyncio.Event()
        self._turned = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def tell(self) -> None:
        """Note that something has changed, so that the feed queries soon."""
        self._told.set()

    async def close(self) -> None:
        """End all streams of the feed."""
        self._closed = True
        self._told.set()
        self._turn()
        if self._task is not None:
            await self._task

    async def follow(self, seen: str | None, standing: str) -> AsyncIterator[FeedChange[Row]]:
        """Yield the whole state, then changes, until the feed is closed or `_LONGEST` seconds have passed.

        Args:
            seen: the `name` of the last change that the follower received. Later changes are yielded if they
                are still kept, else the whole state.
            standing: identifies the follower's permissions. If it has changed since `seen`, the whole state
                is yielded.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + _LONGEST
        self._followers += 1
        self._start()
        try:
            at = self._number_of(seen, standing)
            while not self._closed and loop.time() < end:
                turned = self._turned
                for number, change in self._since(at):
                    yield replace(change, name=f"{self._epoch}.{number}.{standing}")
                    at = number
                if at == self._number or self._sight is None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout_at(end):
                            await turned.wait()
        finally:
            self._followers -= 1

    def _since(self, number: int | None) -> list[tuple[int, FeedChange[Row]]]:
        if self._sight is None:
            return []
        kept = [(at, change) for at, change in self._changes if number is not None and at > number]
        if number is not None and len(kept) == self._number - number:
            return kept
        return [(self._number, FeedChange(True, self._sight.parts, self._sight.rows, ()))]

    def _number_of(self, name: str | None, standing: str) -> int | None:
        """Return the number of the last change that a follower received; None if it is unknown."""
        epoch, _, rest = (name or "").partition(".")
        number, _, stood = rest.partition(".")
        if (epoch, stood) != (self._epoch, standing) or not _NUMBER.fullmatch(number):
            return None
        return int(number) if int(number) <= self._number else None

    def _start(self) -> None:
        self._told.set()
        if self._task is None and not self._closed:
            self._task = asyncio.get_running_loop().create_task(self._look_while_followed())

    async def _look_while_followed(self) -> None:
        while self._followers and not self._closed:
            self._told.clear()
            try:
                self._take(await self._look())
            except StorageFailed:
                pass  # the store has logged it; the next query finds the changes
            except Exception:  # a bug must not end the feed
                log.exception("what researchers watch could not be looked at")
            await asyncio.sleep(_APART)
            with suppress(TimeoutError):
                async with asyncio.timeout(_UNASKED):
                    await self._told.wait()
        self._task = None

    def _take(self, sight: Sight[Row]) -> None:
        before = self._sight
        if before is None:
            self._sight, self._number = sight, self._number + 1
            self._turn()
            return
        parts = {name: part for name, part in sight.parts.items() if before.parts.get(name) != part}
        rows = {key: row for key, row in sight.rows.items() if before.rows.get(key) != row}
        gone = tuple(key for key in before.rows if key not in sight.rows)
        if parts or rows or gone:
            self._sight, self._number = sight, self._number + 1
            self._changes.append((self._number, FeedChange(False, parts, rows, gone)))
            self._turn()

    def _turn(self) -> None:
        self._turned.set()
        self._turned = asyncio.Event()
