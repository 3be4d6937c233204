"""Conversations and tiny models for the tests of the bot host."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bots import Chat, Turn, load_corpus
from tests.bots.support.tiny_models import save_tiny_models

Talk = Callable[..., Chat]


@pytest.fixture(scope="session")
def talk() -> Talk:
    """A function that makes a chat of lines, the last of which is the worker's."""

    def made(*lines: str, persona: tuple[str, ...] = (), seed: int = 1, name: str = "c") -> Chat:
        turns = tuple(
            Turn("worker" if (len(lines) - at) % 2 else "bot", line) for at, line in enumerate(lines)
        )
        return Chat(name, seed, persona, turns)

    return made


@pytest.fixture(scope="session")
def chats(talk: Talk) -> list[Chat]:
    """Conversations of different lengths, with and without persona."""
    dialogues = load_corpus("builtin:smalltalk").dialogues[:6]
    return [
        talk(
            *dialogue.turns[: 1 + 2 * (number % 3)],
            persona=("I have two dogs.", "I work at night.") if number % 2 else (),
            seed=number,
            name=f"conversation {number}",
        )
        for number, dialogue in enumerate(dialogues)
    ]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of the tiny models by kind."""
    return save_tiny_models(tmp_path_factory.mktemp("models"))
