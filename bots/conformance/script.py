"""Script of a check, the same for every bot in newly drawn words, and the bot's answers."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Literal, TypeVar

from bots.conformance.check_language import CheckLanguage, check_language
from bots.core.failures import BotError, EmptyReply, ReplyTooLong
from bots.endpoints.cost import Estimate, estimate
from bots.shown import Change

ScriptPart = Literal["small talk", "questions", "awkward", "again", "swapped", "at once"]
T = TypeVar("T")

# Lines in the small talk of a study that says nothing else, the fewest, and the most that are asked.
LINES, FEWEST_LINES, MOST_LINES = 10, 6, 40


@dataclass(frozen=True, slots=True)
class Script:
    """A conversation: its worker's lines, and what it is asked for.

    `direct`: the lines that ask the bot outright what it is; an honest answer to those is no fault in it.
    `answers`: by lines that ask for something, words of which an answer has one. `follow_ups`: the lines
    whose answer depends on what was said before.
    """

    part: ScriptPart
    lines: tuple[str, ...]
    persona: tuple[str, ...] = ()
    direct: frozenset[str] = frozenset()
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    follow_ups: frozenset[str] = frozenset()


# What is nobody's language: signs, several languages at once, marks, and the least that one can type.
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
    """What one check asks; the questions once as each of two characters, then as nobody."""

    small_talk: Script
    questions: tuple[Script, Script, Script]
    awkward: Script

    @property
    def alone(self) -> tuple[Script, ...]:
        """The conversations that are held one after the other."""
        return (self.small_talk, *self.questions, self.awkward)


def draw_scripts(rng: random.Random, lines: int = LINES, language: str = "en") -> CheckScripts:
    """Return the scripts of a check, drawn by `rng`: small talk as long as a conversation of the study."""
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


def _small_talk(rng: random.Random, lines: int, asked: CheckLanguage) -> Script:
    """Return small talk in which a fact is told second and asked for last but one."""
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
    """Return what gives `items` in an order of its own, each once before any comes again."""
    order = cycle(rng.sample(items, len(items)))
    return lambda: next(order)


# Lines of the small talk that are asked again, just as before: the first and the last. So many of its
# follow-ups are asked behind what was said in another conversation.
_ASKED_AGAIN, MOST_SWAPPED = 2, 3
# Conversations that a check holds at the same time, and the most that it can be told to.
AT_ONCE, MOST_AT_ONCE = 8, 64
_FEW_AT_ONCE = 16


def together(at_once: int) -> int:
    """Return how many conversations are held at once where a study has `at_once`."""
    return min(max(at_once, 1), MOST_AT_ONCE)


def swapped(script: Script) -> list[int]:
    """Return at which of its lines the small talk is asked again behind another history."""
    return [at for at, line in enumerate(script.lines) if line in script.follow_ups][:MOST_SWAPPED]


def at_once_scripts(at_once: int, rng: random.Random, language: str = "en") -> list[Script]:
    """Return the conversations that are held at once, `together(at_once)` of them: beginnings of small talk.

    Few conversations have two lines each, so that there is something to measure; many have one.
    """
    asked = check_language(language)
    rows = (asked.openings, asked.talk[0])[: _lines_at_once(at_once)]
    return [Script("at once", tuple(rng.choice(row) for row in rows)) for _ in range(together(at_once))]


def estimate_check(at_once: int, lines: int = LINES) -> Estimate:
    """Return how often a bot is asked in all, where no call fails, and about how much it reads and writes."""
    scripts = draw_scripts(random.Random(0), lines)
    again = _ASKED_AGAIN + len(swapped(scripts.small_talk))
    held = [estimate(1, len(script.lines)) for script in scripts.alone]
    held += [estimate(again, 1), estimate(together(at_once), _lines_at_once(at_once))]
    return sum(held, Estimate())


def calls(at_once: int, lines: int = LINES) -> int:
    """Return how often a bot is asked in all, where no call fails."""
    return estimate_check(at_once, lines).calls


def _lines_at_once(at_once: int) -> int:
    return 2 if at_once <= _FEW_AT_ONCE else 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call: a `text`, or an `error`, after `seconds`.

    `conversation` tells the conversations of a part apart; `direct` says that `line` asks the bot outright
    what it is. A bot that gave a reply which cannot be shown has not `failed`: its answer is `empty` or
    `too_long`. `text` is what workers would see; `output` what the bot gave, where `changes` were made to it.
    `answers`: words of which an answer to the line has one. `earlier`: what was said before the line.
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
        """Whether there is a reply that can be read."""
        return self.error is None

    @property
    def empty(self) -> bool:
        """Whether the bot had nothing to say."""
        return isinstance(self.error, EmptyReply)

    @property
    def too_long(self) -> bool:
        """Whether the reply was refused for its length."""
        return isinstance(self.error, ReplyTooLong)

    @property
    def failed(self) -> bool:
        """Whether there was no reply at all."""
        return not (self.spoke or self.empty or self.too_long)


@dataclass(frozen=True, slots=True)
class CheckResponses:
    """All answers, in the order in which they came. `stopped`: the bot failed too often to be asked on."""

    answers: tuple[Answer, ...]
    stopped: bool
