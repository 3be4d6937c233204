"""Judgments on a scale that is the same for every worker.

Source: Ji et al., ACL 2022, the section on scores; here for each criterion by itself, because the criteria
of a plain CSV may be on different scales.
"""

import numpy as np
from numpy.typing import NDArray

from qc.method.standardise import standardise

# The sd of fewer says too little of a worker.
FEWEST_JUDGMENTS = 5


def per_worker_z(
    values: NDArray[np.float64], workers: NDArray[np.intp], criteria: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return z = (value - mean) / sd, mean and sd (ddof = 1) over the worker's values on the criterion.

    Args:
        values: (K,).
        workers: (K,), codes from 0, −1 for an unknown worker.
        criteria: (K,), codes from 0.

    Returns:
        (K,); NaN for an unknown worker, for one with fewer than FEWEST_JUDGMENTS values on the criterion, and
        for one whose values on it are all the same.
    """
    cells = workers * (criteria.max(initial=0) + 1) + criteria
    z = np.full(len(values), np.nan)
    known = workers >= 0
    if not known.any():
        return z
    _, groups, sizes = np.unique(cells[known], return_inverse=True, return_counts=True)
    found = standardise(values[known, None], groups, len(sizes))[:, 0]
    z[known] = np.where(sizes[groups] >= FEWEST_JUDGMENTS, found, np.nan)
    return z
