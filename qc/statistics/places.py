"""Measure how far systems change places between groups of people, against chance.

This is a permutation test: people are assigned to the groups at random, with the same group sizes. If group
membership does not matter, every permutation is as likely as the observed one.

Places are whole numbers, so many permutations move systems as far as the observed one. If all these ties
counted as extreme, p would be below 0.05 in fewer than 5 % of the runs without an effect. So permutations are
ordered by two statistics: first by how far systems move, and ties by how far apart the scores are. Any order
that is fixed in advance gives an exact test, and this one has hardly any ties.

Sources: Good, *Permutation, Parametric and Bootstrap Tests of Hypotheses*, 3rd edition, 2005; the p-value
that counts the observed permutation: Phipson and Smyth, *Permutation P-values Should Never Be Zero*,
Statistical Applications in Genetics and Molecular Biology 9, 2010.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL, without_noise
from qc.statistics.resampling import BLOCK_CELLS, exact, percentile_interval

DEALS = 999


@dataclass(frozen=True)
class RankPlaces:
    """How far S systems change places between G groups.

    Attributes:
        moved: difference of a system's place between two groups: mean over systems and pairs of groups.
        chance: the expected value of `moved` if group membership does not matter.
        chance_low, chance_high: 95 % range of `moved` if group membership does not matter.
        p: share of permutations that move systems further, or as far with scores at least as far apart.
        p_scores: share of permutations in which the scores of the groups differ at least as much, by the
            weighted sum of squares of their distances from the scores of all (weights: raters). It also
            detects differences that move no system past another.
    """

    moved: float
    chance: float
    chance_low: float
    chance_high: float
    p: float
    p_scores: float


def change_of_places(
    values: NDArray[np.float64], groups: NDArray[np.intp], count: int, rng: np.random.Generator
) -> RankPlaces:
    """Return how far systems change places, with DEALS permutations of the people.

    Args:
        values: (W, S), the value that each person gives to each system, NaN if they did not meet.
        groups: (W,), codes from 0 to `count` - 1; each occurs.
        count: number of groups, at least 2.
        rng: source of the permutations.
    """
    there = np.isfinite(values)
    sums = exact(np.hstack([np.where(there, values, 0), there.astype(np.float64)]))
    sizes = np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(groups, kind="stable")
    seen = _statistics(np.add.reduceat(sums[order], starts)[None])[:, 0]
    dealt = np.empty((2, DEALS))
    size = max(1, min(DEALS, BLOCK_CELLS // sums.size))
    for start in range(0, DEALS, size):
        block = range(start, min(start + size, DEALS))
        people = np.array([rng.permutation(len(sums)) for _ in block])
        dealt[:, block.start : block.stop] = _statistics(np.add.reduceat(sums[people], starts, axis=1))
    low, high = percentile_interval(dealt[0][:, None], LEVEL)
    (moved, squares), (of_moved, of_squares) = without_noise(dealt), without_noise(seen)
    as_far_apart = squares >= of_squares
    as_far = (moved > of_moved) | ((moved == of_moved) & as_far_apart)
    return RankPlaces(
        moved=float(seen[0]),
        chance=float(dealt[0].mean()),
        chance_low=float(low[0]),
        chance_high=float(high[0]),
        p=_p(as_far),
        p_scores=_p(as_far_apart),
    )


def _p(extreme: NDArray[np.bool_]) -> float:
    """Return the p-value from whether each permutation is extreme; the observed one counts too."""
    return float((1 + extreme.sum()) / (len(extreme) + 1))


def _statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean change of places and the sum of squares between groups of each permutation, (2, D).

    Args:
        sums: (D, G, 2 S), sums and then counts.
    """
    systems = sums.shape[2] // 2
    totals, counts = sums[..., :systems], sums[..., systems:]
    means = totals / np.where(counts > 0, counts, np.nan)
    of_all = totals.sum(axis=1) / np.maximum(counts.sum(axis=1), 1)
    squares = np.nansum(counts * (means - of_all[:, None]) ** 2, axis=(1, 2))
    ranked = without_noise(means)
    pairs = combinations(range(sums.shape[1]), 2)
    moved = np.mean([_moved(ranked[:, one], ranked[:, other]) for one, other in pairs], axis=0)
    return np.stack([moved, squares])


def _moved(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean difference in places, (D,), over the systems that both groups rated; 0 without any."""
    both = np.isfinite(one) & np.isfinite(other)
    apart = np.abs(_ranks(one, both) - _ranks(other, both))
    return np.asarray(np.where(both, apart, 0).sum(axis=1) / np.maximum(both.sum(axis=1), 1))


def _ranks(scores: NDArray[np.float64], taken: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return ranks among those taken, 1 for the best, (D, S); ties share the middle rank."""
    known = np.where(taken, scores, -np.inf)
    above = (known[:, None, :] > known[:, :, None]).sum(axis=2)
    level = (known[:, None, :] == known[:, :, None]).sum(axis=2)
    return np.asarray(above + (level + 1) / 2)
