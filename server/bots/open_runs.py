"""The open runs of this process, kept up to date with the database."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping

import structlog
from sqlalchemy import Connection

from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.bots.registered_bots import RegisteredBots
from server.db.runs.runs import RunEntry, all_runs, revisions
from server.db.store.store import Store
from server.errors import CandorError
from server.news import News
from server.periodic import PeriodicTask

log = structlog.get_logger()
Prepare = Callable[[OpenRun], OpenRun]


class OpenRuns(Mapping[int, OpenRun]):
    """Runs with their bots opened, by id. A closed run stays, so that active workers can finish.

    Args:
        runs: the runs that are open already.
        prepare: prepares each run before workers are admitted.
    """

    def __init__(self, runs: Mapping[int, OpenRun], prepare: Prepare = lambda run: run) -> None:
        self._prepare = prepare
        self._runs = {key: prepare(run) for key, run in runs.items()}
        self._refused: dict[int, str] = {}

    def __getitem__(self, key: int) -> OpenRun:
        return self._runs[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def open_new(self, entries: Collection[RunEntry], opened_bots: OpenedBots) -> None:
        """Open the runs among `entries` that are not closed and not open here yet.

        A run that cannot be opened is logged once.
        """
        for entry in entries:
            if entry.id not in self._runs and entry.status != "closed":
                self._open(entry, opened_bots)

    def refusal(self, run: int) -> str | None:
        """Return why a run cannot be opened here; None if no problem is known."""
        return self._refused.get(run)

    def _open(self, entry: RunEntry, opened_bots: OpenedBots) -> None:
        try:
            self._runs[entry.id] = self._prepare(open_lineup(entry, opened_bots))
        except CandorError as error:
            if self._refused.get(entry.id) != error.message:
                log.error("run is not served", run=entry.slug, reason=error.message, hint=error.hint)
            self._refused[entry.id] = error.message
        else:
            self._refused.pop(entry.id, None)
            log.info("run is served", run=entry.slug)


SECONDS = 0.5  # between queries of the database


class StoredChanges:
    """Applies changes of bots and runs in the database to this process.

    Args:
        store: the database.
        runs: the runs of this process.
        bots: the registered bots of this process.
        opened_bots: opens the bots of new runs.
        news: announces changes, so that they are applied sooner.
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
        """Start querying periodically."""
        self._task.start()

    async def close(self) -> None:
        """Stop querying. A running query is completed, so that the store can be stopped afterwards."""
        await self._task.stop()

    async def look(self) -> None:
        """Apply the changes since the last query. Raises StorageFailed."""
        async with self._looking:
            now, entries = await self._store.read(_stored)
            if now == self._seen:
                return
            if now.get("bots") != self._seen.get("bots"):
                await self._bots.take_up_changes()
            # Also if only bots have changed: a run may have been waiting for one of them.
            self._runs.open_new(entries, self._opened_bots)
            self._seen = now


def _stored(connection: Connection) -> tuple[Mapping[str, int], list[RunEntry]]:
    return revisions(connection), all_runs(connection)
