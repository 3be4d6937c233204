"""Processes in which workers arrive, all at once."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from server.db.store import Store
from server.errors import RunFull
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from tests.server.support.database import make_run
from tests.server.support.study import AT
from tests.support.warm_process import at_once


def arrive_at_processes(url: str, workers: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Let workers arrive at as many processes as there are lists, at once; return each one's assignments.

    Who finds the run full has none.
    """
    return at_once(partial(_arrived, url), workers)


def _arrived(url: str, workers: Sequence[str], together: Callable[[], object]) -> dict[str, str]:
    return asyncio.run(_arrive(url, workers, together))


async def _arrive(url: str, workers: Sequence[str], together: Callable[[], object]) -> dict[str, str]:
    run, store = make_run(url), Store(url)
    store.start()
    await asyncio.to_thread(together)

    async def one(name: str) -> tuple[str, str] | None:
        worker = ArrivingWorker(Arrival("link", name), f"W-{name}", False, 1.0)
        try:
            enrolment = await store.submit(lambda connection: enrol(connection, run, worker, AT))
        except RunFull:
            return None
        return name, enrolment.assignment

    found = dict(filter(None, await asyncio.gather(*(one(name) for name in workers))))
    await asyncio.to_thread(store.stop)
    return found
