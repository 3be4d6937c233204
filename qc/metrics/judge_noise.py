"""Agreement of a judge with itself: between repeats of a question, and between the two orders."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import t_interval


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """The judge's own noise on one criterion; points of the scale of 0 to 100, as given.

    Attributes:
        n: conversations with ratings in both orders.
        mean: of all ratings.
        sd_between_conversations: of the conversations' mean ratings; it holds some of the noise.
        sd_between_repeats: pooled within conversation and order (divisor k − 1). NaN with one repeat.
        forwards_minus_backwards: mean difference when the criteria are asked in the other order.
        low, high: its 95 % t interval over conversations.
    """

    n: int
    mean: float
    sd_between_conversations: float
    sd_between_repeats: float
    forwards_minus_backwards: float
    low: float
    high: float


def judge_noise(ratings: NDArray[np.float64]) -> JudgeNoise:
    """Return the noise in `ratings`, (conversations, 2 orders, repeats); NaN where an answer held none."""
    known = np.isfinite(ratings)
    of_orders = _mean(ratings, known, axis=2)
    both = np.isfinite(of_orders).all(axis=1)
    means = of_orders[both].mean(axis=1)
    difference = of_orders[both, 0] - of_orders[both, 1]
    n = int(both.sum())
    error = difference.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    shift = float(difference.mean()) if n else np.nan
    low, high = t_interval(np.array(shift), np.array(error), n - 1)
    return JudgeNoise(
        n,
        float(ratings[known].mean()) if known.any() else np.nan,
        float(means.std(ddof=1)) if n > 1 else np.nan,
        _within(ratings, known),
        shift,
        float(low),
        float(high),
    )


def _within(ratings: NDArray[np.float64], known: NDArray[np.bool_]) -> float:
    """Return the pooled standard deviation of repeats around the mean of their conversation and order."""
    counts = known.sum(axis=2)
    degrees = int(np.maximum(counts - 1, 0).sum())
    deviations = np.where(known, ratings - _mean(ratings, known, axis=2)[..., None], 0)
    return float(np.sqrt((deviations**2).sum() / degrees)) if degrees else np.nan


def _mean(values: NDArray[np.float64], known: NDArray[np.bool_], axis: int) -> NDArray[np.float64]:
    counts = known.sum(axis=axis)
    sums = np.where(known, values, 0).sum(axis=axis)
    return np.asarray(sums / np.where(counts > 0, counts, np.nan))
