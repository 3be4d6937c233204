"""Corpora, bots, and the bots' commands with a real server, for the tests of bots."""

import re
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bots import Bot, Chat, Turn, load_corpus, open_bot
from bots.__main__ import cli
from bots.builtin import builtin_names
from bots.serving import Corpus
from tests.bots.support.app_server import hosting, running
from tests.bots.support.commands import Command
from tests.bots.support.wrong_bots import Person
from tests.server.support.database import make_run
from tests.server.support.server import House

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
def convai2(originals: Path) -> Path:
    """The folder of the ConvAI2 files."""
    return originals / "convai2"


@pytest.fixture(scope="session")
def lower_case(corpus: Corpus) -> Corpus:
    """The shipped corpus in the form of ConvAI2: in lower case, with spaces around punctuation."""

    def spaced(lines: Sequence[str]) -> tuple[str, ...]:
        return tuple(re.sub(r"\s*([.,?!])", r" \1 ", line.lower()).strip() for line in lines)

    personas = tuple(replace(one, sentences=spaced(one.sentences)) for one in corpus.personas)
    dialogues = tuple(replace(one, turns=spaced(one.turns)) for one in corpus.dialogues)
    return replace(corpus, personas=personas, dialogues=dialogues)


@pytest.fixture
def person() -> Iterator[str]:
    """The address of a bot that is as it should be."""
    with running(hosting(Person())) as url:
        yield url


@pytest.fixture
def house(migrated: Path, tmp_path: Path) -> Iterator[House]:
    """A server with one run, in which no registered bot takes part, that lets two keys be sent to itself."""
    shutil.copy(migrated, tmp_path / "candor.db")
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    keys = {"GPU_API_KEY": ["127.0.0.1"], "NO_SUCH_API_KEY": ["127.0.0.1"]}
    house = House(url, [make_run(url)], tmp_path, {"bot_keys": keys})
    house.start()
    yield house
    house.stop()


def _runner(house: House, *before: str) -> Command:
    environment = {"CANDOR_TOKEN": house.auth.researcher_token, "COLUMNS": "200", "NO_COLOR": "1"}
    where = ["--server", f"http://127.0.0.1:{house.port}"]

    def run(*arguments: object, **more: str | None) -> Result:
        return CliRunner().invoke(cli, [*before, *map(str, arguments), *where], env=environment | more)

    return run


@pytest.fixture
def register(house: House) -> Command:
    """`candor bots`, told where the server is."""
    return _runner(house)


@pytest.fixture
def checking(house: House) -> Command:
    """`candor bots check`, told where the server is."""
    return _runner(house, "check")
