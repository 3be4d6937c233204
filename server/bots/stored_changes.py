"""Apply changes that other processes make to bots and runs: polled, and told by news."""

import asyncio
from collections.abc import Mapping

import structlog
from sqlalchemy import Connection

from server.bots.open_runs import OpenRuns
from server.bots.opened_bots import OpenedBots
from server.bots.registered_bots import RegisteredBots
from server.db.runs.revisions import revisions
from server.db.runs.runs import RunEntry, all_runs
from server.db.store.store import Store
from server.news import News
from server.periodic import PeriodicTask

SECONDS = 0.5  # between two looks at the database
log = structlog.get_logger()


class StoredChanges:
    """Keeps the bots and the runs of this process as the database has them.

    Args:
        store: where they are.
        runs: the runs of this process.
        bots: the owner of its registered bots.
        opened_bots: opens the bots of new runs.
        news: of changes, which only make it quicker.
    """

    def __init__(
        self, store: Store, runs: OpenRuns, bots: RegisteredBots, opened_bots: OpenedBots, news: News
    ) -> None:
        self._store = store
        self._runs = runs
        self._bots = bots
        self._opened_bots = opened_bots
        self._seen: Mapping[str, int] = {}
        self._looking = asyncio.Lock()
        self._task = PeriodicTask(self.look, SECONDS, "changes were not taken up")
        for topic in ("bots", "runs"):
            news.subscribe(topic, lambda _payload: self._task.wake())

    def start(self) -> None:
        """Begin to look, over and over."""
        self._task.start()

    async def close(self) -> None:
        """Look no more. A look that is under way comes to its end: the store can be stopped then."""
        await self._task.stop()

    async def look(self) -> None:
        """Take up what has changed since the last look. Raises StorageFailed."""
        async with self._looking:
            now, entries = await self._store.read(_stored)
            if now == self._seen:
                return
            if now.get("bots") != self._seen.get("bots"):
                await self._bots.take_up_changes()
            # Also where only bots have changed: one may have been all that a run was waiting for.
            self._runs.open_new(entries, self._opened_bots)
            self._seen = now


def _stored(connection: Connection) -> tuple[Mapping[str, int], list[RunEntry]]:
    return revisions(connection), all_runs(connection)
