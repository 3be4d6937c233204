"""Does a turn cost more in a large database? Writing, taking a session over, and starting, as turns add up.

python benchmarks/growth.py [--most 10000000] [--plot docs/growth.svg]

The database is SQLite's, filled by SQL to so many turns in conversations of 20 inputs. Then 50 sessions write
through the store as the server does (a worker's line and a bot's, each with its commit on disk), sessions are
taken over one after the other, and a server is started on it. What is printed for a size was measured on that
database, in one run with all the others.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.turns import STUDY
from server.access.auth import Auth
from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.engine import migrate, open_engine
from server.db.secrets import encrypt_again
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.live.converse.sessions import LiveSessions
from server.news import News
from server.recruiters.arrival import Arrival
from server.session.instrument import Opinion
from server.session.records import Agreed, BotSaid, TopicMarked, WorkerSaid
from tests.server.support.database import make_run
from tests.support.server_process import Server

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
TURNS = 40  # of a conversation
SESSIONS = 50
ROUNDS = 40
ID_KEY = "of-workers-ids-in-this-benchmark"
AUTH = Auth("secret", "token", 3600, id_keys=(ID_KEY,))
LINE = "I have been reading about the sea and its tides lately, what do you think of it?"
CLOCK = "2026-01-01 00:00:00.000000"
# Simulated, so that nobody who arrives is in their way.
FILLING = (
    "INSERT INTO worker (id, platform, external_id, pseudonym) SELECT -k, 'link', 'f' || k, 'F' || k FROM n",
    """INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, status, created_at,
                               active_at, ended_at)
       SELECT 'f' || k, :run, -k, k, 1, 1, 'completed', :at, :at, :at FROM n""",
    """INSERT INTO conversation (id, assignment_id, position, attempt, system_id, seed, persona, status)
       SELECT 'f' || k || '-1.1', 'f' || k, 1, 1, :system, 1, '', 'rated' FROM n""",
    """INSERT INTO turn (conversation_id, turn_index, author, text, client_id, created_at, show_at)
       SELECT 'f' || k || '-1.1', i, CASE i % 2 WHEN 0 THEN 'worker' ELSE 'bot' END, :line, 'm' || i, :at, :at
       FROM n, i""",
)
NUMBERS = """
    WITH RECURSIVE n(k) AS (SELECT :first UNION ALL SELECT k + 1 FROM n WHERE k < :last),
                   i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < :lines)"""


def mark_key(url: str) -> None:
    """Have the database know under which key its workers' ids are, as the first start of a server does."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        encrypt_again(connection, AUTH.ids)
    engine.dispose()


def fill(url: str, run: OpenRun, turns: int) -> None:
    """Add handed-in assignments of one conversation each until there are so many turns."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        there = connection.exec_driver_sql("SELECT count(*) FROM assignment WHERE simulated").scalar_one()
        system = connection.exec_driver_sql("SELECT min(id) FROM system").scalar_one()
        given = {"first": there + 1, "last": turns // TURNS, "run": run.id, "system": system, "at": CLOCK}
        given |= {"line": LINE, "lines": TURNS - 1}
        for insertion in FILLING if there < turns // TURNS else ():
            connection.execute(text(f"{NUMBERS} {insertion}"), given)
    engine.dispose()


async def written(store: Store, run: OpenRun, prefix: str) -> tuple[list[str], float]:
    """Return the assignments of the sessions, and the milliseconds of a turn while all of them write."""

    async def arrive(name: str) -> str:
        worker = ArrivingWorker(AUTH.kept(Arrival("link", name)), f"W{name}", False, 1.0)
        return (await store.submit(lambda connection: enrol(connection, run, worker, utc_now()))).assignment

    async def session(assignment: str) -> None:
        talk = f"{assignment}-1.1"
        at = utc_now()
        topic = TopicMarked(talk, 0, 0, "sea", Opinion.LIKE, None, None, at, "t")
        await store.append(assignment, 0, [Agreed(at, "a"), topic], at)
        for k in range(ROUNDS):
            at = utc_now()
            await store.append(assignment, 0, [WorkerSaid(talk, 2 * k, LINE, at, f"m{k}")], at)
            await store.append(assignment, 0, [BotSaid(talk, 2 * k + 1, LINE, at, at, 5)], at)

    assignments = [await arrive(f"{prefix}-{k}") for k in range(SESSIONS)]
    started = time.perf_counter()
    await asyncio.gather(*(session(assignment) for assignment in assignments))
    return assignments, (time.perf_counter() - started) * 1000 / (SESSIONS * ROUNDS)


async def taken_over(store: Store, run: OpenRun, assignments: list[str]) -> float:
    """Return the median of the milliseconds that it takes to take over a session of 40 inputs."""
    live = LiveSessions(store, {run.id: run}, AUTH, News())
    took = []
    for assignment in assignments:
        started = time.perf_counter()
        await live.open(assignment)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


async def measured(folder: Path, run: OpenRun, url: str, turns: int) -> tuple[float, float, float]:
    fill(url, run, turns)
    store = Store(url)
    store.start()
    assignments, turn_ms = await written(store, run, f"live-{turns}")
    take_over_ms = await taken_over(store, run, assignments)
    await asyncio.to_thread(store.stop)
    return turn_ms, take_over_ms, await asyncio.to_thread(start, folder)


def start(folder: Path) -> float:
    """Return the milliseconds that a server takes to start on the database in `folder`, and stop it."""
    server = Server(folder, environment={"CANDOR_WORKER_ID_KEY": ID_KEY})
    started = time.perf_counter()
    server.start()
    start_ms = (time.perf_counter() - started) * 1000
    server.stop()
    return start_ms


def plot(path: Path, rows: list[tuple[int, float, float, float]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots(1, 3)
    for place, (what, axis) in enumerate(
        zip(("a turn, ms", "a take-over, ms", "a start, ms"), axes, strict=True), start=1
    ):
        axis.plot([row[0] for row in rows], [row[place] for row in rows], marker="o")
        axis.set_xscale("log")
        axis.set_ylim(0, 1.2 * max(row[place] for row in rows))
        axis.set_title(what, fontsize=10)
        axis.set_xlabel("turns in the database", fontsize=9)
    figure.savefig(path)


def main(
    most: Annotated[int, typer.Option(help="Turns in the largest database.")] = SIZES[-1],
    plotted: Annotated[Path | None, typer.Option("--plot", help="Where to draw the growth, as SVG.")] = None,
) -> None:
    """Measure what a turn, a take-over and a start cost as a database grows."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'candor.db'}"
        migrate(url)
        run = make_run(url, STUDY)
        mark_key(url)
        start(folder)  # once before: it loads Python's modules for all that follow, which are forked from it
        print(f"{'turns':>10} {'turn ms':>9} {'take-over ms':>13} {'start ms':>9}")
        for turns in (size for size in SIZES if size <= most):
            row = asyncio.run(measured(folder, run, url, turns))
            rows.append((turns, *row))
            print(f"{turns:>10} {row[0]:>9.2f} {row[1]:>13.2f} {row[2]:>9.0f}", flush=True)
    if plotted is not None:
        plot(plotted, rows)


if __name__ == "__main__":
    typer.run(main)
