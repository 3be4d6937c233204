"""Similarity of two texts from one vector per token. Pure: vectors in, a number out.

Sources: Liu et al., *How NOT To Evaluate Your Dialogue System*, 2016, section 3.2 (average, extrema, greedy);
Zhang et al., *BERTScore*, 2020, section 3 (F1, neither weighted by idf nor rescaled).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def average(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the two means; arguments and NaN as for `greedy_f1`."""
    return _cosine(one.mean(axis=0), other.mean(axis=0)) if len(one) and len(other) else float("nan")


def extrema(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the two vectors that have, of each dimension, the value farthest from 0."""
    return _cosine(_farthest(one), _farthest(other)) if len(one) and len(other) else float("nan")


def greedy(one: Vectors, other: Vectors) -> float:
    """Return the mean of both directions: each token with the most similar one of the other text."""
    similar = _cosines(one, other)
    return float((similar.max(axis=1).mean() + similar.max(axis=0).mean()) / 2) if similar.size else np.nan


def greedy_f1(one: Vectors, other: Vectors) -> float:
    """Return the F1 of precision and recall, each the mean of the best cosines in one direction.

    Args:
        one: (tokens, dimensions), of a text.
        other: (tokens, dimensions), of the other.

    Returns:
        NaN if one of them has no token.
    """
    similar = _cosines(one, other)
    if not similar.size:
        return float("nan")
    precision, recall = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


# Of the vectors that a model starts from, one a token wherever it stands.
OF_WORDS: dict[str, Callable[[Vectors, Vectors], float]] = {
    "embedding_average": average,
    "embedding_extrema": extrema,
    "embedding_greedy": greedy,
}


def _farthest(vectors: Vectors) -> Vectors:
    rows = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors[rows, np.arange(vectors.shape[1])])


def _cosine(one: Vectors, other: Vectors) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def _cosines(one: Vectors, other: Vectors) -> Vectors:
    a, b = (
        each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), np.finfo(float).tiny)
        for each in (one, other)
    )
    return np.asarray(a @ b.T)
