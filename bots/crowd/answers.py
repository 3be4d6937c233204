"""Answers of simulated workers to a study's questions, by the kind of answer."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never

# The kinds of the protocol; a test compares them with the server's.
AnswerKind = Literal["slider", "likert", "choice", "choices", "number", "text"]
Answer = str | float | list[str]
_COMMENTS = ("It went well.", "Nothing to add.", "A little slow at times.", "Hard to say.")
_SKIPPED = 0.3  # of the questions that may be left without an answer
_SPREAD = 100.0  # of numbers, where no bound says how large they may be


def draw_answers(asked: Sequence[Mapping[str, Any]], rng: random.Random) -> dict[str, Answer]:
    """Return an answer to each required question, and to most of the others, by their labels.

    Args:
        asked: the questions as the server sends them.
        rng: draws the answers.
    """
    answered = [question for question in asked if question["required"] or rng.random() >= _SKIPPED]
    return {question["label"]: _draw(question["kind"], question, rng) for question in answered}


def is_scored(kind: AnswerKind) -> bool:
    """Return whether answers are numbers on a scale, so that a criterion of this kind is rated."""
    match kind:
        case "slider" | "likert":
            return True
        case "choice" | "choices" | "number" | "text":
            return False
        case _:
            assert_never(kind)


def nearest_point(rating: int, points: int) -> int:
    """Return the point of a Likert scale, from 1, that lies nearest to a rating from 0 to 100."""
    return 1 + round(rating * (points - 1) / 100)


def _draw(kind: AnswerKind, question: Mapping[str, Any], rng: random.Random) -> Answer:
    match kind:
        case "choice":
            return str(rng.choice(question["choices"]))
        case "choices":
            number = rng.randint(1, len(question["choices"]))
            return [str(choice) for choice in rng.sample(question["choices"], number)]
        case "likert":
            return rng.randint(1, question["points"])
        case "number":
            return _number(question["least"], question["most"], rng)
        case "slider":
            return rng.randint(0, 100)
        case "text":
            return rng.choice(_COMMENTS)
        case _:
            assert_never(kind)


def _number(least: float | None, most: float | None, rng: random.Random) -> float:
    low = least if least is not None else (0.0 if most is None else most - _SPREAD)
    high = most if most is not None else low + _SPREAD
    number = float(round(rng.uniform(low, high)))
    return min(max(number, low), high)
