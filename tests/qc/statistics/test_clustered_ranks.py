"""Ranks of what hangs together in clusters: by hand, against matrices, and every exchange made."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import brunnermunzel
from scipy.stats import t as student

from qc.statistics.clustered import ClusteredFit
from qc.statistics.clustered_ranks import clustered_rank_matrix

Values = NDArray[np.float64]
Codes = NDArray[np.intp]


def matrix(values: Values, groups: Codes, clusters: Codes, weights: Values | None = None) -> Values:
    given = np.ones(len(values)) if weights is None else weights
    return clustered_rank_matrix(values, groups, clusters, given, int(groups.max()) + 1)


def made_up(seed: int, rows: int, clusters: int) -> tuple[Values, Codes, Codes]:
    """Return values with ties, two groups, and clusters that shift them."""
    rng = np.random.default_rng(seed)
    of, groups = rng.integers(clusters, size=rows), rng.integers(2, size=rows)
    return np.round(rng.normal(size=rows) + rng.normal(size=clusters)[of] + groups / 3, 1), groups, of


def statistic(values: Values, groups: Codes, clusters: Codes) -> float:
    """Return the statistic as it is defined; 0 where one cluster has all of a group."""
    sides = [values[groups == side] for side in (0, 1)]
    if any(len(np.unique(clusters[groups == side])) < 2 for side in (0, 1)):
        return 0.0
    placements = np.array(
        [
            ((sides[1 - g] < v).mean() + (sides[1 - g] <= v).mean()) / 2
            for v, g in zip(values, groups, strict=True)
        ]
    )
    share, variance = placements[groups == 0].mean(), 0.0
    for cluster in np.unique(clusters):
        score = 0.0
        for side, sign in ((0, 1), (1, -1)):
            rows, size = (clusters == cluster) & (groups == side), len(sides[side])
            off = (placements[rows] - placements[groups == side].mean()).sum() / size
            score += sign * off / np.sqrt(1 - rows.sum() / size)
        variance += score**2
    spread = np.sqrt(share * (1 - share))
    return float((2 * np.arcsin(np.sqrt(share)) - np.pi / 2) * spread / np.sqrt(variance))


def test_clusters_of_one_value_are_those_of_brunner_and_munzel() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 20)
    values = rng.normal(size=40) + groups / 2
    found = matrix(values, groups, np.arange(40))
    theirs = brunnermunzel(values[groups == 0], values[groups == 1], alternative="greater")
    # Theirs is not on the scale of the arcsine, and of degrees of freedom that follow from the variances.
    share = np.mean(values[:20, None] > values[None, 20:])
    scale = (2 * np.arcsin(np.sqrt(share)) - np.pi / 2) * np.sqrt(share * (1 - share)) / (share - 0.5)
    assert found[0, 1] == pytest.approx(student.sf(-theirs.statistic * scale, 38), rel=1e-9)
    assert found[1, 0] == pytest.approx(1 - found[0, 1])


def test_with_many_clusters_it_is_the_regression_of_placements() -> None:
    values, groups, clusters = made_up(1, 200, 25)
    degrees = ClusteredFit(np.eye(2)[groups], values, clusters).contrasts(np.array([[1.0, -1]])).degrees[0]
    expected = student.sf(statistic(values, groups, clusters), degrees)
    assert matrix(values, groups, clusters)[0, 1] == pytest.approx(expected)


def test_with_few_clusters_every_exchange_is_made() -> None:
    values, groups, clusters = made_up(2, 40, 5)
    all_of_them = [
        statistic(values, np.where(np.array(swap)[clusters] == 1, 1 - groups, groups), clusters)
        for swap in product((0, 1), repeat=5)
    ]
    found = matrix(values, groups, clusters)
    assert found[0, 1] == np.mean(np.array(all_of_them) >= all_of_them[0] - 1e-9)
    assert found[1, 0] == np.mean(np.array(all_of_them) <= all_of_them[0] + 1e-9)


def test_a_weight_is_a_repetition() -> None:
    values, groups, clusters = made_up(3, 150, 20)
    weights = np.random.default_rng(3).integers(1, 4, 150)
    repeated = (np.repeat(each, weights) for each in (values, groups, clusters))
    weighted = matrix(values, groups, clusters, weights.astype(np.float64))
    np.testing.assert_allclose(weighted, matrix(*repeated))


def test_the_order_of_rows_and_rising_scales_change_nothing() -> None:
    values, groups, clusters = made_up(4, 150, 20)
    order = np.random.default_rng(4).permutation(150)
    found = matrix(values, groups, clusters)
    np.testing.assert_array_equal(matrix(values[order], groups[order], clusters[order]), found)
    np.testing.assert_array_equal(matrix(np.exp(values), groups, clusters), found)


def test_no_difference_and_nothing_but_ties() -> None:
    groups, clusters = np.tile([0, 1], 30), np.repeat(np.arange(20), 3)
    np.testing.assert_array_equal(matrix(np.zeros(60), groups, clusters), [[1, 0.5], [0.5, 1]])
    few = matrix(np.zeros(60), groups, clusters % 4)
    np.testing.assert_array_equal(few, np.ones((2, 2)))


def test_an_empty_group_and_one_of_a_single_cluster() -> None:
    values, groups, clusters = np.arange(6.0), np.array([0, 0, 0, 2, 2, 2]), np.array([0, 1, 2, 3, 3, 3])
    found = matrix(values, groups, clusters)
    assert np.isnan(found[1]).all()
    assert np.isnan([found[0, 2], found[2, 0]]).all()
    assert found[0, 0] == found[2, 2] == 1
