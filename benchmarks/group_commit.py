"""Measure writes a second with and without group commits, one caller against many at once.

python benchmarks/group_commit.py
"""

import asyncio
import tempfile
import time
from pathlib import Path

from sqlalchemy import Connection, insert

from server.db.engine import migrate
from server.db.store import Store
from server.db.tables import BotTable

WRITES = 2_000


async def measure(store: Store, callers: int) -> tuple[float, int]:
    """Return writes a second and commits for `WRITES` writes by a number of callers at once."""
    commits, started = store.commits, time.perf_counter()

    async def caller(first: int) -> None:
        for i in range(first, WRITES, callers):

            def work(connection: Connection, spec: str = f"{callers}-{i}") -> None:
                connection.execute(insert(BotTable).values(spec=spec))

            await store.submit(work)

    await asyncio.gather(*(caller(first) for first in range(callers)))
    return WRITES / (time.perf_counter() - started), store.commits - commits


async def run(store: Store) -> None:
    store.start()
    print(f"{'callers':>8} {'writes/s':>10} {'commits':>8} {'ratio':>6}")
    alone = None
    for callers in (1, 10, 50, 200):
        rate, commits = await measure(store, callers)
        alone = alone or rate
        print(f"{callers:>8} {rate:>10.0f} {commits:>8} {rate / alone:>6.1f}")
    store.stop()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        migrate(url)
        asyncio.run(run(Store(url)))


if __name__ == "__main__":
    main()
