"""What is known of the system with the highest score, given that it was picked for it.

The highest of several scores owes its place to luck as well, the more so the closer the systems are; an
interval for a system named beforehand holds the leader's true score too seldom. So the picking is drawn
along: draws of true scores (below), each with new errors on top; the highest of what is then seen is the
draw's leader, and the distribution of *its* t*, not that of any one system, gives the interval. It reaches
further down than up.

True scores are drawn as `qc.statistics.shrinkage` derives them: m + ρ* (x − m) + √ρ* d, with d the errors
that the wild bootstrap's t* give. The share of these draws in which a system has the highest is the chance
that it is the best: with systems that do not differ, ρ* is near 0 and all have the same chance, however far
apart chance has put them.

Source of the problem: Andrews, Kitagawa and McCloskey, *Inference on Winners*, Quarterly Journal of Economics
139, 2024; the remedy here is a bootstrap of our own, whose coverage `benchmarks/qc_truth.py` prints.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import percentile_interval
from qc.statistics.shrinkage import shrunk, true_shares

# t* beyond this comes from a draw without variance, and says no more than that it is far.
FAR = 100.0


@dataclass(frozen=True)
class Leader:
    """Of S systems.

    Attributes:
        low, high: interval of the leader's true score.
        best_chance: (S,), the chance of each to be the best; they add up to 1.
    """

    low: float
    high: float
    best_chance: NDArray[np.float64]


def leader(
    scores: NDArray[np.float64],
    errors: NDArray[np.float64],
    moved: NDArray[np.float64],
    t: NDArray[np.float64],
    rng: np.random.Generator,
) -> Leader:
    """Return what the draws say of the highest of the scores.

    Args:
        scores: (S,), at least two.
        errors: (S,), their standard errors.
        moved: (B, S), draws of errors of the scores.
        t: (B, S), the same draws' t*.
        rng: source of the draws of ρ*.
    """
    t = np.clip(t, -FAR, FAR)
    centred = moved - moved.mean(axis=1, keepdims=True)
    error_variance = float((centred**2).sum(axis=1).mean() / (len(scores) - 1))
    shares = true_shares(scores, error_variance, len(moved), rng)
    # The errors in the true scores and those on top are of different draws.
    true = shrunk(scores, shares) + np.sqrt(shares) * np.roll(t, 1, axis=0) * errors
    picked = (true + moved).argmax(axis=1)[:, None]
    low, high = percentile_interval(np.take_along_axis(t, picked, axis=1)[:, 0], LEVEL)
    first = int(scores.argmax())
    best = true == true.max(axis=1, keepdims=True)
    return Leader(
        low=float(scores[first] - high * errors[first]),
        high=float(scores[first] - low * errors[first]),
        best_chance=(best / best.sum(axis=1, keepdims=True)).mean(axis=0),
    )
