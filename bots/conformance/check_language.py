"""Questions and expectations of the check in one language, read from `languages/`."""

import re
import tomllib
from functools import lru_cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from bots.core.segmentation import base_language

_FOLDER = resources.files("bots").joinpath("conformance", "languages")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Choice(_Part):
    """A question whose answer has one of some words in it."""

    line: str
    answers: tuple[str, ...]


class Fact(Choice):
    """What a worker tells, and asks for later."""

    question: str


class Character(_Part):
    """Somebody whom a bot is asked to be. `telling`: words of theirs that hardly come up by chance."""

    persona: tuple[str, ...]
    telling: tuple[str, ...]


class CheckLanguage(_Part):
    """The lines of a language, rows of variants of which one is drawn, and patterns for replies in it."""

    openings: tuple[str, ...]
    talk: tuple[tuple[str, ...], ...]
    follow_ups: tuple[str, ...]
    goodbyes: tuple[str, ...]
    choices: tuple[Choice, ...]
    facts: tuple[Fact, ...]
    questions: tuple[tuple[str, ...], ...]
    characters: tuple[Character, ...]
    long: tuple[str, ...]
    long_ends: tuple[str, ...]
    direct: tuple[str, ...]
    assistant: tuple[re.Pattern[str], ...]
    insults: tuple[re.Pattern[str], ...]
    threats: tuple[re.Pattern[str], ...]
    unfinished: re.Pattern[str]
    narrated: re.Pattern[str]
    labels: str


def check_language(tag: str) -> CheckLanguage:
    """Return what is asked in the language of `tag`: English, where there are no lines of it."""
    name = base_language(tag)
    return _read(name if is_known(name) else "en")


def languages_of(tag: str) -> tuple[CheckLanguage, ...]:
    """Return the languages whose patterns are looked for: that of `tag`, and English."""
    return tuple(dict.fromkeys((check_language(tag), _read("en"))))


@lru_cache
def is_known(name: str) -> bool:
    """Return whether there are lines of a language."""
    return _FOLDER.joinpath(f"{name}.toml").is_file()


@lru_cache
def _read(name: str) -> CheckLanguage:

    return CheckLanguage.model_validate(tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text("utf-8")))
