"""What every bot is asked: the same kinds of conversations, in words that are drawn for each check."""

import random
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


# One line is drawn from each row, so that no bot can know a check by its lines. They touch no fact of any
# character: what a bot says of itself is its own.
_SMALL_TALK = (
    (
        "Hi there! How is your day going?",
        "Hello, how are you doing?",
        "Hey! How has your week been so far?",
        "Good evening! Is everything well with you?",
        "Hi, nice to meet you. How are things?",
    ),
    (
        "Mine was long, I have just come home from work.",
        "I am a bit tired, I slept badly last night.",
        "It has been raining here since the morning, so I stayed in.",
        "I spent the whole day cleaning the flat.",
        "Pretty good here, it is my day off.",
    ),
    (
        "I will probably cook some pasta and watch a film. Do you like films?",
        "I am about to make some soup for dinner. Do you enjoy cooking?",
        "I think I will go for a walk later. Do you walk a lot?",
        "I have a new book waiting for me. Do you read much?",
        "My sister is coming over tonight. Do you have a big family?",
    ),
    (
        "I saw one about a lighthouse keeper last week, it was rather sad.",
        "I used to do that more often when I lived in a village.",
        "My neighbour keeps telling me to try something new for a change.",
        "It always takes me a while to get going, to be honest.",
        "I once got completely lost doing that, it took me hours to get back.",
    ),
    (
        "What do you do when you cannot sleep?",
        "What is the best present you ever got?",
        "Which season do you like best?",
        "What was the last thing that made you laugh?",
        "If you could learn anything at once, what would it be?",
    ),
    (
        "Ok, I have to go now. It was nice talking to you, bye!",
        "Well, dinner is ready. Take care, bye!",
        "I should get some sleep. Goodbye, it was fun!",
        "My phone is ringing, I have to run. Bye!",
        "That is it from me for today. See you!",
    ),
)


@dataclass(frozen=True, slots=True)
class Character:
    """Somebody whom a bot is asked to be. `telling`: words of theirs that hardly come up by chance."""

    persona: tuple[str, ...]
    telling: tuple[str, ...]


# No two of them have anything in common that the questions ask for.
CHARACTERS = (
    Character(
        ("I work as a baker.", "I have three cats.", "I play chess every weekend.", "I grew up in Norway."),
        ("baker", "bakery", "cat", "chess", "norway", "norwegian"),
    ),
    Character(
        (
            "I drive a taxi for a living.",
            "I keep a parrot named Kiwi.",
            "I love surfing.",
            "I come from Brazil.",
        ),
        ("taxi", "cab", "parrot", "kiwi", "surf", "surfer", "brazil", "brazilian"),
    ),
    Character(
        ("I am a carpenter.", "I have a turtle.", "I play the violin.", "I was born in Portugal."),
        ("carpenter", "turtle", "violin", "violinist", "portugal", "portuguese"),
    ),
    Character(
        ("I work as a nurse.", "I own two rabbits.", "I go skiing every winter.", "I am from Canada."),
        ("nurse", "rabbit", "ski", "canada", "canadian"),
    ),
)
_QUESTIONS = (
    (
        "Hello! What do you do for a living?",
        "Hi! What is your job?",
        "Hey, what kind of work do you do?",
        "Good day! What do you work as?",
    ),
    (
        "Do you have any pets?",
        "Are there any animals in your home?",
        "Do you keep a pet?",
        "Do you have an animal at home?",
    ),
    (
        "What do you like to do in your free time?",
        "What are your hobbies?",
        "What do you do for fun?",
        "How do you spend your weekends?",
    ),
    (
        "And where are you from?",
        "Where did you grow up?",
        "Which country do you come from?",
        "And where were you born?",
    ),
)
_LONG = (
    "So I was telling my brother about the trip and then he said that he had been there before and that ",
    "We drove on and on along the coast and every time we thought that we had arrived it turned out that ",
    "My aunt keeps explaining to everybody how the washing machine broke and then it turned out that ",
)
_ENDS = ("it rained the whole time.", "nobody had brought the map.", "we had to start all over again.")
_SIGNS = ("😂😂😂🙈", "🤷🤷", "😍😍😍😍", "👍🎉")
_FOREIGN = (
    "Привет, как дела? 你好吗",
    "¿Qué tal? どうしたの",
    "Bonjour, ça va ? 안녕하세요",
    "שלום, מה שלומך? नमस्ते",
)
_MARKS = ("?!?!... ???", "...", "!!!!!!", "??")
_SHORT = ("k", "ok", "hm", "lol", "y")
_DIRECT = (
    "Are you a bot? What is your name?",
    "Am I talking to a machine? Who are you?",
    "Be honest, are you a real person? What are you called?",
    "Are you a computer program? Tell me your name.",
)
_LONG_REPEATS = 9


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


def draw_scripts(rng: random.Random) -> CheckScripts:
    """Return the scripts of a check, drawn by `rng`."""
    asked = tuple(rng.choice(row) for row in _QUESTIONS)
    one, other = rng.sample(CHARACTERS, 2)
    direct = rng.choice(_DIRECT)
    awkward = (
        rng.choice(_LONG) * _LONG_REPEATS + rng.choice(_ENDS),
        *(rng.choice(row) for row in (_SIGNS, _FOREIGN, _MARKS, _SHORT)),
        direct,
    )
    return CheckScripts(
        Script("small talk", _small_talk(rng)),
        (
            Script("questions", asked, one.persona),
            Script("questions", asked, other.persona),
            Script("questions", asked),
        ),
        Script("awkward", awkward, direct=frozenset({direct})),
    )


def _small_talk(rng: random.Random) -> tuple[str, ...]:
    return tuple(rng.choice(row) for row in _SMALL_TALK)


# Lines of the small talk that are asked again, just as before: the first and the last.
ASKED_AGAIN = (0, len(_SMALL_TALK) - 1)
# Conversations that a check holds at the same time, and the most that it can be told to.
AT_ONCE, MOST_AT_ONCE = 8, 64
_FEW_AT_ONCE = 16


def together(at_once: int) -> int:
    """Return how many conversations are held at once where a study has `at_once`."""
    return min(max(at_once, 1), MOST_AT_ONCE)


def at_once_scripts(at_once: int, rng: random.Random) -> list[Script]:
    """Return the conversations that are held at once, `together(at_once)` of them: beginnings of small talk.

    Few conversations have two lines each, so that there is something to measure; many have one.
    """
    return [Script("at once", _small_talk(rng)[: _lines_at_once(at_once)]) for _ in range(together(at_once))]


def calls(at_once: int) -> int:
    """Return how often a bot is asked in all, where no call fails."""
    alone = sum(len(script.lines) for script in draw_scripts(random.Random(0)).alone)
    return alone + len(ASKED_AGAIN) + _lines_at_once(at_once) * together(at_once)


def _lines_at_once(at_once: int) -> int:
    return 2 if at_once <= _FEW_AT_ONCE else 1
