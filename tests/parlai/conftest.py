"""A tiny line-up, trained once for all tests here. They run where ParlAI is."""

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from bots import Chat, Turn
from tests.parlai.support.tiny_lineup import EPOCHS, tiny_corpus

Talk = Callable[..., Chat]

collect_ignore_glob = [] if find_spec("parlai") else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let ParlAI, which is older than much that it uses, warn without failing a test."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def folder_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run of the tests have in common."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "tiny-lineup"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def trained(folder_of_all: Path) -> Path:
    """The folder of a trained tiny line-up and its corpus: the first process that wants them makes them."""
    from typer.testing import CliRunner

    from bots.train_lineup import app

    corpus, out = folder_of_all / "tiny.jsonl", folder_of_all / "models"
    with (folder_of_all / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done := folder_of_all / "done").exists():
            corpus.write_text("".join(json.dumps(line) + "\n" for line in tiny_corpus()))
            options = ["--corpus", str(corpus), "--out", str(out), "--epochs", EPOCHS]
            result = CliRunner().invoke(app, options)
            assert result.exit_code == 0, result.output
            done.touch()
    return out


@pytest.fixture(scope="session")
def corpus_file(trained: Path) -> Path:
    """A corpus of twenty short dialogues about six things."""
    return trained.parent / "tiny.jsonl"


@pytest.fixture(scope="session")
def models(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the trained line-up, which no other process changes."""
    return Path(shutil.copytree(trained, tmp_path_factory.mktemp("lineup") / "models"))


@pytest.fixture(scope="session")
def talk() -> Talk:
    """A function that makes a chat of lines, the last of which is the worker's."""

    def made(*lines: str, persona: tuple[str, ...] = (), seed: int = 1) -> Chat:
        turns = tuple(
            Turn("worker" if (len(lines) - at) % 2 else "bot", line) for at, line in enumerate(lines)
        )
        return Chat("c", seed, persona, turns)

    return made


@pytest.fixture(scope="session")
def chats(talk: Talk) -> list[Chat]:
    """Conversations of different lengths, with and without persona; one that the bot began."""
    dog = ("I own a dog.", "I talk about my dog all day.")
    return [
        talk("Hello!"),
        talk("Hello!", persona=dog),
        talk("Hello!", "Hi, how are you?", "Do you have a car?"),
        talk("Hi, I'm here.", "Hello!", "Fine!", "What about a cat?", "Tell me about your dog.", persona=dog),
        talk("Welcome!", "Do you have a guitar?"),
        talk(*["Do you have a kitchen, a garden or a car?", "My cat is lovely, isn't it?"] * 9, "Bye."),
        talk("§ ☃ zyzzyva"),
    ]
