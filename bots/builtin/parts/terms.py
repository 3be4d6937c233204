"""Texts as weighted vectors of their words and word pairs (tf-idf), their topics, and their latent space."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import threadpoolctl  # type: ignore[import-untyped]
from numpy.typing import NDArray
from scipy import sparse

from bots.core.words import LINES, stem, stems, words


@dataclass(frozen=True, slots=True)
class SmalltalkTopic:
    """A topic: its name, its label in a sentence, its words, the form of its answers, and questions about it.

    `general` are the stems that name the topic as a whole.
    """

    name: str
    label: str
    stems: frozenset[str]
    general: frozenset[str]
    phrases: tuple[str, ...]
    answer: re.Pattern[str] | None
    includes: tuple[str, ...]
    questions: tuple[str, ...]


def _load() -> dict[str, SmalltalkTopic]:
    content = tomllib.loads(resources.files("bots").joinpath("data", "topics.toml").read_text("utf-8"))
    return {
        name: SmalltalkTopic(
            name,
            entry["label"],
            frozenset(stem(word) for word in entry["words"].split()),
            frozenset(stem(word) for word in f"{name} {entry['label']} {entry.get('general', '')}".split()),
            tuple(entry.get("phrases", ())),
            re.compile(entry["answer"]) if "answer" in entry else None,
            tuple(entry.get("includes", ())),
            tuple(entry["ask"]),
        )
        for name, entry in content.items()
    }


TOPICS = MappingProxyType(_load())

_BY_STEM: dict[str, tuple[str, ...]] = {}
for _topic in TOPICS.values():
    for _stem in _topic.stems:
        _BY_STEM[_stem] = (*_BY_STEM.get(_stem, ()), _topic.name)


@lru_cache(maxsize=LINES)
def topics_of(text: str) -> tuple[str, ...]:
    """Return the names of the topics of `text`, the one with the most words first."""
    said = words(text)
    plain = " ".join(said)
    counts = Counter(name for word in said for name in _BY_STEM.get(stem(word), ()))
    for topic in TOPICS.values():
        if any(phrase in plain for phrase in topic.phrases):
            counts[topic.name] += 2
    return tuple(name for name, _ in counts.most_common())


Vector = NDArray[np.float64]
Matrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """Return the stems of `text`, its pairs of neighbouring stems, and its topics."""
    single = stems(text)
    pairs = (f"{left} {right}" for left, right in pairwise(single))
    return (*single, *pairs, *(f"#{topic}" for topic in topics_of(text)))


class TermSpace:
    """Texts as vectors over their terms.

    A term weighs (1 + log tf) * (log((1 + n) / (1 + df)) + 1), the smoothed inverse document frequency of
    Sparck Jones (1972) with dampened counts. Unknown terms have no weight. Rows and vectors are not scaled,
    so that in a sum an informative line outweighs a bare "yes"; `normalised` and `direction` scale to length
    1, after which dot products are cosines.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Learn the terms of `texts` and how rare each is."""
        frequency: Counter[str] = Counter()
        count = 0
        for text in texts:
            frequency.update(list(dict.fromkeys(terms(text))))
            count += 1
        # A pair of words that occurs once can match nothing else.
        kept = [term for term, df in frequency.items() if df > 1 or " " not in term]
        self.index = {term: at for at, term in enumerate(kept)}
        self._idf = np.array([math.log((1 + count) / (1 + frequency[term])) + 1 for term in kept])

    def matrix(self, texts: Sequence[str]) -> Matrix:
        """Return one row per text."""
        return weighted_rows([self._weights(text) for text in texts], len(self.index))

    def vector(self, weighted: Iterable[tuple[float, str]]) -> Vector:
        """Return the weighted sum of texts."""
        total = np.zeros(len(self.index))
        for share, text in weighted:
            for column, weight in self._weights(text):
                total[column] += share * weight
        return total

    def _weights(self, text: str) -> list[tuple[int, float]]:
        counts = Counter(self.index[term] for term in terms(text) if term in self.index)
        return [(column, (1 + math.log(tf)) * float(self._idf[column])) for column, tf in counts.items()]


def weighted_rows(rows: Sequence[Sequence[tuple[int, float]]], width: int) -> Matrix:
    """Return a matrix of `width` columns with these rows of (column, weight); repeated columns add up."""
    columns = np.array([column for row in rows for column, _ in row], dtype=np.intp)
    weights = np.array([weight for row in rows for _, weight in row], dtype=np.float64)
    ends = np.cumsum([0, *map(len, rows)])
    matrix = sparse.csr_array((weights, columns, ends), shape=(len(rows), width))
    matrix.sum_duplicates()
    return matrix


def direction(vector: Vector) -> Vector:
    """Return `vector` scaled to length 1; zeros stay zeros."""
    # Not `@`: the threads of BLAS cost more than such a product when many conversations run.
    length = math.sqrt(float(np.einsum("i,i->", vector, vector)))
    return vector / length if length else vector


def normalised(matrix: Matrix) -> Matrix:
    """Return `matrix` with every row scaled to length 1; rows of zeros stay zeros."""
    return sparse.csr_array(sparse.diags_array(_scale(matrix)) @ matrix)


def _scale(matrix: Matrix) -> Vector:
    """Return the factor that scales each row to length 1; 0 for rows of zeros."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale: Vector = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return scale


def products(matrix: Matrix, vector: Vector) -> Vector:
    """Return the dot product of every row of `matrix` with `vector`."""
    return np.asarray(matrix.dot(vector), dtype=np.float64)


class Blends:
    """Rows of length 1, each a weighted sum of some texts that many rows share.

    The product is computed once for each distinct text that shares a term with the vector.
    """

    def __init__(self, shares: Matrix, texts: Matrix) -> None:
        """Take each row's weight of each text, and the texts."""
        blends = sparse.csr_array(shares @ texts)
        self.matrix = normalised(blends)
        self._shares = sparse.csr_array(sparse.diags_array(_scale(blends)) @ shares)
        self._texts = Postings(texts)

    def products(self, vector: Vector) -> Vector:
        """Return the dot product of every row with `vector`."""
        return products(self._shares, self._texts.products(vector))


class Postings:
    """The rows of a matrix by their columns, for products with sparse vectors.

    A conversation has a few dozen of the many thousand terms of a large corpus; only rows with one of these
    are visited.
    """

    def __init__(self, rows: Matrix) -> None:
        self._columns = rows.tocsc()

    def products(self, vector: Vector) -> Vector:
        """Return the dot product of every row with `vector`."""
        used = np.flatnonzero(vector)
        return np.asarray(self._columns[:, used].dot(vector[used]), dtype=np.float64)


Places = NDArray[np.float64]  # one row per text

_SPARE = 8
_PASSES = 3


def principal(texts: Matrix, dimensions: int) -> Places:
    """Return the leading right singular vectors of `texts`, one per column.

    Randomised subspace iteration (Halko, Martinsson & Tropp, 2011) on the side with fewer rows: exact enough
    here, and much faster than a full decomposition. The result is deterministic.

    scipy's `svds` picks true lines as often (14.4 % and 22.8 % of `evaluate`'s cases, against 14.0 % and 23.6
    %), but takes 1.4 s of CPU time for the shipped corpus instead of 0.4 s, at every start of a server. Also,
    ARPACK refuses a matrix of zeros, and more dimensions than one less than a side has.
    """
    width = min(dimensions + _SPARE, *texts.shape)
    start = np.random.default_rng(0).normal(size=(texts.shape[1], width))
    with one_thread():
        basis = np.linalg.qr(np.asarray(texts.dot(start))).Q
        for _ in range(_PASSES):
            basis = np.linalg.qr(np.asarray(texts.dot(texts.T.dot(basis)))).Q
        small = np.asarray(texts.T.dot(basis))
        values, rotation = np.linalg.eigh(small.T @ small)
        leading = np.argsort(-values)[:dimensions]
        return unit((small @ rotation[:, leading]).T).T


def shift(places: Places, targets: Places, ridge: float) -> Places:
    """Return the linear map from `places` to `targets` (ridge regression towards the identity)."""
    with one_thread():
        pull = ridge * np.eye(places.shape[1])
        found = np.linalg.solve(places.T @ places + pull, places.T @ targets + pull)
        return np.asarray(found, dtype=np.float64)


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which linear algebra uses one thread.

    For matrices this small, more threads mostly wait for each other: on a busy machine with two cores,
    loading took 20 times as long with two threads.
    """
    limited: AbstractContextManager[object] = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    return limited


def along(vector: Vector, directions: Places) -> Vector:
    """Return the coordinates of a sparse `vector` along each column of `directions`."""
    used = np.flatnonzero(vector)
    return dots(directions[used].T, vector[used])


def dots(rows: Places, vector: Vector) -> Vector:
    """Return the dot product of each of `rows` with `vector`.

    Does not use BLAS, whose threads cost more than such small products when many conversations run.
    """
    return np.asarray(np.einsum("ij,j->i", rows, vector), dtype=np.float64)


def unit(places: Places) -> Places:
    """Return `places` with every row scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(places, axis=-1, keepdims=True)
    scaled: Places = np.divide(places, lengths, out=np.zeros_like(places), where=lengths > 0)
    return scaled
