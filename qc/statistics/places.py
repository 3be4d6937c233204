"""How far systems change places between groups of people, and what chance alone would do.

Chance: the people are dealt to the groups anew, each group as large as it is. If it does not matter who is in
which group, every deal is as likely as the one that was seen.

Sources: Good, *Permutation, Parametric and Bootstrap Tests of Hypotheses*, 3rd edition, 2005; the p-value
that counts the deal that was seen: Phipson and Smyth, *Permutation P-values Should Never Be Zero*,
Statistical Applications in Genetics and Molecular Biology 9, 2010.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.noise import without_noise
from qc.statistics.resampling import exact, percentile_interval

DEALS = 999


@dataclass(frozen=True)
class Places:
    """How far S systems change places between G groups.

    Attributes:
        moved: by how many places a system lies apart in two groups: mean over systems and pairs of groups.
        chance: the same, expected if it did not matter who is in which group.
        chance_low, chance_high: between which chance lies 95 % of the time.
        p: how often chance moves them as far.
        p_scores: how often chance has the scores of the groups differ as much, by the sum of squares of their
            distances from the scores of all, weighted by raters. It sees differences that move no system past
            another.
    """

    moved: float
    chance: float
    chance_low: float
    chance_high: float
    p: float
    p_scores: float


def change_of_places(
    values: NDArray[np.float64], groups: NDArray[np.intp], count: int, rng: np.random.Generator
) -> Places:
    """Return how far systems change places, with DEALS deals of the people.

    Args:
        values: (W, S), what each person gives to each system, NaN where they did not meet.
        groups: (W,), codes from 0 to `count` - 1; each occurs.
        count: number of groups, at least 2.
        rng: source of the deals.
    """
    there = np.isfinite(values)
    sums = exact(np.hstack([np.where(there, values, 0), there.astype(np.float64)]))
    sizes = np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(groups, kind="stable")
    seen = _statistics(np.add.reduceat(sums[order], starts))
    dealt = np.array(
        [_statistics(np.add.reduceat(sums[rng.permutation(len(sums))], starts)) for _ in range(DEALS)]
    )
    low, high = percentile_interval(dealt[:, :1], LEVEL)
    p = (1 + (without_noise(dealt) >= without_noise(np.array(seen))).sum(axis=0)) / (DEALS + 1)
    return Places(seen[0], float(dealt[:, 0].mean()), float(low[0]), float(high[0]), float(p[0]), float(p[1]))


def _statistics(sums: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean change of places, and the sum of squares between groups.

    Args:
        sums: (G, 2 S), sums and then counts.
    """
    systems = sums.shape[1] // 2
    totals, counts = sums[:, :systems], sums[:, systems:]
    means = totals / np.where(counts > 0, counts, np.nan)
    of_all = totals.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    squares = float(np.nansum(counts * (means - of_all) ** 2))
    ranked = without_noise(means)
    moved = [_moved(ranked[one], ranked[other]) for one, other in combinations(range(len(sums)), 2)]
    return float(np.mean(moved)), squares


def _moved(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return by how many places a system lies apart, of those that both groups rated; 0 if there are none."""
    both = np.isfinite(one) & np.isfinite(other)
    return float(np.abs(_ranks(one[both]) - _ranks(other[both])).mean()) if both.any() else 0.0


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks, 1 for the best; those that are level share the middle of theirs."""
    above = (scores[None, :] > scores[:, None]).sum(axis=1)
    return np.asarray(above + ((scores[None, :] == scores[:, None]).sum(axis=1) + 1) / 2)
