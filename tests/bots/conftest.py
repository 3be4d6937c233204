"""Corpora and bots for the tests of bots."""

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from bots import Bot, Chat, Corpus, Turn, load_corpus, open_bot
from bots.builtin.catalogue import builtin_names

REPOSITORY = Path(__file__).parents[2]

Say = Callable[..., Awaitable[str]]


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The shipped corpus."""
    return load_corpus("builtin:smalltalk")


@pytest.fixture(scope="session")
def kept_and_held(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """The shipped corpus, half to learn from and half for conversations that no bot has seen."""
    return corpus.split(0.5, seed=4)


@pytest.fixture(scope="session")
def trained(kept_and_held: tuple[Corpus, Corpus]) -> dict[str, Bot]:
    """Every builtin system, having learned from half of the corpus."""
    return {name: open_bot(f"builtin:{name}", kept_and_held[0]) for name in builtin_names()}


@pytest.fixture(scope="session")
def systems(corpus: Corpus) -> dict[str, Bot]:
    """Every builtin system, having learned from the whole corpus."""
    return {name: open_bot(f"builtin:{name}", corpus) for name in builtin_names()}


@pytest.fixture(scope="session")
def say() -> Say:
    """A function that returns what a bot answers to some lines, the last of which is the worker's."""

    async def answered(bot: Bot, lines: Sequence[str], persona: Sequence[str] = (), seed: int = 1) -> str:
        turns = tuple(
            Turn("worker" if (len(lines) - at) % 2 else "bot", line) for at, line in enumerate(lines)
        )
        return (await bot.reply(Chat("c", seed, tuple(persona), turns))).text

    return answered


@pytest.fixture(scope="session")
def convai2() -> Path:
    """The folder of the ConvAI2 files; the test is skipped where it is absent, and fails in CI."""
    given = os.environ.get("CANDOR_PUBLISHED_DATA")
    folder = (Path(given) if given else REPOSITORY.parent / "shared" / "data") / "convai2"
    if not folder.is_dir():
        message = f"NO PUBLISHED DATA: {folder} is absent; set CANDOR_PUBLISHED_DATA"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder
