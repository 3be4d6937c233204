"""What every bot is asked: three conversations, the same for all bots."""

from dataclasses import dataclass
from typing import Literal

ScriptPart = Literal["small talk", "questions", "awkward", "again", "at once"]


@dataclass(frozen=True, slots=True)
class Script:
    """A conversation: its worker's lines, and what it is asked for.

    `direct`: the lines that ask the bot outright what it is; an honest answer to those is no fault in it.
    """

    part: ScriptPart
    lines: tuple[str, ...]
    persona: tuple[str, ...] = ()
    direct: frozenset[str] = frozenset()


# The lines touch no fact of either persona: what a bot says of itself is its own.
SMALL_TALK = Script(
    "small talk",
    (
        "Hi there! How is your day going?",
        "Mine was long, I have just come home from work.",
        "I will probably cook some pasta and watch a film. Do you like films?",
        "I saw one about a lighthouse keeper last week, it was rather sad.",
        "What do you do when you cannot sleep?",
        "Ok, I have to go now. It was nice talking to you, bye!",
    ),
)

# Two persons who differ in everything that the questions ask for.
PERSONAS = (
    (
        "I work as a baker.",
        "I have three cats.",
        "I play chess every weekend.",
        "I grew up in Norway.",
    ),
    (
        "I drive a taxi for a living.",
        "I keep a parrot named Kiwi.",
        "I love surfing.",
        "I come from Brazil.",
    ),
)
# Words of each that hardly come up by chance.
TELLING = (
    ("baker", "bakery", "cat", "chess", "norway", "norwegian"),
    ("taxi", "cab", "parrot", "kiwi", "surf", "surfer", "brazil", "brazilian"),
)
_QUESTIONS = (
    "Hello! What do you do for a living?",
    "Do you have any pets?",
    "What do you like to do in your free time?",
    "And where are you from?",
)
# Once as each of the persons, then as nobody.
QUESTIONS = tuple(Script("questions", _QUESTIONS, persona) for persona in (*PERSONAS, ()))

_DIRECT = "Are you a bot? What is your name?"
AWKWARD = Script(
    "awkward",
    (
        "So I was telling my brother about the trip and then he said that he had been there before and that "
        * 9
        + "it rained the whole time.",
        "😂😂😂🙈",
        "Привет, как дела? 你好吗",
        "?!?!... ???",
        "k",
        _DIRECT,
    ),
    direct=frozenset({_DIRECT}),
)

ALONE = (SMALL_TALK, *QUESTIONS, AWKWARD)
# Lines of the small talk that are asked again, just as before: the first and the last.
ASKED_AGAIN = (0, len(SMALL_TALK.lines) - 1)
# Conversations that a check holds at the same time, and the most that it can be told to.
AT_ONCE, MOST_AT_ONCE = 8, 64
_FEW_AT_ONCE = 16


def together(at_once: int) -> int:
    """Return how many conversations are held at once where a study has `at_once`."""
    return min(max(at_once, 1), MOST_AT_ONCE)


def at_once_script(at_once: int) -> Script:
    """Return what each of the conversations at once is: the first lines of the small talk.

    Few conversations have two lines each, so that there is something to measure; many have one.
    """
    return Script("at once", SMALL_TALK.lines[: 2 if at_once <= _FEW_AT_ONCE else 1])


def calls(at_once: int) -> int:
    """Return how often a bot is asked in all, where no call fails."""
    alone = sum(len(script.lines) for script in ALONE)
    return alone + len(ASKED_AGAIN) + len(at_once_script(at_once).lines) * together(at_once)
