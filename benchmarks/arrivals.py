"""Measure how many workers a second can be given an assignment, as a run fills.

python benchmarks/arrivals.py [--most 10000]

Workers arrive 50 at a time at the writer itself (`server.live.arrive.enrolment`, through
`server.db.store`), without HTTP: each is given a place, a plan and four conversations, in SQLite, each
commit with fsync.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import typer

sys.path.insert(0, str(Path(__file__).parents[1]))
from server.clock import utc_now
from server.db.engine import migrate
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from tests.server.support.database import make_run

AT_ONCE, MEASURED = 50, 500


async def fill(store: Store, run: object, first: int, last: int) -> float:
    """Let workers `first` to `last` arrive; return how many a second did."""

    async def arrive(number: int) -> None:
        worker = ArrivingWorker(Arrival("link", f"w{number}"), f"p{number}", False, 1.0)
        await store.submit(lambda connection: enrol(connection, run, worker, utc_now()))  # type: ignore[arg-type]

    started = time.perf_counter()
    for begin in range(first, last, AT_ONCE):
        await asyncio.gather(*(arrive(number) for number in range(begin, min(begin + AT_ONCE, last))))
    return (last - first) / (time.perf_counter() - started)


async def measure(store: Store, run: object, most: int) -> None:
    store.start()
    print(f"{'assignments':>11} {'arrivals/s':>11}")
    there, step = 0, 100
    while there < most:
        await fill(store, run, there, step)
        there = step + MEASURED
        print(f"{step:>11} {await fill(store, run, step, there):>11.0f}")
        step = max(there, step * 10)
    store.stop()


def main(most: int = 10_000) -> None:
    """Measure arrivals as a run fills up to `most` assignments."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        migrate(url)
        run = make_run(url)
        asyncio.run(measure(Store(url), run, most))


if __name__ == "__main__":
    typer.run(main)
