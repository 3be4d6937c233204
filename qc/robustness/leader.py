"""Interval and chance of the highest-scoring system, allowing for its selection.

The highest of several scores owes its place to luck as well, the more so the closer the systems are; an
interval for a system named beforehand holds the leader's true score too seldom. So the picking is drawn
along: draws of true scores (below), each with new errors on top; the highest of what is then seen is the
draw's leader, and t* is *its* distance from its true score, not that of any one system.

Luck lifts a leader and does not lower it. Its interval therefore ends above where that of any system does,
at score + q · standard error; below it ends at score − q' · standard error, q' being so large that in 95 % of
the draws t* lies from −q to q'. A system far ahead of all others has q' = q, as if named beforehand.

True scores are drawn as `qc.statistics.shrinkage` derives them: m + ρ (x − m) + √ρ d, with d the errors that
the wild bootstrap's t* give, and ρ from a belief that leaves open whether the systems differ at all. The
share of these draws in which a system has the highest is the chance that it is the best; where ρ = 0 all
share it.

Source of the problem: Andrews, Kitagawa and McCloskey, *Inference on Winners*, Quarterly Journal of Economics
139, 2024; the remedy here is a bootstrap of our own, whose coverage `benchmarks/qc_truth.py` prints.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.noise import without_noise
from qc.statistics.resampling import upper_quantile
from qc.statistics.shrinkage import shares_if_any, shrunk

# t* beyond this comes from a draw without variance, and says no more than that it is far.
FAR = 100.0


@dataclass(frozen=True)
class Leader:
    """Of S systems.

    Attributes:
        low: (S,), end of the interval of a leader's true score; the other end is that of any system. NaN for
            the others. Several that are equally high are leaders.
        best_chance: (S,), the chance of each to be the best; they add up to 1.
    """

    low: NDArray[np.float64]
    best_chance: NDArray[np.float64]


def leader(
    scores: NDArray[np.float64],
    errors: NDArray[np.float64],
    difference_errors: NDArray[np.float64],
    moved: NDArray[np.float64],
    t: NDArray[np.float64],
    rng: np.random.Generator,
) -> Leader:
    """Return what the draws say of the highest of the scores.

    Args:
        scores: (S,), at least two.
        errors: (S,), their standard errors.
        difference_errors: (S, S), those of their differences.
        moved: (B, S), draws of errors of the scores.
        t: (B, S), the same draws' t*.
        rng: source of the draws of ρ.
    """
    t = np.clip(t, -FAR, FAR)
    pairs = np.triu_indices(len(scores), 1)
    error_variance = float((difference_errors[pairs] ** 2).mean()) / 2
    shares = shares_if_any(scores, error_variance, len(moved), rng)
    # The errors in the true scores and those on top are of different draws.
    true = shrunk(scores, shares) + np.sqrt(shares) * np.roll(t, 1, axis=0) * errors
    picked = (true + moved).argmax(axis=1)[:, None]
    of_picked = np.take_along_axis(t, picked, axis=1)[:, 0]
    low = np.full(len(scores), np.nan)
    rounded = without_noise(scores)
    for first in np.flatnonzero(rounded == rounded.max()):
        unlucky = float((of_picked < -upper_quantile(np.abs(t[:, first]), LEVEL)).mean())
        low[first] = scores[first] - upper_quantile(of_picked, LEVEL + unlucky) * errors[first]
    best = true == true.max(axis=1, keepdims=True)
    return Leader(
        low=low,
        best_chance=(best / best.sum(axis=1, keepdims=True)).mean(axis=0),
    )
