"""The check's questions and expectations in one language, read from `languages/`."""

import re
import tomllib
from functools import lru_cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from candor.common.segmentation import base_language

_FOLDER = resources.files("bots").joinpath("conformance", "languages")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PhraseChoice(_Part):
    """A question whose answer contains one of some words."""

    line: str
    answers: tuple[str, ...]


class Fact(PhraseChoice):
    """A fact that the worker mentions, and a later question about it."""

    question: str


class Character(_Part):
    """A persona for the bot. `telling`: words of the persona that rarely occur by chance."""

    persona: tuple[str, ...]
    telling: tuple[str, ...]


class CheckLanguage(_Part):
    """The lines of a language, in rows of variants of which one is drawn, and patterns for replies in it."""

    openings: tuple[str, ...]
    talk: tuple[tuple[str, ...], ...]
    follow_ups: tuple[str, ...]
    goodbyes: tuple[str, ...]
    choices: tuple[PhraseChoice, ...]
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
    """Return the questions in the language of `tag`; the English ones if there are none in it."""
    name = base_language(tag)
    return _read(name if is_known(name) else "en")


def languages_of(tag: str) -> tuple[CheckLanguage, ...]:
    """Return the languages whose patterns are searched for: that of `tag`, and English."""
    return tuple(dict.fromkeys((check_language(tag), _read("en"))))


@lru_cache
def is_known(name: str) -> bool:
    """Return whether there are lines in a language."""
    return _FOLDER.joinpath(f"{name}.toml").is_file()


@lru_cache
def _read(name: str) -> CheckLanguage:

    return CheckLanguage.model_validate(tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text("utf-8")))
