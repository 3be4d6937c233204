"""Measure the effect of a static key-value cache on a Hugging Face model on a CPU.

python benchmarks/static_cache.py [--rounds 4]

The model of `bot_batching.py` is opened twice: as it is, and with `"cache_implementation": "static"` in its
generation_config.json, which `candor host` reads like any other of a model's settings. In each round, both
answer conversations one by one and 32 at a time, on one thread. Times are processor times, so that other work
on the machine does not count. The first line of the output says whether both give the same replies.
"""

import asyncio
import json
import random
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import torch
import typer
from bot_batching import ask, hf_model, line

from bots import Chat, Turn
from bots.host.hf import HfModel
from bots.host.model import LARGEST, WAIT_MS, HfOptions, MicroBatch

TOKENS, ALONE = 20, 8


@dataclass
class Way:
    """A way to answer so many conversations, and the rates of its rounds."""

    name: str
    model: HfModel
    wait_ms: float
    largest: int
    conversations: int
    rates: list[float] = field(default_factory=list)

    def answer(self, seed: int) -> float:
        """Have every conversation ask once; return the replies per second of processor time."""
        started = time.process_time()
        asyncio.run(ask(MicroBatch(self.model, self.wait_ms, self.largest), self.conversations, seed))
        return self.conversations / (time.process_time() - started)


def opened(folder: Path) -> HfModel:
    return HfModel(str(folder), HfOptions(max_new_tokens=TOKENS, device="cpu"))


def with_static_cache(folder: Path) -> Path:
    copied = shutil.copytree(folder, folder.with_name("static"))
    settings = copied / "generation_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"cache_implementation": "static"}))
    return copied


def main(rounds: Annotated[int, typer.Option(min=1, help="Rounds of each way.")] = 4) -> None:
    """Measure a growing and a static cache, one by one and in batches."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "growing"
        _, what = hf_model(folder, TOKENS, "cpu")
        models = {"growing": opened(folder), "static": opened(with_static_cache(folder))}
    rng = random.Random(1)
    chats = [Chat(str(number), number, (), (Turn("worker", line(rng)),)) for number in range(ALONE)]
    said = {cache: [output.text for output in model.replies(chats)] for cache, model in models.items()}
    print(f"{what}; both say the same: {said['growing'] == said['static']}", flush=True)
    ways = [
        way
        for cache, model in models.items()
        for way in (
            Way(f"{cache} cache, one by one", model, 0, 1, ALONE),
            Way(f"{cache} cache, batches of {LARGEST}", model, WAIT_MS, LARGEST, LARGEST),
        )
    ]
    for seed in range(-1, rounds):
        for way in ways:
            rate = way.answer(seed)
            if seed >= 0:  # the first warms up
                way.rates.append(rate)
    for way in ways:
        ratios = [rate / alone for rate, alone in zip(way.rates, ways[0].rates, strict=True)]
        print(
            f"{way.name}: {statistics.mean(way.rates):.2f} replies a second of processor time,"
            f" {statistics.mean(ratios):.2f}× ({min(ratios):.2f}–{max(ratios):.2f})"
        )


if __name__ == "__main__":
    typer.run(main)
