"""Compute the interim analysis of each run in a child process as ratings come in."""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

import structlog

from server.clock import utc_now
from server.db.jobs import end_abandoned
from server.db.runs.analyses import last_heard, outdated, store_analysis
from server.db.store.store import Store
from server.errors import StorageFailed
from server.jobs.child import ChildCommand, ChildFailed, ChildLimits, reading, run_child
from server.lease import Lease
from server.periodic import PeriodicTask

SECONDS = 5.0  # shortest time between checks for new ratings
SHARE = 0.1  # share of the time that analyses may take
LEASE = "analysis"
log = structlog.get_logger()


class RunningAnalyses:
    """Keeps the interim analysis of every run up to date, in one of the serving processes at a time.

    Args:
        store: the database.
        url: the database's URL, for the child process.
        limits: the limits of the child process.
        seconds: the time between checks.
        share: the share of the time that child processes may take.
        lease: held by the process that does it, and renewed while a child process works.
    """

    def __init__(
        self,
        store: Store,
        url: str,
        limits: ChildLimits,
        seconds: float = SECONDS,
        share: float = SHARE,
        lease: Lease | None = None,
    ) -> None:
        self._store = store
        self._url = url
        self._limits = limits
        self._seconds = seconds
        self._share = share
        self._lease = lease or Lease(store, LEASE)
        self._seen: dict[int, datetime] = {}
        self._failed: set[tuple[int, str]] = set()
        self._task = PeriodicTask(self.look, seconds, "runs were not analysed")

    def start(self) -> None:
        """Start the periodic job."""
        self._task.start()

    async def close(self) -> None:
        """Stop the job and its child process, and release the lease to other processes."""
        await self._task.cancel()
        with suppress(StorageFailed):
            await self._lease.release()

    async def look(self) -> None:
        """Analyse every run with new ratings. Raises StorageFailed."""
        heard = await self._store.read(last_heard)
        changed = {run: at for run, at in heard.items() if self._seen.get(run) != at}
        if changed:
            await self._store.submit(lambda connection: end_abandoned(connection, utc_now()))
            await self._lease.work_alone(partial(self._analyse_all, changed))

    async def _analyse_all(self, changed: Mapping[int, datetime]) -> None:
        for run, at in changed.items():
            await self._analyse(run)
            self._seen[run] = at

    async def _analyse(self, run: int) -> None:
        found = await self._store.read(lambda connection: outdated(connection, run))
        if found is None or (run, found[1]) in self._failed:
            return
        slug, basis = found
        began, at, lines = time.monotonic(), utc_now(), list[str]()
        source, variables = reading(self._url)
        command = ChildCommand("qc.precision.watch", (source, "--run", slug), variables)
        try:
            await run_child(command, self._limits, lines.append)
            content = json.dumps(json.loads(lines[-1]))
        except (ChildFailed, ValueError, IndexError) as error:
            log.error("run was not analysed", run=slug, reason=str(error))
            self._failed.add((run, basis))
        else:
            await self._store.submit(lambda connection: store_analysis(connection, run, at, basis, content))
        took = time.monotonic() - began
        await asyncio.sleep(took * (1 / self._share - 1))
