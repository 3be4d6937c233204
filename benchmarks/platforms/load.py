"""Load: participants who exchange messages at people's pace until the server is killed."""

import asyncio
import itertools
import math
import os
import platform
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.platforms.adapter import Participant, Platform
from benchmarks.turns import SAYING, WARM_UP, seconds_in
from tests.support.waiting import PATIENCE

SPREAD = 0.5  # standard deviation of the logarithm of a pause
AT_ONCE = 8  # arrivals
TAG = re.compile(r"#\d+\.\d+#")  # participant and message, before the words of each message


@dataclass(frozen=True)
class Load:
    """Participants and their pace. `pause` is the median, in seconds, of a log-normal distribution."""

    connections: int
    pause: float
    seconds: float
    seed: int

    def pauses(self, number: int) -> Iterator[float]:
        """Yield the seconds that a participant thinks before each message."""
        drawn = random.Random(f"{self.seed} {number}")
        while True:
            yield drawn.lognormvariate(math.log(self.pause), SPREAD) if self.pause else 0.0


class Record:
    """Messages that were sent and acknowledged, and errors, until the server is killed."""

    def __init__(self) -> None:
        self.acknowledged: set[str] = set()
        self.sent: dict[str, float] = {}  # not yet acknowledged, with their times
        self.waits: list[float] = []  # milliseconds, those of the measurement
        self.errors: Counter[str] = Counter()
        self.counting = False

    async def follow(self, participant: Participant, number: int, load: Load) -> None:
        """Chat as one participant until the task is cancelled, or until an error."""
        try:
            await self._chat(participant, number, load)
        except Exception as error:
            self.errors[f"{type(error).__name__}: {error}"[:200]] += 1

    async def _chat(self, participant: Participant, number: int, load: Load) -> None:
        if not participant.opens:
            await participant.hear()
        for count, pause in zip(itertools.count(), load.pauses(number)):
            await asyncio.sleep(pause)
            tag = f"#{number}.{count}#"
            since = self.sent[tag] = time.perf_counter()
            await participant.send(f"{tag} {SAYING}")
            del self.sent[tag]
            self.acknowledged.add(tag)
            if self.counting:
                self.waits.append((time.perf_counter() - since) * 1000)
            await participant.hear()


async def measure(target: Platform, load: Load) -> dict[str, Any]:
    """Start the server, let people chat, kill it, and count what is in its store; return the result."""
    load_before = os.getloadavg()[0]
    try:
        await target.start(load.connections)
        versions = dict(target.versions())
        record, figures = await exchange(target, load)
    finally:
        target.kill()
    stored = {tag for text in target.stored() for tag in TAG.findall(text)}
    return {
        "exchange": target.exchange,
        "acknowledged_by": target.acknowledged,
        "store": target.store,
        "versions": versions,
        "machine": machine(),
        "load_average": {"before": round(load_before, 2), "after": round(os.getloadavg()[0], 2)},
        "load": asdict(load),
        **figures,
        "errors": dict(record.errors),
        "acknowledged": len(record.acknowledged),
        "lost": len(record.acknowledged - stored),
    }


async def exchange(target: Platform, load: Load) -> tuple[Record, dict[str, Any]]:
    """Let people join and chat; return what they recorded, and the figures of the measurement."""
    record = Record()
    places = asyncio.Semaphore(AT_ONCE)

    async def arrive(number: int) -> Participant:
        async with places, asyncio.timeout(PATIENCE):
            return await target.join(number)

    began = time.perf_counter()
    participants = await asyncio.gather(*(arrive(number) for number in range(load.connections)))
    arrivals = load.connections / (time.perf_counter() - began)
    async with asyncio.TaskGroup() as chats:
        tasks = [
            chats.create_task(record.follow(participant, number, load))
            for number, participant in enumerate(participants)
        ]
        await asyncio.sleep(WARM_UP + 1.5 * load.pause)
        used, began, record.counting = processor_seconds(target.process), time.perf_counter(), True
        await asyncio.sleep(load.seconds)
        used, ended = processor_seconds(target.process) - used, time.perf_counter()
        target.kill()
        for task in tasks:
            task.cancel()
    return record, {
        "arrivals_a_second": round(arrivals, 1),
        "messages_a_second": round(len(record.waits) / (ended - began), 2),
        "acknowledgement_ms": quantiles(record.waits),
        "waiting_at_the_kill": {
            "messages": len(record.sent),
            "longest_ms": round(1000 * max((ended - since for since in record.sent.values()), default=0.0)),
        },
        "processor_ms_a_message": round(1000 * used / max(len(record.waits), 1), 3),
    }


def quantiles(waits: list[float]) -> dict[str, float] | None:
    """Return the quantiles of the waits, None if there are fewer than 100."""
    if len(waits) < 100:
        return None
    p50, p95, p99 = np.quantile(waits, [0.5, 0.95, 0.99])
    return {
        name: round(float(value), 1)
        for name, value in (("p50", p50), ("p95", p95), ("p99", p99), ("longest", max(waits)))
    }


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its children, with their children."""
    children = " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children"))
    own = seconds_in(Path(f"/proc/{process}/stat"))
    return own + sum(processor_seconds(int(child)) for child in children.split())


def machine() -> dict[str, Any]:
    """Return the processors, the memory and the system that everything ran on."""
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processors": os.cpu_count(),
        "model": models[0] if models else platform.machine(),
        "memory_gib": round(memory / 2**30, 1),
        "system": platform.platform(),
    }
