"""A rank test of two samples with clustered values, such as the conversations of a worker.

It asks the same question as the rank-sum test: is a value of one sample more often above than below a value
of the other? The placement of a value is the share of the other sample below it; ties count one half. The
mean placement of a sample estimates the probability that one of its values is the higher one. The variance
comes from the sums of placements by cluster. So it is valid for any dependence within a cluster (a generous
worker, or one who prefers a system), and for samples with different variances.

The statistic is the distance of the estimate from 1/2, divided by its standard error. Both are transformed by
the arcsine of the square root, so that a share is as uncertain near 1 as near 1/2; otherwise small p would
occur too often. With many clusters, the statistic is compared with Student's t, with degrees of freedom that
depend on the cluster sizes. With few clusters, it is compared with its values when each cluster does or does
not exchange its values between the two samples. If neither sample tends to higher values in any cluster, all
exchanges are equally likely, and the test is exact.

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

from qc.statistics.confidence import NOISE

# Up to this number of clusters, all exchanges are evaluated: at most 256.
LARGEST_EXACT = 8


@dataclass(frozen=True)
class _Group:
    """Values of a group.

    Attributes:
        values: (n,), ascending.
        weights: (n,).
        clusters: (n,), codes.
        before: (n + 1,), cumulative weights: of all values before each, and of all values.
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
        """Return, for each value, the other group's weight below it, plus half the weight tied with it."""
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
        weights: (n,), above 0: weight of a value in its group.
        count: number of groups.

    Returns:
        (count, count); the diagonal is 1, or NaN for an empty group. NaN if a group has values of fewer than
        two clusters, because one cluster does not show how much clusters differ.
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
    """Return the one-sided p-values that the first is higher, and that the second is."""
    sizes = np.column_stack([first.sizes, second.sizes])
    if min(np.count_nonzero(sizes, axis=0)) < 2:
        return np.nan, np.nan
    taking_part = np.flatnonzero(sizes.any(axis=1))
    if len(taking_part) <= LARGEST_EXACT:
        return _exact(first, second, taking_part)
    sums = np.column_stack([_placement_sums(first, second), _placement_sums(second, first)])
    statistic, degrees = float(_statistic(sizes, sums)), _degrees(sizes)
    # Smallest p that exchanges of clusters can give.
    least = 0.5 ** len(taking_part)
    return max(float(stdtr(degrees, -statistic)), least), max(float(stdtr(degrees, statistic)), least)


def _placement_sums(group: _Group, other: _Group) -> NDArray[np.float64]:
    """Return the sum of each cluster's weighted placements, (W,)."""
    placed = group.weights * group.placements(other)
    return np.asarray(np.bincount(group.clusters, placed, len(group.sizes)) / other.before[-1])


def _statistic(sizes: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of the first sample above the second, in standard errors, (…,).

    Args:
        sizes: (…, W, 2), weights of each cluster in each sample.
        sums: (…, W, 2), sums of its weighted placements.

    Returns:
        ±∞ if placements do not vary; 0 if they are all 1/2, or a sample has fewer than two clusters.
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
    # Arcsine of the root, divided by its derivative: to first order the share minus 1/2.
    effect = (
        2 * np.abs(np.arcsin(np.sqrt(share_above)) - np.pi / 4) * np.sqrt(share_above * (1 - share_above))
    )
    statistic = np.where(error > NOISE, effect / np.where(error > NOISE, error, 1), np.inf)
    return np.where(level == 0, 0, level * np.where(level == 0, 0, statistic))


def _degrees(sizes: NDArray[np.float64]) -> float:
    """Return the degrees of freedom of the statistic's variance, from (W, 2) weights of clusters.

    They are those of `qc.statistics.clustered` for the difference of two means. Its grams are diagonal: the
    cluster's shares h of the two samples. The direction is (1/√n, -1/√m).
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
    # A cluster has two blocks of values: in the first sample, and, at index + `count`, in the second.
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
