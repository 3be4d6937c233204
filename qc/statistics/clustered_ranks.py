"""A rank test of two samples whose values hang together in clusters, such as the conversations of a worker.

It asks the question of the rank-sum test: is a value of the one sample more often above than below a value of
the other? The placement of a value is the share of the other sample that lies below it, ties as one half; the
mean placement of a sample estimates the probability that a value of it is the higher one. Its variance comes
from the sums of placements by cluster, so it holds however values of a cluster depend on one another, be it
that a worker is generous or has a taste for one system, and however unlike the spreads of the two samples.

The statistic is the distance of the estimate from 1/2 over its standard error, both on the scale of the
arcsine of the root, on which a share is as uncertain near 1 as near 1/2: without it, small p come too often.
With many clusters it is compared with Student's t, whose degrees of freedom follow from how their sizes are
spread. With few it is compared with its values when clusters exchange their values in the one sample for
those in the other, each cluster or not: if neither sample tends to higher values in any cluster, all these
are equally likely, and the test is exact.

Sources: Brunner and Munzel, *The nonparametric Behrens-Fisher problem*, Biometrical Journal 42, 2000
(variance of placements, Student's t); Obuchowski, *Nonparametric analysis of clustered ROC curve data*,
Biometrics 53, 1997 (their sums by cluster); `qc.statistics.clustered` (few clusters, degrees of freedom);
Bartlett, *The use of transformations*, Biometrics 3, 1947 (arcsine of the root).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from qc.statistics.noise import NOISE

# With so many clusters or fewer every exchange is made: at most 256.
LARGEST_EXACT = 8


@dataclass(frozen=True)
class _Group:
    """Values of a group.

    Attributes:
        values: (n,), ascending.
        weights: (n,).
        clusters: (n,), codes.
        before: (n + 1,), the weight of all values before each, and of all.
        sizes: (W,), the weight of each cluster.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    clusters: NDArray[np.intp]
    before: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        values: NDArray[np.float64],
        weights: NDArray[np.float64],
        clusters: NDArray[np.intp],
        count: int,
    ) -> Self:
        """Return the group whose clusters have codes below `count`."""
        order = np.lexsort((weights, clusters, values))
        return cls(
            values=values[order],
            weights=weights[order],
            clusters=clusters[order],
            before=np.concatenate([[0.0], np.cumsum(weights[order])]),
            sizes=np.bincount(clusters, weights, count).astype(np.float64),
        )

    def placements(self, other: "_Group") -> NDArray[np.float64]:
        """Return, for each value, the weight of the other group's below it, and half of what is tied."""
        low, high = (np.searchsorted(other.values, self.values, side=side) for side in ("left", "right"))
        return (other.before[low] + other.before[high]) / 2


def clustered_rank_matrix(
    values: NDArray[np.float64],
    groups: NDArray[np.intp],
    clusters: NDArray[np.intp],
    weights: NDArray[np.float64],
    count: int,
) -> NDArray[np.float64]:
    """Return one-sided p-values of every group against every other, alternative: the row's is higher.

    Args:
        values: (n,), without NaN.
        groups: (n,), codes from 0 to `count` - 1.
        clusters: (n,), codes from 0.
        weights: (n,), above 0: how much a value counts in its group.
        count: number of groups.

    Returns:
        (count, count); the diagonal is 1, or NaN for an empty group. NaN where a group has values of fewer
        than two clusters, since one does not tell how much clusters differ.
    """
    all_clusters = int(clusters.max(initial=-1)) + 1
    parts = [
        _Group.of(values[rows], weights[rows], clusters[rows], all_clusters)
        for rows in (np.flatnonzero(groups == group) for group in range(count))
    ]
    p = np.full((count, count), np.nan)
    for i, first in enumerate(parts):
        if len(first.values):
            p[i, i] = 1
        for j, second in enumerate(parts[:i]):
            p[i, j], p[j, i] = _p_values(first, second)
    return p


def _p_values(first: _Group, second: _Group) -> tuple[float, float]:
    """Return p of the first being higher, and of the second."""
    sizes = np.column_stack([first.sizes, second.sizes])
    if min(np.count_nonzero(sizes, axis=0)) < 2:
        return np.nan, np.nan
    taking_part = np.flatnonzero(sizes.any(axis=1))
    if len(taking_part) <= LARGEST_EXACT:
        return _exact(first, second, taking_part)
    sums = np.column_stack([_placement_sums(first, second), _placement_sums(second, first)])
    statistic, degrees = float(_statistic(sizes, sums)), _degrees(sizes)
    # No exchange of clusters could be rarer than this, however far apart the samples are.
    least = 0.5 ** len(taking_part)
    return max(float(stdtr(degrees, -statistic)), least), max(float(stdtr(degrees, statistic)), least)


def _placement_sums(group: _Group, other: _Group) -> NDArray[np.float64]:
    """Return the sum of each cluster's weighted placements, (W,)."""
    placed = group.weights * group.placements(other)
    return np.asarray(np.bincount(group.clusters, placed, len(group.sizes)) / other.before[-1])


def _statistic(sizes: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard errors the first sample lies above the second, (…,).

    Args:
        sizes: (…, W, 2), weights of each cluster in each sample.
        sums: (…, W, 2), of its weighted placements.

    Returns:
        ±∞ if placements do not vary; 0 if they are 1/2 without varying, and where a sample has fewer than
        two clusters.
    """
    total = sizes.sum(axis=-2, keepdims=True)
    share = sizes / np.where(total > 0, total, 1)
    lone = (share > 1 - NOISE).any(axis=(-2, -1)) | (total == 0).any(axis=(-2, -1))
    means = sums.sum(axis=-2, keepdims=True) / np.where(total > 0, total, 1)
    deviations = (sums - sizes * means) / np.where(total > 0, total, 1)
    adjusted = deviations / np.sqrt(np.maximum(1 - share, NOISE))
    difference = adjusted[..., 0] - adjusted[..., 1]
    error = np.sqrt((difference * difference).sum(axis=-1))
    share_above = np.clip(means[..., 0, 0], 0, 1)
    level = np.where(lone | (np.abs(share_above - 0.5) < NOISE), 0, np.sign(share_above - 0.5))
    # The arcsine of the root, over its derivative: to first order the share itself, minus 1/2.
    effect = (
        2 * np.abs(np.arcsin(np.sqrt(share_above)) - np.pi / 4) * np.sqrt(share_above * (1 - share_above))
    )
    statistic = np.where(error > NOISE, effect / np.where(error > NOISE, error, 1), np.inf)
    return np.where(level == 0, 0, level * np.where(level == 0, 0, statistic))


def _degrees(sizes: NDArray[np.float64]) -> float:
    """Return the degrees of freedom of the statistic's variance, from (W, 2) weights of clusters.

    Those of `qc.statistics.clustered` for the difference of two means, whose grams are diagonal: the shares
    h of the two samples that a cluster has. A direction is then (1/√n, -1/√m).
    """
    total = sizes.sum(axis=0)
    share = sizes / total
    weights = share / (1 - share) / total
    shares = share / np.sqrt((1 - share) * total) * [1, -1]
    within, own = (shares * shares).sum(axis=1), weights.sum(axis=1)
    crossed = np.einsum("wi,wj->ij", shares, shares)
    spread = (own * (own - 2 * within)).sum() + (crossed * crossed).sum()
    return float((1 / total).sum() ** 2 / spread)


def _exact(first: _Group, second: _Group, clusters: NDArray[np.intp]) -> tuple[float, float]:
    """Return the shares of all exchanges whose statistic is at least, and at most, that of the data."""
    count = len(clusters)
    values, weights = (
        np.concatenate([getattr(group, name) for group in (first, second)]) for name in ("values", "weights")
    )
    # A cluster has two blocks of values: those in the first sample, and, `count` further, in the second.
    at = np.concatenate([np.searchsorted(clusters, group.clusters) for group in (first, second)])
    blocks = at + count * (np.arange(len(at)) >= len(first.values))
    everything = _Group.of(values, weights, blocks, 2 * count)
    above = np.empty((2 * count, 2 * count))  # by how much the values of a block lie above those of another
    for other in range(2 * count):
        rows = blocks == other
        block = _Group.of(values[rows], weights[rows], blocks[rows], 2 * count)
        placed = everything.weights * everything.placements(block)
        above[:, other] = np.bincount(everything.clusters, placed, 2 * count)

    exchanged = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    members = [np.arange(count) + count * side for side in (exchanged, 1 - exchanged)]
    sizes = np.stack([everything.sizes[side] for side in members], axis=-1)
    totals = sizes.sum(axis=1)
    sums = np.empty_like(sizes)
    for side in (0, 1):
        against = above.T[members[1 - side]].sum(axis=1)
        sums[..., side] = np.take_along_axis(against, members[side], axis=1)
        sums[..., side] /= np.maximum(totals[:, [1 - side]], NOISE)
    found = _statistic(sizes, sums)
    return float((found >= found[0] - NOISE).mean()), float((found <= found[0] + NOISE).mean())
