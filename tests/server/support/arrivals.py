"""A process in which workers arrive, all at once: `python -m tests.server.support.arrivals URL WORKER …`.

It says `ready`, begins when it is sent a line, and writes who has got which assignment as JSON.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence

from server.db.store import Store
from server.errors import RunFull
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from tests.server.support.database import make_run
from tests.server.support.study import AT
from tests.support.waiting import ENOUGH


def arrive_at_processes(url: str, workers: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Let workers arrive at as many processes as there are lists, at once; return each one's assignments.

    Who finds the run full has none.
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", __name__, url, *theirs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for theirs in workers
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [json.loads(process.communicate(timeout=ENOUGH)[0].splitlines()[-1]) for process in processes]


async def _arrive(url: str, workers: Sequence[str]) -> dict[str, str]:
    run, store = make_run(url), Store(url)
    store.start()
    print("ready", flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.readline)

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


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_arrive(sys.argv[1], sys.argv[2:]))))  # noqa: T201
