"""Measure how often each system picks the true next line out of twenty.

    python -m bots.builtin.evaluate [--corpus SPEC] [--held-out 0.2] [--seed 1] [BOT ...]

Systems learn from the kept dialogues and are tested on the others. Every turn but the first of a held-out
dialogue is a case: the conversation consists of the turns before it, and the candidates are the turn itself
and 19 turns of other held-out dialogues (Lowe et al., 2015, use the same measure, recall at 1, with 9).
Random choice gets 5 %.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.progress import Progress

from bots.builtin import bot_specs, open_bot
from bots.core.chat import Author, Bot, Chat, Turn
from bots.core.words import content, overlap
from bots.corpus import Corpus, CorpusError, Dialogue, load_corpus
from candor.common.terminal import console, stderr


@runtime_checkable
class Ranker(Bot, Protocol):
    """A bot that scores given lines by the same measure with which it chooses its own replies."""

    def scores(self, chat: Chat, candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return one score per candidate for the next line of `chat`; higher is better."""
        ...


def likeness(reply: str, candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return the similarity of each candidate to `reply`: of content words first, then of all words."""
    wanted = set(content(reply))
    shared = [
        len(wanted & set(content(line))) / (len(wanted | set(content(line))) or 1) for line in candidates
    ]
    return np.array(shared) + 0.1 * np.array([overlap(reply, line) for line in candidates])


CANDIDATES = 20
_RESAMPLES = 2000
_TIMED = 100  # replies


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation, twenty candidates for the next line, and the index of the true one.

    The conversation's id is that of the dialogue, and its persona that of the speaker whose turn it is.
    """

    chat: Chat
    candidates: tuple[str, ...]
    truth: int


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of cases in which the true line was picked, with its 95 % interval."""

    share: float
    low: float
    high: float
    cases: int

    def __str__(self) -> str:
        return f"{self.share:.1%} ({self.low:.1%} to {self.high:.1%})"


def cases(held_out: Corpus, seed: int) -> list[Case]:
    """Return every case of `held_out`, its candidates drawn and shuffled by `seed`.

    Raises:
        ValueError: there are too few dialogues to draw 19 other turns from.
    """
    rng = random.Random(f"cases {seed}")
    return [case for dialogue in held_out.dialogues for case in _cases(dialogue, held_out, rng)]


def _cases(dialogue: Dialogue, held_out: Corpus, rng: random.Random) -> Iterator[Case]:
    others = list(dict.fromkeys(t for d in held_out.dialogues if d.id != dialogue.id for t in d.turns))
    for at in range(1, len(dialogue.turns)):
        truth = dialogue.turns[at]
        pool = [turn for turn in others if turn != truth]
        if len(pool) < CANDIDATES - 1:
            raise ValueError(f"{len(pool)} turns in other held-out dialogues; {CANDIDATES - 1} are needed")
        candidates = [truth, *rng.sample(pool, CANDIDATES - 1)]
        rng.shuffle(candidates)
        speaker = dialogue.speaker(at)
        persona = speaker.sentences if speaker else ()
        chat = Chat(dialogue.id, rng.getrandbits(32), persona, _history(dialogue.turns[:at]))
        yield Case(chat, tuple(candidates), candidates.index(truth))


def _history(turns: Sequence[str]) -> tuple[Turn, ...]:
    """Return `turns` as the bot sees them: the last one is the worker's."""
    authors: tuple[Author, Author] = ("worker", "bot")
    return tuple(Turn(authors[(len(turns) - 1 - at) % 2], text) for at, text in enumerate(turns))


async def hits(bot: Bot, tried: Iterable[Case], with_persona: bool) -> list[bool]:
    """Return for each case whether `bot` picks the true line.

    A bot that cannot score lines picks the one most similar to its own reply.
    """
    found = []
    for case in tried:
        chat = case.chat if with_persona else replace(case.chat, persona=())
        if isinstance(bot, Ranker):
            scores = bot.scores(chat, case.candidates)
        else:
            scores = likeness((await bot.reply(chat)).text, case.candidates)
        found.append(int(np.argmax(scores)) == case.truth)
    return found


def accuracy(tried: Sequence[Case], found: Sequence[bool], seed: int) -> Accuracy:
    """Return the share found, with an interval from resampling whole dialogues (percentile bootstrap).

    Dialogues are resampled because turns of one dialogue are not independent.
    """
    names = list(dict.fromkeys(case.chat.conversation_id for case in tried))
    at = np.array([names.index(case.chat.conversation_id) for case in tried])
    right = np.bincount(at, weights=np.array(found, dtype=np.float64), minlength=len(names))
    sizes = np.bincount(at, minlength=len(names))
    drawn: NDArray[np.intp] = np.random.default_rng(seed).integers(len(names), size=(_RESAMPLES, len(names)))
    shares = right[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return Accuracy(float(right.sum() / sizes.sum()), float(low), float(high), len(tried))


async def milliseconds(bot: Bot, tried: Sequence[Case]) -> float:
    """Return the median time of one reply with a persona, over some of the cases."""
    times = []
    for case in tried[:_TIMED]:
        start = time.perf_counter()
        await bot.reply(case.chat)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


@dataclass(frozen=True, slots=True)
class Row:
    """The results of one bot."""

    spec: str
    without: Accuracy
    with_persona: Accuracy
    milliseconds: float

    def __str__(self) -> str:
        return f"| {self.spec} | {self.without} | {self.with_persona} | {self.milliseconds:.1f} |"


def evaluated(spec: str, kept: Corpus, tried: Sequence[Case], seed: int) -> Row:
    """Return how often the bot named by `spec`, trained on `kept`, picks the true line.

    Raises:
        UnknownBotError: there is no such bot.
        CorpusError: the bot cannot use `kept`.
    """
    bot = open_bot(spec, kept)
    without, with_persona = (
        accuracy(tried, asyncio.run(hits(bot, tried, persona)), seed) for persona in (False, True)
    )
    return Row(spec, without, with_persona, asyncio.run(milliseconds(bot, tried)))


def table(rows: Iterable[Row]) -> str:
    """Return the results as a Markdown table."""
    head = "| bot | without persona | with persona | ms a reply |"
    return "\n".join([head, "|---|---|---|---|", *map(str, rows)])


def main(
    specs: Annotated[list[str] | None, typer.Argument(help="Bots to test; default: all of them.")] = None,
    corpus: Annotated[str, typer.Option(help='"builtin:smalltalk" or a path.')] = "builtin:smalltalk",
    held_out: Annotated[float, typer.Option(help="Share of dialogues for the test.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Random seed of the split and the candidates.")] = 1,
) -> None:
    """Print how often each bot picks the true next line out of twenty, with 95 % intervals."""
    try:
        kept, held = load_corpus(corpus).split(held_out, seed)
        tried = cases(held, seed)
        with Progress(console=stderr) as progress:
            chosen = progress.track(specs or bot_specs(), description="picking")
            rows = [evaluated(spec, kept, tried, seed) for spec in chosen]
    except (CorpusError, ValueError) as error:
        stderr.print(f"[red]{escape(str(error))}")
        raise typer.Exit(1) from error
    console.print(
        f"{corpus}: {len(kept.dialogues)} dialogues to learn from, {len(held.dialogues)} held out;\n"
        f"{len(tried)} cases, seed {seed}; true lines picked of {CANDIDATES}, 95 % intervals\n\n"
        f"{table(rows)}",
        soft_wrap=True,
    )


if __name__ == "__main__":
    typer.run(main)
