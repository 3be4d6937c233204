"""Bots that can say how well each of several lines would do as their next reply."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bots.core.chat import Bot, Chat
from bots.core.words import content, overlap


@runtime_checkable
class Ranker(Bot, Protocol):
    """A bot that rates lines it did not write, by the measure it chooses its own replies with."""

    def scores(self, chat: Chat, candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return one number per candidate for the next line of `chat`; more is better."""
        ...


def likeness(reply: str, candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return how like `reply` each candidate is: words that carry meaning first, then all words."""
    wanted = set(content(reply))
    shared = [
        len(wanted & set(content(line))) / (len(wanted | set(content(line))) or 1) for line in candidates
    ]
    return np.array(shared) + 0.1 * np.array([overlap(reply, line) for line in candidates])
