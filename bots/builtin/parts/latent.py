"""The latent space of a corpus: the directions in which its texts differ most."""

from contextlib import AbstractContextManager

import numpy as np
import threadpoolctl  # type: ignore[import-untyped]
from numpy.typing import NDArray

from bots.builtin.parts.terms import Matrix, Vector

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
    """Return the linear map that takes `places` nearest to `targets`, drawn by `ridge` to the identity."""
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
