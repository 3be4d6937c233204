"""Standard errors that respect who judged: judgments of one worker hang together.

The sandwich form with one cluster for each worker: se² = W / (W − 1) · Σ_w (Σ_(i of w) c_i)², c_i being what
judgment i contributes to the deviation of the mean. Sources: Liang and Zeger, *Longitudinal data analysis
using generalized linear models*, Biometrika 73, 1986; the factor: Cameron and Miller, *A practitioner's guide
to cluster-robust inference*, Journal of Human Resources 50, 2015, section VI; where outputs are judged more
than once they are clusters, too: Cameron, Gelbach and Miller, *Robust inference with multiway clustering*,
Journal of Business & Economic Statistics 29, 2011.
"""

import numpy as np
from numpy.typing import NDArray


def variance_of_sums(
    sums: NDArray[np.float64], present: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return the variance of the total of the sums of C clusters, however its terms depend within a cluster.

    Args:
        sums: (C,), or (C, S) for S totals, of the contributions of each cluster.
        present: of the same shape, whether the cluster contributes; None for all.

    Returns:
        () or (S,); NaN with fewer than two clusters.
    """
    clusters = np.asarray(len(sums) if present is None else present.sum(axis=0))
    factor = np.where(clusters > 1, clusters / np.maximum(clusters - 1, 1), np.nan)
    return np.asarray(factor * (sums**2).sum(axis=0), np.float64)


def clustered_variance(contributions: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    """Return the variance of the sum of `contributions`, however those of one cluster depend on one another.

    Args:
        contributions: (K,), deviations from what they are estimated to be, times their weights.
        clusters: (K,), codes.

    Returns:
        NaN with fewer than two clusters.
    """
    _, of = np.unique(clusters, return_inverse=True)
    return float(variance_of_sums(np.bincount(of, contributions).astype(np.float64)))


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
