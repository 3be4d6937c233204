"""Does the desk stay smooth with many workers? A run of so many, watched in a real browser while others chat.

    python benchmarks/desk_page.py [--workers 1000] [--chatting 100] [--seconds 20]

A real server with builtin bots; simulated workers fill the run over the wire, each with one short
conversation. Then as many as `--chatting` take part at people's pace, twice: while the run's page is open in
Chromium and a second connection counts the bytes of its stream, and while nobody watches. Frames are those of
the page's `requestAnimationFrame`; the time of the server is that of its own process, without those of bots.
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

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import launch
from tests.support.server_process import Server

RUN = "crowded"
AT_ONCE = 50  # who fill the run
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
_FRAMES = """
() => {
  window.frames_ = [];
  let last = performance.now();
  const frame = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}
"""


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
    """Let so many workers take part, some at a time."""
    for seed, begin in enumerate(range(0, workers, AT_ONCE), start=1):
        number = str(min(AT_ONCE, workers - begin))
        crowd = server.crowd(RUN, "--workers", number, "--seed", str(seed), "--patience", "600")
        said, _ = crowd.communicate()
        if crowd.returncode != 0:
            sys.exit(f"not everybody took part:\n{said}")


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
        server.start()
        fill(server, workers)
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
        watched = under_load(server, chatting, seconds, page)
        frames: list[float] = page.evaluate("() => window.frames_")
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
        f"server's process: {watched:.2f} of a processor while watched twice, {unwatched:.2f} while not"
    )


if __name__ == "__main__":
    typer.run(main)
