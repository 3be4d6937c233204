"""Choosing what to say: the best-rated line that has not been said yet."""

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from bots.builtin.terms import Vector
from bots.core.chat import Chat
from bots.core.words import sentences, stems

_SHORTLIST = 60
_TOO_LIKE_OWN = 0.5
_TOO_LIKE_WORKERS = 0.75


def staleness(line: str, chat: Chat) -> float:
    """Return how much `line` repeats the conversation: 0 not at all, 1 or more too much to be said.

    A line repeats another if any sentence of theirs is alike, so that two old halves make no new whole.
    """
    worst = 0.0
    for turn in chat.turns:
        limit = _TOO_LIKE_OWN if turn.author == "bot" else _TOO_LIKE_WORKERS
        likest = max(_overlap(mine, said) for mine in _parts(line) for said in _parts(turn.text))
        worst = max(worst, likest / limit)
    return worst


@lru_cache(maxsize=8192)
def _parts(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of `text` as a whole and of each of its sentences."""
    return tuple({frozenset(stems(part)): None for part in (text, *sentences(text))})


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def freshest(lines: Iterable[str], chat: Chat) -> str:
    """Return the first of `lines` that does not repeat the conversation, else the one that does so least."""
    best, least = "", float("inf")
    for line in lines:
        stale = staleness(line, chat)
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
