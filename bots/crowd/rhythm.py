"""Typing times of simulated workers, and the writing record that a page would send. Pure."""

import math
import random

from bots.crowd.talk import Manner

# 51.6 words of five characters a minute, with a standard deviation of 20.2 over people: Dhakal et al. (2018),
# Observations on typing from 136 million keystrokes, of 168,000 volunteers.
CHARACTERS_PER_SECOND = 51.6 * 5 / 60
SPREAD = math.sqrt(math.log(1 + (20.2 / 51.6) ** 2))  # of the logarithm
# Ours, not measured: who pastes takes as long for every line, and who is careless reads nothing.
THINKING, PASTING = 2.0, 4.0  # seconds
SLIPS, LOOKS_AWAY = 0.04, 0.05  # of characters, of lines
_TOLD = ("typed", "composed", "pasted", "pastes", "writing_ms", "longest_pause_ms", "away", "away_ms")


def seconds_to_write(text: str, manner: Manner, rng: random.Random) -> float:
    """Return how long the worker takes until `text` is sent; much the same for any line that is pasted."""
    if manner == "disguised":
        return PASTING * rng.uniform(0.95, 1.05)
    typing = len(text) / CHARACTERS_PER_SECOND * rng.lognormvariate(0.0, SPREAD)
    return typing if manner == "careless" else THINKING * rng.lognormvariate(0.0, SPREAD) + typing


def writing_of(text: str, seconds: float, manner: Manner, rng: random.Random) -> dict[str, int]:
    """Return how `text` was written in so many seconds, as a worker's page tells it.

    Who hides a language model pastes its lines, and is elsewhere meanwhile. All others type, take out what
    they have mistyped, and look away now and then: how often is ours, not measured.
    """
    took = round(1_000 * seconds)
    told = dict.fromkeys(_TOLD, 0)
    if manner == "disguised":
        return told | {"pasted": len(text), "pastes": 1, "away": 1, "away_ms": took}
    slips = sum(rng.random() < SLIPS for _ in text)
    pause = round(took * rng.uniform(0.1, 0.5))
    away = int(rng.random() < LOOKS_AWAY)
    return told | {
        "typed": len(text) + slips,
        "writing_ms": took,
        "longest_pause_ms": pause,
        "away": away,
        "away_ms": away * pause,
    }
