"""Feed of changes to several watchers: one look-up serves all of them in a process.

A look is made when news says that something has changed, soon after it and twice a second at most; and now
and then without, because news may be lost. Nobody watches: nobody looks.
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

_APART = 0.5  # seconds, from one look to the next at least
_UNASKED = 5.0  # seconds, after which a look is made without news
_KEPT = 200  # changes, for those who come back
_LONGEST = 60.0  # seconds that one may follow: who comes back is asked anew what they may see
_NUMBER = re.compile(r"[0-9]{1,18}")
log = structlog.get_logger()

Row = TypeVar("Row")
Parts = Mapping[str, Any]  # by name, compared by value


@dataclass(frozen=True, slots=True)
class Sight(Generic[Row]):
    """What a look has found: `parts` by name, and the rows of a table, by key, in their order."""

    parts: Parts
    rows: Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class Change(Generic[Row]):
    """What is new since another sight: `parts` and `rows` that differ, and the keys of rows that are gone.

    `whole`: it is all that there is, and whatever was known before counts no more. `name` tells the feed, of
    somebody who comes back, what they have seen.
    """

    whole: bool
    parts: Parts
    rows: Mapping[str, Row]
    gone: tuple[str, ...]
    name: str = ""


class Feed(Generic[Row]):
    """Tells those who follow it what changes. `look` returns what there is; it may raise StorageFailed."""

    def __init__(self, look: Callable[[], Awaitable[Sight[Row]]]) -> None:
        self._look = look
        self._epoch = secrets.token_hex(4)
        self._number = 0
        self._sight: Sight[Row] | None = None
        self._changes: deque[tuple[int, Change[Row]]] = deque(maxlen=_KEPT)
        self._followers = 0
        self._told = asyncio.Event()
        self._turned = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def tell(self) -> None:
        """Take up that something has changed."""
        self._told.set()

    async def close(self) -> None:
        """End what everybody follows."""
        self._closed = True
        self._told.set()
        self._turn()
        if self._task is not None:
            await self._task

    async def follow(self, seen: str | None, standing: str) -> AsyncIterator[Change[Row]]:
        """Yield what there is, then what changes, until the feed is closed or it has been long.

        Args:
            seen: the `name` of the last change that the follower has taken up; what came since is yielded
                where it is still known, else all that there is.
            standing: differs where what the follower may see does; who comes back with another one than they
                had is told all that there is.
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

    def _since(self, number: int | None) -> list[tuple[int, Change[Row]]]:
        if self._sight is None:
            return []
        kept = [(at, change) for at, change in self._changes if number is not None and at > number]
        if number is not None and len(kept) == self._number - number:
            return kept
        return [(self._number, Change(True, self._sight.parts, self._sight.rows, ()))]

    def _number_of(self, name: str | None, standing: str) -> int | None:
        """Return the number of what somebody of that standing has seen last; None: it is not known."""
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
                pass  # the store has logged it; the next look finds what has changed
            except Exception:  # a fault of ours must not make this look the last one
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
            self._changes.append((self._number, Change(False, parts, rows, gone)))
            self._turn()

    def _turn(self) -> None:
        self._turned.set()
        self._turned = asyncio.Event()
