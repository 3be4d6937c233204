"""Choosing what to say: the best-rated line that has not been said yet."""

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from bots.builtin.terms import Vector
from bots.core.chat import Chat
from bots.core.words import LINES, sentences, stems

_SHORTLIST = 60
_TOO_LIKE_OWN = 0.5
_TOO_LIKE_WORKERS = 0.75
_MOST_SENTENCES = 12  # of a line; who writes more of them than that is compared as a whole

# The stems of each sentence that was said, with the likeness at which another one repeats it.
SaidParts = dict[frozenset[str], float]


def said_parts(chat: Chat) -> SaidParts:
    """Return what was said in `chat`, by sentences, for `staleness`. To be computed once for each reply."""
    parts: SaidParts = {}
    for turn in chat.turns:
        limit = _TOO_LIKE_OWN if turn.author == "bot" else _TOO_LIKE_WORKERS
        for part in _parts(turn.text):
            parts[part] = min(limit, parts.get(part, limit))
    return parts


def staleness(line: str, said: SaidParts) -> float:
    """Return how much `line` repeats what was `said`: 0 not at all, 1 or more too much to be said.

    A line repeats another if any sentence of theirs is alike, so that two old halves make no new whole.
    Its cost grows with the conversation, by about a microsecond for each line of it.
    """
    worst = 0.0
    for mine in _parts(line):
        size = len(mine)
        for part, limit in said.items():
            shared = len(mine & part)
            if shared:
                worst = max(worst, shared / (size + len(part) - shared) / limit)
    return worst


@lru_cache(maxsize=LINES)
def _parts(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of `text` as a whole and of each of its first sentences."""
    return tuple({frozenset(stems(part)): None for part in (text, *sentences(text)[:_MOST_SENTENCES])})


def freshest(lines: Iterable[str], chat: Chat) -> str:
    """Return the first of `lines` that does not repeat the conversation, else the one that does so least."""
    best, least = "", float("inf")
    said = said_parts(chat)
    for line in lines:
        stale = staleness(line, said)
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
