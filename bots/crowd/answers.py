"""Answers of simulated workers to a study's own questions: any valid one. Pure."""

import random
from collections.abc import Sequence

from bots.crowd.view import Message

_COMMENTS = ("It went well.", "Nothing to add.", "A little slow at times.", "Hard to say.")
_SKIPPED = 0.3  # of the questions that may be left without an answer
_SPREAD = 100.0  # of numbers, where no bound says how large they may be


def draw_answers(asked: Sequence[Message], rng: random.Random) -> Message:
    """Return an answer to each question that needs one, and to most of the others, by their labels."""
    answered = [question for question in asked if question["required"] or rng.random() >= _SKIPPED]
    return {question["label"]: _draw(question, rng) for question in answered}


def nearest_point(rating: int, points: int) -> int:
    """Return the point of a Likert scale, from 1, that lies nearest to a rating from 0 to 100."""
    return 1 + round(rating * (points - 1) / 100)


def _draw(question: Message, rng: random.Random) -> str | float | list[str]:
    match question["kind"]:
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
    return rng.choice(_COMMENTS)


def _number(least: float | None, most: float | None, rng: random.Random) -> float:
    low = least if least is not None else (0.0 if most is None else most - _SPREAD)
    high = most if most is not None else low + _SPREAD
    number = float(round(rng.uniform(low, high)))
    return min(max(number, low), high)
