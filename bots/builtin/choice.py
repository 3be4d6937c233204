"""Choosing what to say: the best-rated line that has not been said yet."""

import random
from collections.abc import Iterable, Sequence

import numpy as np

from bots.builtin.said import said_in
from bots.builtin.terms import Vector
from bots.core.chat import Chat

_SHORTLIST = 60


def freshest(lines: Iterable[str], chat: Chat) -> str:
    """Return the first of `lines` that does not repeat the conversation, else the one that does so least."""
    best, least = "", float("inf")
    said = said_in(chat)
    for line in lines:
        stale = said.staleness(line)
        if stale < 1:
            return line
        if stale < least:
            best, least = line, stale
    return best


def ranked(lines: Sequence[str], scores: Vector, chat: Chat, warmth: float) -> list[str]:
    """Return the best of `lines`, best first, after a little seeded chance.

    `warmth` is the scale of Gumbel noise added to the best scores: the larger, the more two
    conversations that begin alike go different ways. Scores are rounded first, so that the last bit of
    a sum cannot decide.
    """
    exact = np.round(scores, 9)
    count = min(_SHORTLIST, exact.size)
    best = np.sort(np.argpartition(-exact, count - 1)[:count])
    rng = np.random.default_rng(random.Random(f"choice {chat.seed} {chat.replies_given()}").getrandbits(64))
    order = np.argsort(-(exact[best] + rng.gumbel(scale=warmth, size=count)), kind="stable")
    return [lines[at] for at in best[order]]
