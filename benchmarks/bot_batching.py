"""What answering many conversations in one batch buys: replies a second and waiting times.

python benchmarks/bot_batching.py [--help]

A transformer with random weights, of the size of a small dialogue model, is saved to disk and hosted as
any model of a researcher's is: bots.host.hf behind bots.host.batch. A number of conversations go on at once;
each asks for its next reply as soon as it has the last. Every reply has the same number of tokens. One by one
and batched take turns within one process, so that other work on the machine slows both.
"""

import asyncio
import platform
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import transformers
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from bots import Chat, Turn
from bots.host.batch import MicroBatch
from bots.host.hf import HfModel
from bots.host.options import Options

CONVERSATIONS = (1, 8, 32, 128)
LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT = 8, 512, 8, 50_257, 512
WORDS_A_LINE = (4, 16)
complaints = Console(stderr=True)


@dataclass(frozen=True)
class Measured:
    """What a number of conversations got: replies in all, seconds in all, seconds of every reply."""

    replies: int
    seconds: float
    waits: list[float]

    @property
    def rate(self) -> float:
        return self.replies / self.seconds

    def quantile(self, share: float) -> float:
        return float(np.quantile(self.waits, share))

    def with_more(self, other: "Measured") -> "Measured":
        return Measured(self.replies + other.replies, self.seconds + other.seconds, self.waits + other.waits)


def save_model(folder: Path, tokens: int) -> int:
    """Save the model and its tokenizer to `folder`; return how many parameters it has."""
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
    model.save_pretrained(folder)
    return int(model.num_parameters())


async def converse(bot: MicroBatch, conversations: int, rounds: int, seed: int) -> Measured:
    """Have every conversation ask `rounds` times, all of them at once."""
    waits: list[float] = []

    async def one(number: int) -> None:
        rng = random.Random(f"{seed} {number}")
        turns: list[Turn] = [Turn("worker", line(rng)), Turn("bot", line(rng))] * rng.randrange(4)
        for _ in range(rounds):
            turns.append(Turn("worker", line(rng)))
            asked = time.perf_counter()
            reply = await bot.reply(Chat(f"{seed} {number}", number, (), tuple(turns)))
            waits.append(time.perf_counter() - asked)
            turns.append(Turn("bot", reply.text))

    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(conversations)))
    return Measured(conversations * rounds, time.perf_counter() - started, waits)


def line(rng: random.Random) -> str:
    return " ".join(f"w{rng.randrange(VOCABULARY - 2)}" for _ in range(rng.randint(*WORDS_A_LINE)))


def measure(model: HfModel, rounds: int, largest: int) -> list[tuple[int, Measured, Measured]]:
    """Return for each number of conversations what they got one by one, and batched."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    rows = []
    with Progress(*columns, console=complaints) as progress:
        bar = progress.add_task("conversations", total=2 * rounds * sum(CONVERSATIONS))
        for conversations in CONVERSATIONS:
            alone, batched = Measured(0, 0, []), Measured(0, 0, [])
            for turn in range(rounds):
                one_by_one, gathered = MicroBatch(model, 0, 1), MicroBatch(model, largest=largest)
                alone = alone.with_more(asyncio.run(converse(one_by_one, conversations, 1, turn)))
                progress.advance(bar, conversations)
                batched = batched.with_more(asyncio.run(converse(gathered, conversations, 1, turn)))
                progress.advance(bar, conversations)
            rows.append((conversations, alone, batched))
    return rows


def table(rows: list[tuple[int, Measured, Measured]]) -> str:
    lines = [
        "| conversations at once | replies/s one by one | batched | ratio "
        "| p50 s one by one | batched | p99 s one by one | batched |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for conversations, alone, batched in rows:
        cells = [
            str(conversations),
            f"{alone.rate:.2f}",
            f"{batched.rate:.2f}",
            f"{batched.rate / alone.rate:.1f}×",
            *(f"{each.quantile(share):.2f}" for share in (0.5, 0.99) for each in (alone, batched)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def where(device: str) -> str:
    """Return what this ran on."""
    versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
    if device == "cuda":
        return f"{torch.cuda.get_device_name()}, {versions}"
    return f"{torch.get_num_threads()} threads of a {platform.machine()} CPU, {versions}"


def main(
    out: Annotated[Path | None, typer.Option(help="Write the table to this file, too (Markdown).")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Replies that each conversation asks for.")] = 3,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens in every reply.")] = 20,
    largest: Annotated[int, typer.Option(min=1, help="Conversations in one batch.")] = 32,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Measure a GPT-2 of 8 layers × 512 with random weights, batched against one by one."""
    with tempfile.TemporaryDirectory() as folder:
        size = save_model(Path(folder), tokens)
        model = HfModel(folder, Options(max_new_tokens=tokens, device=device))
    warm = [Chat("warm", 1, (), (Turn("worker", line(random.Random(1))),))]
    model.replies(warm)
    rows = measure(model, rounds, largest)
    text = (
        f"GPT-2 layout, {LAYERS} layers × {WIDTH}, {size / 1e6:.0f} M parameters with random weights, "
        f"float32; replies of {tokens} tokens, batches of {largest} at most; "
        f"{where(device)}.\n\n{table(rows)}\n"
    )
    print(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
