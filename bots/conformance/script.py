"""The script of a check, and the bot's answers.

The questions are those of the study's language, the same for every bot in newly drawn words.
"""

import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from itertools import cycle
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from bots.core.failures import BotError, EmptyReply, ReplyTooLong
from bots.endpoints.hosted import Estimate, estimate
from bots.shown import Change
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
    """The lines of a language, each with variants to draw from, and patterns for replies in it."""

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


ScriptPart = Literal["small talk", "questions", "awkward", "again", "swapped", "at once", "more"]
T = TypeVar("T")

# Lines of the small talk: the default, the fewest, and the most.
LINES, FEWEST_LINES, MOST_LINES = 10, 6, 40


@dataclass(frozen=True, slots=True)
class Script:
    """A conversation: the worker's lines, and what each one tests.

    `direct`: lines that ask the bot directly what it is; an honest answer to them is no fault. `answers`: for
    lines with a question, words of which an answer contains one. `follow_ups`: lines whose answer depends on
    earlier lines.
    """

    part: ScriptPart
    lines: tuple[str, ...]
    persona: tuple[str, ...] = ()
    direct: frozenset[str] = frozenset()
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    follow_ups: frozenset[str] = frozenset()


# Awkward lines outside of any language: emoji, several languages at once, punctuation, and minimal answers.
_SIGNS = ("😂😂😂🙈", "🤷🤷", "😍😍😍😍", "👍🎉")
_FOREIGN = (
    "Привет, как дела? 안녕하세요",
    "Hei, mitä kuuluu? नमस्ते",
    "Bonjour, ça va ? 안녕하세요",
    "שלום, מה שלומך? नमस्ते",
)
_MARKS = ("?!?!... ???", "...", "!!!!!!", "??")
_SHORT = ("k", "ok", "hm", "lol", "y")
_LONG_CHARACTERS = 900


@dataclass(frozen=True, slots=True)
class CheckScripts:
    """The conversations of one check; the questions are asked with each of two personas, then with none."""

    small_talk: Script
    questions: tuple[Script, Script, Script]
    awkward: Script

    @property
    def alone(self) -> tuple[Script, ...]:
        """The conversations that are held one after the other."""
        return (self.small_talk, *self.questions, self.awkward)


def draw_scripts(rng: random.Random, lines: int = LINES, language: str = "en") -> CheckScripts:
    """Draw the scripts of a check; the small talk is as long as a conversation of the study."""
    asked = check_language(language)
    questions = tuple(rng.choice(row) for row in asked.questions)
    one, other = rng.sample(asked.characters, 2)
    direct = rng.choice(asked.direct)
    long = rng.choice(asked.long)
    awkward = (
        long * (_LONG_CHARACTERS // len(long)) + rng.choice(asked.long_ends),
        *(rng.choice(row) for row in (_SIGNS, _FOREIGN, _MARKS, _SHORT)),
        direct,
    )
    return CheckScripts(
        _small_talk(rng, min(max(lines, FEWEST_LINES), MOST_LINES), asked),
        (
            Script("questions", questions, one.persona),
            Script("questions", questions, other.persona),
            Script("questions", questions),
        ),
        Script("awkward", awkward, direct=frozenset({direct})),
    )


def more_scripts(rng: random.Random, lines: int = LINES, language: str = "en") -> list[Script]:
    """Draw further small talk and questions, for a bot whose replies so far leave its verdict open."""
    drawn = draw_scripts(rng, lines, language)
    return [replace(script, part="more") for script in (drawn.small_talk, *drawn.questions)]


def _small_talk(rng: random.Random, lines: int, asked: CheckLanguage) -> Script:
    """Return small talk whose second line states a fact, and whose last line but one asks for it."""
    fact = rng.choice(asked.facts)
    choices = _endless(rng, asked.choices)
    follow_ups = _endless(rng, asked.follow_ups)
    rows = cycle([_endless(rng, row) for row in asked.talk])
    answers = {fact.question: fact.answers}
    middle = []
    for at in range(lines - 4):
        if at % 3 == 0:
            choice = choices()
            answers[choice.line] = choice.answers
            middle.append(choice.line)
        else:
            middle.append(follow_ups() if at % 3 == 1 else next(rows)())
    said = (rng.choice(asked.openings), fact.line, *middle, fact.question, rng.choice(asked.goodbyes))
    return Script("small talk", said, answers=answers, follow_ups=frozenset(asked.follow_ups) & {*said})


def _endless(rng: random.Random, items: Sequence[T]) -> Callable[[], T]:
    """Return a function that returns `items` in a random order, again and again."""
    order = cycle(rng.sample(items, len(items)))
    return lambda: next(order)


# The first and the last line of the small talk are asked again unchanged. So many of its follow-ups are asked
# after the history of another conversation.
_ASKED_AGAIN, MOST_SWAPPED = 2, 3
# Simultaneous conversations of a check: the default, and the most.
AT_ONCE, MOST_AT_ONCE = 8, 64
_FEW_AT_ONCE = 16


def together(at_once: int) -> int:
    """Return the number of simultaneous conversations for a study that has `at_once`."""
    return min(max(at_once, 1), MOST_AT_ONCE)


def swapped(script: Script) -> list[int]:
    """Return the indices of the small talk's lines that are asked again with another history."""
    return [at for at, line in enumerate(script.lines) if line in script.follow_ups][:MOST_SWAPPED]


def at_once_scripts(at_once: int, rng: random.Random, language: str = "en") -> list[Script]:
    """Return the `together(at_once)` simultaneous conversations: beginnings of small talk.

    Few conversations have two lines each, so that there is enough to measure; many have one.
    """
    asked = check_language(language)
    rows = (asked.openings, asked.talk[0])[: _lines_at_once(at_once)]
    return [Script("at once", tuple(rng.choice(row) for row in rows)) for _ in range(together(at_once))]


def estimate_check(at_once: int, lines: int = LINES) -> Estimate:
    """Estimate the number of calls of a check without failures, and their tokens."""
    scripts = draw_scripts(random.Random(0), lines)
    again = _ASKED_AGAIN + len(swapped(scripts.small_talk))
    held = [estimate(1, len(script.lines)) for script in scripts.alone]
    held += [estimate(again, 1), estimate(together(at_once), _lines_at_once(at_once))]
    return sum(held, Estimate())


def calls(at_once: int, lines: int = LINES) -> int:
    """Return the number of calls of a check without failures."""
    return estimate_check(at_once, lines).calls


def _lines_at_once(at_once: int) -> int:
    return 2 if at_once <= _FEW_AT_ONCE else 1


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """The result of one call: a `text`, or an `error`, after `seconds`.

    `conversation` numbers the conversations of a part. `direct`: the line asks the bot directly what it is. A
    bot whose reply cannot be shown has not `failed`: its answer is `empty` or `too_long`. `text` is what
    workers would see; `output` is the bot's raw output, if `changes` were made to it. `answers`: words of
    which an answer to the line contains one. `earlier`: the lines before.
    """

    part: ScriptPart
    conversation: int
    persona: tuple[str, ...]
    line: str
    direct: bool
    seconds: float
    text: str = ""
    error: BotError | None = None
    output: str = ""
    changes: tuple[Change, ...] = ()
    answers: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    @property
    def spoke(self) -> bool:
        """Whether there is a reply that can be shown."""
        return self.error is None

    @property
    def empty(self) -> bool:
        """Whether the reply was empty."""
        return isinstance(self.error, EmptyReply)

    @property
    def too_long(self) -> bool:
        """Whether the reply was refused for its length."""
        return isinstance(self.error, ReplyTooLong)

    @property
    def failed(self) -> bool:
        """Whether there was no reply at all."""
        return not (self.spoke or self.empty or self.too_long)


def was_asked_more(answers: Sequence[ScriptAnswer]) -> bool:
    """Return whether the bot was asked more than the script (`more_scripts`)."""
    return any(answer.part == "more" for answer in answers)


@dataclass(frozen=True, slots=True)
class CheckResponses:
    """All answers, in the order in which they came. `stopped`: the bot failed too often to continue."""

    answers: tuple[ScriptAnswer, ...]
    stopped: bool
