"""Measure the gain from answering many conversations in one batch: replies a second and waiting times.

python benchmarks/bot_batching.py [--help]

A transformer with random weights, of the size of a small dialogue model, is saved to disk and hosted like a
researcher's own model: bots.host.hf or bots.host.parlai behind bots.host.model. Several conversations run at
once; in each round, each of them asks for a reply. Every reply has the same number of tokens.
Single and batched rounds alternate within one process, so that other work on the machine slows both. The
spread of the rounds shows how reliable a row is.
"""

import asyncio
import math
import platform
import random
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bots import Chat, Turn
from bots.host.model import LARGEST, WAIT_MS, MicroBatch, Model

CONVERSATIONS = (1, 8, 32, 128)
CONVERSATIONS_OF_CACHES = (1, 8, 32)
LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT = 8, 512, 8, 50_257, 512
WORDS_A_LINE = (4, 16)
stderr = Console(stderr=True)


@dataclass(frozen=True)
class Round:
    """What a number of conversations got: seconds until all had a reply, and until each had its own."""

    seconds: float
    waits: list[float]

    @property
    def rate(self) -> float:
        return len(self.waits) / self.seconds


@dataclass(frozen=True)
class Row:
    """Rounds of so many conversations at once, one by one and batched, in pairs."""

    conversations: int
    alone: list[Round]
    batched: list[Round]

    def ratios(self) -> list[float]:
        return [b.rate / a.rate for a, b in zip(self.alone, self.batched, strict=True)]

    def cells(self) -> list[str]:
        both = (self.alone, self.batched)
        replies = sum(len(each.waits) for each in self.alone)
        rates = [replies / sum(each.seconds for each in rounds) for rounds in both]
        ratios = self.ratios()
        waits = [[wait for each in rounds for wait in each.waits] for rounds in both]
        return [
            str(self.conversations),
            str(replies),
            *(f"{rate:.2f}" for rate in rates),
            f"{rates[1] / rates[0]:.1f}×",
            f"{min(ratios):.1f}–{max(ratios):.1f}",
            *(f"{np.quantile(each, share):.2f}" for share in (0.5, 0.99) for each in waits),
        ]


def hf_model(folder: Path, tokens: int, device: str, cache: str | None = None) -> tuple[Model, str]:
    """Return a GPT-2 saved to `folder` and hosted from there, and what it is.

    `cache`: how transformers keep keys and values, as a model's own settings name it; None: a growing cache.
    """
    import transformers
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    from bots.host.hf import HfModel
    from bots.host.model import HfOptions

    words = {f"w{number}": number for number in range(VOCABULARY - 2)}
    marks = {"<unk>": VOCABULARY - 2, "</s>": VOCABULARY - 1}
    unknown, end = marks
    tokenizer = Tokenizer(WordLevel(words | marks, unk_token=unknown))
    tokenizer.pre_tokenizer = Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token=unknown, eos_token=end, pad_token=end
    ).save_pretrained(folder)
    torch.manual_seed(1)
    ends = {"bos_token_id": VOCABULARY - 1, "eos_token_id": VOCABULARY - 1}
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            **ends, n_layer=LAYERS, n_embd=WIDTH, n_head=HEADS, n_positions=CONTEXT, vocab_size=VOCABULARY
        )
    )
    model.generation_config.min_new_tokens = tokens
    model.generation_config.cache_implementation = cache
    model.save_pretrained(folder)
    hosted = HfModel(str(folder), HfOptions(max_new_tokens=tokens, device=device))
    return hosted, described("GPT-2 layout", model.num_parameters(), "transformers")


def parlai_model(folder: Path, tokens: int) -> tuple[Model, str]:
    """Return ParlAI's transformer generator saved to `folder` and hosted from there, and what it is."""
    import_module("bots.parlai")  # before ParlAI itself: it makes that fit for today's Python
    from parlai.core.agents import create_agent
    from parlai.core.params import ParlaiParser

    from bots.host.parlai import ParlaiModel

    words = folder / "model.dict"
    words.write_text("".join(f"w{number}\t1\n" for number in range(VOCABULARY - 4)))
    options = ParlaiParser(True, True).parse_kwargs(
        model="transformer/generator", model_file=str(folder / "model"), dict_file=str(words), no_cuda=True,
        dict_tokenizer="split", n_layers=LAYERS, n_heads=HEADS, embedding_size=WIDTH, ffn_size=4 * WIDTH,
        n_positions=CONTEXT, text_truncate=CONTEXT, label_truncate=tokens, inference="greedy",
        beam_min_length=tokens,
    )  # fmt: skip
    torch.manual_seed(1)
    agent = create_agent(options)
    agent.save(str(folder / "model"))
    size = sum(each.numel() for each in agent.model.parameters())
    return ParlaiModel(str(folder / "model")), described("ParlAI's encoder-decoder", size, "parlai")


def described(layout: str, size: int, library: str) -> str:
    return (
        f"{layout}, {LAYERS} layers × {WIDTH}, {size / 1e6:.0f} M parameters with random weights, float32; "
        f"torch {torch.__version__}, {library} {version(library)}"
    )


async def ask(bot: MicroBatch, conversations: int, seed: int) -> Round:
    """Have every conversation ask for a reply, all of them at once."""
    waits: list[float] = []

    async def one(number: int) -> None:
        rng = random.Random(f"{seed} {number}")
        turns = [Turn("worker", line(rng)), Turn("bot", line(rng))] * rng.randrange(4)
        chat = Chat(f"{seed} {number}", number, (), (*turns, Turn("worker", line(rng))))
        asked = time.perf_counter()
        await bot.reply(chat)
        waits.append(time.perf_counter() - asked)

    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(conversations)))
    return Round(time.perf_counter() - started, waits)


def warmed(model: Model) -> None:
    """Have a model answer once, so that no round pays for what is done the first time."""
    model.replies([Chat("warm", 1, (), (Turn("worker", line(random.Random(1))),))])


def line(rng: random.Random) -> str:
    return " ".join(f"w{rng.randrange(VOCABULARY - 2)}" for _ in range(rng.randint(*WORDS_A_LINE)))


def measure(model: Model, rounds: int, replies: int, largest: int) -> list[Row]:
    """Return a row for each number of conversations: at least `rounds` rounds and `replies` replies."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    rows = [Row(number, [], []) for number in CONVERSATIONS]
    asked = {number: max(rounds, math.ceil(replies / number)) for number in CONVERSATIONS}
    with Progress(*columns, console=stderr) as progress:
        bar = progress.add_task("replies", total=2 * sum(number * times for number, times in asked.items()))
        for row in rows:
            for turn in range(asked[row.conversations]):
                for found, bot in ((row.alone, (0, 1)), (row.batched, (WAIT_MS, largest))):
                    found.append(asyncio.run(ask(MicroBatch(model, *bot), row.conversations, turn)))
                    progress.advance(bar, row.conversations)
    return rows


def measure_caches(models: dict[str, Model], rounds: int, largest: int) -> str:
    """Return a table of batches by caches, which take turns in each round."""
    first, second = models
    lines = [
        f"| conversations at once | replies | replies/s, {first} cache | {second} | ratio | single rounds |",
        "|---:" * 6 + "|",
    ]
    for number in CONVERSATIONS_OF_CACHES:
        taken: dict[str, list[Round]] = {name: [] for name in models}
        for turn in range(rounds):
            for name, model in models.items():
                taken[name].append(asyncio.run(ask(MicroBatch(model, WAIT_MS, largest), number, turn)))
        seconds = {name: sum(each.seconds for each in taken[name]) for name in models}
        ratios = [b.rate / a.rate for a, b in zip(taken[first], taken[second], strict=True)]
        replies = number * rounds
        cells = [str(number), str(replies), *(f"{replies / each:.2f}" for each in seconds.values())]
        cells += [f"{seconds[first] / seconds[second]:.2f}×", f"{min(ratios):.2f}–{max(ratios):.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def table(rows: list[Row]) -> str:
    lines = [
        "| conversations at once | replies | replies/s one by one | batched | ratio | in single rounds "
        "| p50 s one by one | batched | p99 s one by one | batched |",
        "|---:" * 10 + "|",
    ]
    return "\n".join([*lines, *(f"| {' | '.join(row.cells())} |" for row in rows)])


def where(device: str) -> str:
    """Return what this ran on."""
    if device == "cuda":
        return str(torch.cuda.get_device_name())
    return f"{torch.get_num_threads()} threads of a {platform.machine()} CPU"


def main(
    out: Annotated[Path | None, typer.Option(help="Write the table to this file, too (Markdown).")] = None,
    parlai: Annotated[
        bool, typer.Option("--parlai", help="A model of ParlAI; needs its environment.")
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each row, at least.")] = 4,
    replies: Annotated[int, typer.Option(min=1, help="Replies in each row, at least.")] = 128,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens in every reply.")] = 20,
    largest: Annotated[int, typer.Option(min=1, help="Conversations in one batch.")] = LARGEST,
    device: Annotated[str, typer.Option(help="cpu or cuda; ParlAI's model is on the CPU.")] = "cpu",
    caches: Annotated[
        bool, typer.Option("--caches", help="Batches with a static cache against those with a growing one.")
    ] = False,
) -> None:
    """Measure a transformer of 8 layers × 512 with random weights, batched against one by one."""
    if parlai and device != "cpu":
        raise typer.BadParameter("--parlai is measured on the CPU")
    if parlai and caches:
        raise typer.BadParameter("ParlAI's model has one kind of cache")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, what = parlai_model(folder, tokens) if parlai else hf_model(folder, tokens, device)
        warmed(model)
        if caches:
            static, _ = hf_model(folder / "static", tokens, device, "static")
            warmed(static)
            found = measure_caches({"growing": model, "static": static}, rounds, largest)
        else:
            found = table(measure(model, rounds, replies, largest))
    settings = f"replies of {tokens} tokens, batches of {largest} at most; {where(device)}"
    text = f"{what}; {settings}.\n\n{found}\n"
    print(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
