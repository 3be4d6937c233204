"""Means of systems in resamples of their judgments, as Wei and Jia (2021, section 4) draw them."""

import numpy as np
from numpy.typing import NDArray

# Judgments that are drawn at a time.
BLOCK_CELLS = 2**22


def resampled_means(
    values: NDArray[np.float64], systems: NDArray[np.intp], count: int, draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean of each system in each resample, (draws, S).

    Judgments are drawn with replacement, as many as each system has, each for itself: those of one output or
    worker are not kept together.

    Args:
        values: (rows,), in a fixed order.
        systems: (rows,), codes from 0; each of the systems occurs.
        count: S, the number of systems.
        draws: number of resamples.
        rng: source of the draws.
    """
    means = np.empty((draws, count))
    for system in range(count):
        own = values[systems == system]
        size = max(1, BLOCK_CELLS // len(own))
        for start in range(0, draws, size):
            rows = min(size, draws - start)
            drawn = own[rng.integers(len(own), size=(rows, len(own)))]
            means[start : start + rows, system] = drawn.mean(axis=1)
    return means
