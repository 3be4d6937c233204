"""Does the desk stay smooth with many workers? A run of so many, watched in a real browser while others chat.

    python benchmarks/desk_page.py [--workers 1000] [--chatting 100] [--seconds 20]

A real server with builtin bots, and a run that so many are in the middle of, written by SQL. As many as
`--chatting` more take part at people's pace, twice: while the run's page is open in Chromium and a second
connection counts the bytes of its stream, and while nobody watches. Frames are those of the page's
`requestAnimationFrame`, long tasks the browser's own (50 ms and more, Long Tasks API); the time of the server
is that of its own process, without those of bots. What else runs on the machine delays frames: its load is
told.
"""

import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import httpx2
import typer
import yaml
from playwright.sync_api import sync_playwright
from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).parents[1]))
from server.clock import utc_now
from server.db.engine import open_engine
from tests.chromium import launch
from tests.server.support.database import recount
from tests.support.server_process import Server

RUN = "crowded"
INPUTS = 3  # that each of those who are there has made
STUDY: dict[str, Any] = {
    "name": "crowded",
    "title": "A few chats",
    "payment": "Nothing",
    "systems_per_assignment": 1,
    "qc_per_assignment": 0,
    "minimum_inputs": 1,
    "criteria": [{"label": "fun", "statement": "It was fun."}],
    "systems": [
        {"name": name, "family": name, "bot": "builtin:reflect"} for name in ("apple", "pear", "quince")
    ],
    "reply_time": {"median": 4, "spread": 0.3, "longest": 10},
    "simulate": {"quality": {"apple": 0.7, "pear": 0.4, "quince": 0.5}},
}
NUMBERS = """
    WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < :last),
                   i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < :lines)"""
FILLING = (
    "INSERT INTO worker (id, platform, external_id, pseudonym) SELECT -k, 'link', 'f' || k, 'F' || k FROM n",
    """INSERT INTO assignment (id, run_id, worker_id, place, simulated, reply_pace, status, created_at,
                               agreed_at, active_at)
       SELECT 'f' || k, :run, -k, k, 1, 1, 'active', :at, :at, :at FROM n""",
    """INSERT INTO conversation (id, assignment_id, position, attempt, system_id, seed, persona, status)
       SELECT 'f' || k || '-1.1', 'f' || k, 1, 1, :first + k % :systems, 1, '', 'active' FROM n""",
    """INSERT INTO turn (conversation_id, turn_index, author, text, client_id, latency_ms, created_at,
                         show_at)
       SELECT 'f' || k || '-1.1', i, iif(i % 2, 'bot', 'worker'), 'Yes.', 'm' || i, iif(i % 2, 200, NULL),
              :at, :at FROM n, i""",
)
_FRAMES = """
() => {
  window.frames_ = [];
  window.long_ = [];
  new PerformanceObserver((list) => window.long_.push(...list.getEntries().map((task) => task.duration)))
    .observe({ type: "longtask" });
  let last = performance.now();
  const frame = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}
"""

_SIZES = "() => [performance.memory.usedJSHeapSize, document.querySelectorAll('*').length]"


class Stream(threading.Thread):
    """Follows a run, and takes down how large each event is, and when it came."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server = server
        self.events: list[tuple[float, int]] = []
        self.begun = time.perf_counter()

    def run(self) -> None:
        url = f"{self._server.url}/api/desk/watch/runs/{RUN}"
        headers = {"Authorization": f"Bearer {self._server.token}"}
        try:
            with httpx2.stream("GET", url, headers=headers, timeout=60) as response:
                for line in response.iter_lines():
                    if line.startswith("data:"):
                        self.events.append((time.perf_counter() - self.begun, len(line.encode())))
        except httpx2.HTTPError:
            pass  # the server has ended


def cpu_seconds(server: Server) -> float:
    """Return the processor time that the server's process has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def under_load(server: Server, chatting: int, seconds: float, page: Any = None) -> float:
    """Let workers chat for so long; return the share of a processor that the server's process took."""
    crowd = server.crowd(
        RUN, "--workers", str(chatting), "--reply-pace", "1", "--seed", str(time.time_ns() % 997)
    )
    until = time.perf_counter() + seconds
    before = cpu_seconds(server)
    while time.perf_counter() < until:
        page.wait_for_timeout(200) if page is not None else time.sleep(0.2)
    used = cpu_seconds(server) - before
    crowd.communicate()
    return used / seconds


def fill(server: Server, workers: int) -> None:
    """Have so many workers be in their first conversation, by SQL."""
    engine = open_engine(server.database, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        run = connection.exec_driver_sql("SELECT id FROM run WHERE slug = ?", (RUN,)).scalar_one()
        first = connection.exec_driver_sql("SELECT min(id) FROM system").scalar_one()
        given = {"run": run, "first": first, "systems": len(STUDY["systems"]), "last": workers}
        given |= {"at": utc_now().strftime("%Y-%m-%d %H:%M:%S.%f"), "lines": 2 * INPUTS - 1}
        for insertion in FILLING:
            connection.execute(text(f"{NUMBERS} {insertion}"), given)
    engine.dispose()
    recount(server.database)


def page_seconds(devtools: Any) -> dict[str, float]:
    """Return the processor time of the page's main thread so far: in all, in scripts, for layout."""
    found = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
    return {name: found[f"{name}Duration"] for name in ("Task", "Script", "Layout")}


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main(
    workers: Annotated[int, typer.Option()] = 1000,
    chatting: Annotated[int, typer.Option()] = 100,
    seconds: Annotated[float, typer.Option()] = 20.0,
) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        study = Path(folder) / "study.yaml"
        study.write_text(yaml.safe_dump(STUDY))
        server.open_run(study, RUN)
        fill(server, workers)
        server.start()
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{server.url}/desk#token={server.token}")
        page.wait_for_selector("table")
        began = time.perf_counter()
        page.goto(f"{server.url}/desk/runs/{RUN}")
        page.wait_for_selector("section[aria-labelledby=workers] tbody tr")
        shown = time.perf_counter() - began
        stream = Stream(server)
        stream.start()
        page.wait_for_timeout(3_000)
        first, settled = stream.events[0], len(stream.events)
        page.evaluate(_FRAMES)
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = page_seconds(devtools)
        watched = under_load(server, chatting, seconds, page)
        worked = {name: value - before[name] for name, value in page_seconds(devtools).items()}
        frames: list[float] = page.evaluate("() => window.frames_")
        tasks: list[float] = page.evaluate("() => window.long_")
        used, nodes = page.evaluate(_SIZES)
        load = os.getloadavg()[0]
        changes = [size for _, size in stream.events[settled:]]
        browser.close()
        page_gone = time.perf_counter() + 3
        while time.perf_counter() < page_gone:
            time.sleep(0.2)
        server.stop()
        server.start()
        unwatched = under_load(server, chatting, seconds)
        server.stop()
    whole = sum(size for _, size in stream.events[:settled])
    typer.echo(f"{workers} assignments, then {chatting} at a time, for {seconds:g} s each")
    typer.echo(f"page drawn with its first workers after {shown:.2f} s")
    typer.echo(
        f"first event: {first[1] / 1000:.0f} kB after {first[0]:.2f} s; "
        f"all: {whole / 1000:.0f} kB in {settled} events"
    )
    typer.echo(
        f"changes: {len(changes)}, median {statistics.median(changes) / 1000:.1f} kB, "
        f"largest {max(changes) / 1000:.1f} kB, {sum(changes) / 1000 / seconds:.1f} kB a second"
    )
    typer.echo(
        f"frames: {len(frames)}, median {statistics.median(frames):.0f} ms, "
        f"95 % below {quantile(frames, 0.95):.0f} ms, 99 % below {quantile(frames, 0.99):.0f} ms, "
        f"longest {max(frames):.0f} ms"
    )
    typer.echo(
        f"long tasks: {60 * len(tasks) / seconds:.0f} a minute, longest {max(tasks, default=0):.0f} ms; "
        f"{used / 1e6:.0f} MB of JavaScript, {nodes} elements"
    )
    each = {name: 1000 * value / len(changes) for name, value in worked.items()}
    typer.echo(
        f"the page's main thread: {each['Task']:.1f} ms of a processor for each change, "
        f"{each['Script']:.1f} of them in scripts, {each['Layout']:.1f} for layout"
    )
    typer.echo(f"load of the machine: {load:.1f} on {os.cpu_count()} processors")
    typer.echo(
        f"server's process: {watched:.2f} of a processor while watched twice, {unwatched:.2f} while not"
    )


if __name__ == "__main__":
    typer.run(main)
