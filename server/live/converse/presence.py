"""Share between processes which workers have a page open, and that something has changed in a run.

Nothing is stored: presence may be lost, and a dead process is detected by its silence.
"""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from server.clock import utc_now
from server.news import News, Payload
from server.periodic import PeriodicTask

TOPIC = "presence"  # a topic of news
_EVERY = 15.0  # seconds between two messages that list all pages open here
_SILENCE = timedelta(seconds=4 * _EVERY)
_KEPT = timedelta(hours=6)  # how long a closed page is remembered


@dataclass(frozen=True, slots=True)
class _Seen:
    """A page: the process that has or had it last, and since when it is closed (None while it is open)."""

    process: str
    away_since: datetime | None


class Presence:
    """Know whether each worker's page is open. For use within one event loop."""

    def __init__(self, news: News) -> None:
        self._news = news
        self._process = secrets.token_hex(8)
        self._pages: dict[str, _Seen] = {}
        self._last_news: dict[str, datetime] = {}
        self._task = PeriodicTask(self._tell_all, _EVERY, "whose pages are open was not told")
        news.subscribe(TOPIC, self._on_news)

    @property
    def away(self) -> Mapping[str, datetime | None]:
        """Map assignments to the time at which their page closed, None while it is open."""
        return {assignment: seen.away_since for assignment, seen in self._pages.items()}

    def start(self) -> None:
        """Start telling other processes about our pages; ask for theirs."""
        self._tell(asks=True)
        self._task.start()

    async def close(self) -> None:
        """Stop telling other processes."""
        await self._task.cancel()

    def opened(self, assignment: str) -> None:
        """Note that a page of this process shows an assignment."""
        self._tell(opened=[assignment])

    def gone(self, assignment: str) -> None:
        """Note that the page of an assignment is gone from this process."""
        self._tell(gone=[assignment])

    def _tell(self, **told: object) -> None:
        self._news.publish(TOPIC, {"process": self._process, "at": utc_now().isoformat(), **told})

    def _on_news(self, payload: Payload) -> None:
        process, at = payload["process"], datetime.fromisoformat(payload["at"])
        self._last_news[process] = at
        for assignment in payload.get("opened", ()):
            self._pages[assignment] = _Seen(process, None)
        for assignment in payload.get("gone", ()):
            # A page that another process has by now is not gone.
            seen = self._pages.get(assignment)
            if seen is None or seen.process == process:
                self._pages[assignment] = _Seen(process, at)
        if payload.get("asks") and process != self._process:
            self._tell(opened=self._here())

    def _here(self) -> list[str]:
        return [
            assignment
            for assignment, seen in self._pages.items()
            if seen.process == self._process and seen.away_since is None
        ]

    async def _tell_all(self) -> None:
        self._tell(opened=self._here())
        self._forget(utc_now())

    def _forget(self, now: datetime) -> None:
        """Count the pages of silent processes as closed; forget pages that were closed long ago."""
        for assignment, seen in tuple(self._pages.items()):
            heard = self._last_news.get(seen.process, now)
            if seen.away_since is None and now - heard > _SILENCE:
                self._pages[assignment] = _Seen(seen.process, heard)
            elif seen.away_since is not None and now - seen.away_since > _KEPT:
                del self._pages[assignment]


RUN_TOPIC = "run"  # a topic of news: something of a run was stored, or one of its pages was opened or closed
_SECONDS = 0.3  # for which changes are collected


class RunNews:
    """Announce changes of runs. For use within one event loop."""

    def __init__(self, news: News) -> None:
        self._news = news
        self._due: set[int] = set()

    def tell(self, run: int) -> None:
        """Announce soon that the run of this id has changed."""
        if run in self._due:
            return
        self._due.add(run)
        asyncio.get_running_loop().call_later(_SECONDS, self._publish, run)

    def _publish(self, run: int) -> None:
        self._due.discard(run)
        self._news.publish(RUN_TOPIC, {"run": run})
