"""Standard errors that respect who judged: judgments of one worker hang together.

The sandwich form with one cluster for each worker: se² = W / (W − 1) · Σ_w (Σ_(i of w) c_i)², c_i being what
judgment i contributes to the deviation of the mean. Sources: Liang and Zeger, Biometrika 73, 1986; where
outputs are judged more than once they are clusters, too: Cameron, Gelbach and Miller, *Robust inference with
multiway clustering*, Journal of Business & Economic Statistics 29, 2011.
"""

import numpy as np
from numpy.typing import NDArray


def clustered_variance(contributions: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    """Return the variance of the sum of `contributions`, however those of one cluster depend on one another.

    Args:
        contributions: (K,), deviations from what they are estimated to be, times their weights.
        clusters: (K,), codes.

    Returns:
        NaN with fewer than two clusters.
    """
    _, of = np.unique(clusters, return_inverse=True)
    sums = np.bincount(of, contributions)
    if len(sums) < 2:
        return float("nan")
    return float((sums**2).sum() * len(sums) / (len(sums) - 1))


def two_way_variance(
    contributions: NDArray[np.float64], workers: NDArray[np.intp], outputs: NDArray[np.intp]
) -> float:
    """Return the variance of the sum if judgments of one worker, and those of one output, hang together.

    It is that by workers, plus what different workers' judgments of the same output add: nothing where
    each output has one judgment. It is never below that by workers, as sampling noise could make it.

    Args:
        contributions: (K,), as for `clustered_variance`.
        workers: (K,), codes.
        outputs: (K,), codes.
    """
    by_worker = clustered_variance(contributions, workers)
    both = outputs * (int(workers.max(initial=0)) + 1) + workers
    added = clustered_variance(contributions, outputs) - clustered_variance(contributions, both)
    return by_worker + max(added, 0.0) if np.isfinite(added) else by_worker


def independent_variance(contributions: NDArray[np.float64]) -> float:
    """Return the variance of the sum as if no two judgments had anything in common; NaN for a single one."""
    return clustered_variance(contributions, np.arange(len(contributions)))
