"""Choose the best candidate that does not repeat the conversation, at a nearly constant cost."""

import math
import random
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from bots.builtin.parts.terms import Vector
from bots.core.chat import Chat, Turn
from bots.core.words import LINES, sentences, stems

_TOO_LIKE_OWN = 0.5
_TOO_LIKE_WORKERS = 0.75
_MOST_SENTENCES = 12  # sentences of a line that are compared separately
_CONVERSATIONS = 256  # whose index a thread keeps

Part = frozenset[str]  # the stems of a line or of a sentence of it


class Said:
    """The parts of some turns, found by their words."""

    def __init__(self) -> None:
        self.turns: tuple[Turn, ...] = ()
        self._limits: dict[Part, float] = {}  # the likeness at which another part repeats it
        self._having: dict[str, list[Part]] = {}

    def hear(self, turns: tuple[Turn, ...]) -> None:
        """Add the new ones of `turns`, which begin with the turns added so far."""
        for turn in turns[len(self.turns) :]:
            limit = _TOO_LIKE_OWN if turn.author == "bot" else _TOO_LIKE_WORKERS
            for part in parts(turn.text):
                if part not in self._limits:
                    for stem in part:
                        self._having.setdefault(stem, []).append(part)
                self._limits[part] = min(limit, self._limits.get(part, limit))
        self.turns = turns

    def staleness(self, line: str) -> float:
        """Return how much `line` repeats earlier lines: 0 not at all, 1 or more too much to be used.

        A line repeats another if any of their sentences are alike, so that two old halves make no new line.
        Similarities below `_TOO_LIKE_OWN` may be missed, and the search stops at 1.
        """
        worst = 0.0
        for part in parts(line):
            worst = max(worst, self._repeated(part))
            if worst >= 1:
                break
        return worst

    def _repeated(self, mine: Part) -> float:
        """Return how much one part repeats earlier lines.

        A part with a similarity of at least t (Jaccard) shares t of its n words, so it contains one of any n
        - tn + 1 of them (prefix filtering: Chaudhuri, Ganti & Kaushik, 2006). The rarest are looked up.
        """
        rarest = sorted(mine, key=lambda stem: len(self._having.get(stem, ())))
        size, worst = len(mine), 0.0
        for stem in rarest[: size - math.ceil(_TOO_LIKE_OWN * size) + 1]:
            for other in self._having.get(stem, ()):
                if _TOO_LIKE_OWN * size <= len(other) <= size / _TOO_LIKE_OWN:
                    shared = len(mine & other)
                    likeness = shared / (size + len(other) - shared) / self._limits[other]
                    if likeness >= 1:
                        return likeness
                    worst = max(worst, likeness)
        return worst


class _Kept(threading.local):
    """The latest conversations of a thread. If shared, one could change while another thread reads it."""

    def __init__(self) -> None:
        self.by_id: OrderedDict[str, Said] = OrderedDict()


_kept = _Kept()


def said_in(chat: Chat) -> Said:
    """Return an index of the lines in `chat`; only lines since the last call are added.

    The cache has no effect on the result: a conversation that is unknown, or has a different history, is
    indexed again.
    """
    said = _kept.by_id.pop(chat.conversation_id, None)
    if said is None or chat.turns[: len(said.turns)] != said.turns:
        said = Said()
    said.hear(chat.turns)
    _kept.by_id[chat.conversation_id] = said
    if len(_kept.by_id) > _CONVERSATIONS:
        _kept.by_id.popitem(last=False)
    return said


@lru_cache(maxsize=LINES)
def parts(text: str) -> tuple[Part, ...]:
    """Return the stems of `text` as a whole and of each of its first sentences."""
    return tuple({frozenset(stems(part)): None for part in (text, *sentences(text)[:_MOST_SENTENCES])})


_SHORTLIST = 60


def freshest(lines: Iterable[str], chat: Chat) -> str:
    """Return the first of `lines` that does not repeat the conversation, else the least repetitive one."""
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
    """Return the best of `lines`, best first, after adding a little seeded noise.

    `warmth` is the scale of the Gumbel noise that is added to the best scores: the larger it is, the more
    conversations with the same beginning diverge. Scores are rounded first, so that the last bit of a sum
    cannot decide.
    """
    exact = np.round(scores, 9)
    count = min(_SHORTLIST, exact.size)
    best = np.sort(np.argpartition(-exact, count - 1)[:count])
    rng = np.random.default_rng(random.Random(f"choice {chat.seed} {chat.replies_given()}").getrandbits(64))
    order = np.argsort(-(exact[best] + rng.gumbel(scale=warmth, size=count)), kind="stable")
    return [lines[at] for at in best[order]]
