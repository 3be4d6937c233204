"""Choose the best candidate that the conversation has not had yet, at a nearly constant cost."""

import math
import random
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from bots.builtin.terms import Vector
from bots.core.chat import Chat, Turn
from bots.core.words import LINES, sentences, stems

_TOO_LIKE_OWN = 0.5
_TOO_LIKE_WORKERS = 0.75
_MOST_SENTENCES = 12  # of a line; who writes more of them than that is compared as a whole
_CONVERSATIONS = 256  # that a thread keeps an index of

Part = frozenset[str]  # the stems of a line or of a sentence of it


class Said:
    """The parts of some turns, found by their words."""

    def __init__(self) -> None:
        self.turns: tuple[Turn, ...] = ()
        self._limits: dict[Part, float] = {}  # the likeness at which another part repeats it
        self._having: dict[str, list[Part]] = {}

    def hear(self, turns: tuple[Turn, ...]) -> None:
        """Take up `turns`, of which those heard so far are the first."""
        for turn in turns[len(self.turns) :]:
            limit = _TOO_LIKE_OWN if turn.author == "bot" else _TOO_LIKE_WORKERS
            for part in parts(turn.text):
                if part not in self._limits:
                    for stem in part:
                        self._having.setdefault(stem, []).append(part)
                self._limits[part] = min(limit, self._limits.get(part, limit))
        self.turns = turns

    def staleness(self, line: str) -> float:
        """Return how much `line` repeats what was said: 0 not at all, 1 or more too much to be said.

        A line repeats another if any sentence of theirs is alike, so that two old halves make no new whole.
        Below `_TOO_LIKE_OWN` likenesses may be missed, and from 1 on nothing worse is looked for.
        """
        worst = 0.0
        for part in parts(line):
            worst = max(worst, self._repeated(part))
            if worst >= 1:
                break
        return worst

    def _repeated(self, mine: Part) -> float:
        """Return how much one part repeats what was said.

        A part at least t like it (Jaccard) shares t of its n words, so it has one of any n - tn + 1 of them
        (prefix filtering: Chaudhuri, Ganti & Kaushik, 2006). The rarest are looked up.
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
    """The conversations that a thread has heard of late. Shared, one would change while another reads it."""

    def __init__(self) -> None:
        self.by_id: OrderedDict[str, Said] = OrderedDict()


_kept = _Kept()


def said_in(chat: Chat) -> Said:
    """Return what was said in `chat`; only what is new since the last call is taken up.

    Nothing depends on what is kept: a conversation that is unknown, or went on otherwise, is heard anew.
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
