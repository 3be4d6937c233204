"""A trigram model with interpolated Kneser-Ney smoothing (Kneser & Ney, 1995; Chen & Goodman, 1999)."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bots.builtin.terms import Vector

_TOKEN = re.compile(r"[ap]\.m\.|[^\W_]+(?:['’-][^\W_]+)*|[.,;:!?…]+")
MARK = re.compile(r"[.,;:!?…]+")  # any mark
STOP = re.compile(r"[.!?…]+")  # a mark that ends a sentence
START, END = "<start>", "<end>"


def tokens(text: str) -> list[str]:
    """Return the words and marks of `text`, as written."""
    return _TOKEN.findall(text)


@dataclass(frozen=True, slots=True)
class _Order:
    """What follows each history: which words with what discounted probability, and the mass left over."""

    words: NDArray[np.intp]
    probabilities: Vector
    rows: dict[int, tuple[int, int, float]]  # history: start, end, mass left

    def onto(self, shorter: Vector, history: int) -> Vector:
        """Return the distribution after `history`, its left-over mass spread as `shorter` says."""
        row = self.rows.get(history)
        if row is None:
            return shorter
        start, end, left = row
        found = left * shorter
        found[self.words[start:end]] += self.probabilities[start:end]
        return found


class LanguageModel:
    """P(token | the two tokens before), over the tokens of some lines.

    Words are told apart without regard to case; each is written as it most often is inside a
    sentence. Where a history is unknown the shorter one decides, so every known word has a probability.
    """

    def __init__(self, lines: Iterable[Sequence[str]]) -> None:
        """Count `lines`, each of which opens with a symbol for its kind (such as "<tells>")."""
        kept = [tuple(line) for line in lines]
        spelling = _spelling(kept)
        self.words = (START, END, *spelling.values())
        self.index = {START: 0, END: 1} | {word: at for at, word in enumerate(spelling, start=2)}
        coded = [self.encode(line) for line in kept]
        triples = Counter(triple for line in coded for triple in zip(line, line[1:], line[2:], strict=False))
        self._size = len(self.words)
        # Shorter histories count after how many words a word comes, not how often (Kneser & Ney, 1995).
        pairs = Counter((second, third) for _, second, third in triples)
        self._triples = _order({(a * self._size + b, c): n for (a, b, c), n in triples.items()})
        self._pairs = _order(pairs)
        single = np.bincount([third for _, third in pairs], minlength=self._size).astype(np.float64)
        single[2:] += 1.0  # add-one: words that only ever open a line exist too
        self._single: Vector = single / single.sum()
        self.spoken = np.array(
            [not word.startswith("<") or word == END for word in self.words], dtype=np.float64
        )

    def encode(self, line: Sequence[str]) -> list[int]:
        """Return the numbers of a line's tokens between start and end, without those that are unknown."""
        known = [self.index[token.lower()] for token in line if token.lower() in self.index]
        return [self.index[START], *known, self.index[END]]

    def after(self, first: int, second: int) -> Vector:
        """Return the probability of every token after two."""
        return self._triples.onto(self._pairs.onto(self._single, second), first * self._size + second)

    def followers(self, token: int) -> NDArray[np.intp]:
        """Return the tokens that have been seen right after `token`."""
        start, end, _ = self._pairs.rows.get(token, (0, 0, 1.0))
        return self._pairs.words[start:end]


def _order(counts: "dict[tuple[int, int], int] | Counter[tuple[int, int]]") -> _Order:
    """Return one order of the model; its discount is n1 / (n1 + 2 n2) (Ney, Essen & Kneser, 1994)."""
    keys = np.array(list(counts), dtype=np.intp)
    values = np.array(list(counts.values()), dtype=np.float64)
    once, twice = float((values == 1).sum()), float((values == 2).sum())
    discount = min(max(once / (once + 2 * twice or 1.0), 0.1), 0.9)
    sequence = np.lexsort((keys[:, 1], keys[:, 0]))
    histories, words, values = keys[sequence, 0], keys[sequence, 1], values[sequence]
    distinct, starts = np.unique(histories, return_index=True)
    ends = np.append(starts[1:], len(histories))
    totals = np.add.reduceat(values, starts)
    probabilities = (values - discount) / np.repeat(totals, ends - starts)
    left = discount * (ends - starts) / totals
    rows = zip(starts.tolist(), ends.tolist(), left.tolist(), strict=True)
    return _Order(words, probabilities, dict(zip(distinct.tolist(), rows, strict=True)))


def _spelling(lines: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return how each word is written where no sentence begins, by its lower-case form."""
    seen: dict[str, Counter[str]] = {}
    for line in lines:
        for before, token in zip(("", *line), line, strict=False):
            inside = not (before.startswith("<") or STOP.fullmatch(before))
            form, weight = (token, 100) if inside else (token.lower(), 1)
            seen.setdefault(token.lower(), Counter())[form] += weight
    return {word: forms.most_common(1)[0][0] for word, forms in seen.items()}
