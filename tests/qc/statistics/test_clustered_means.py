"""Means of values that hang together by worker, and their intervals."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from qc.statistics.clustered_means import (
    FEWEST_WORKERS,
    interval_of_correlation,
    interval_of_difference,
    means_by_group,
    p_of_order,
)


def test_intervals_hold_the_truth_with_few_workers() -> None:
    # 500 times so many workers with 3 values each, half of whose variance is the worker's: 95 % with a
    # standard error of one point. Percentiles of resampled workers held 83 % with 5 and 91 % with 10.
    rng = np.random.default_rng(0)
    for workers in (5, 10, 20):
        owner, group, held = np.repeat(np.arange(workers), 3), np.zeros(3 * workers, np.intp), 0
        for _ in range(500):
            values = rng.normal(size=workers)[owner] + rng.normal(size=len(owner))
            _, _, low, high = means_by_group(values, owner, group, 1, 499, rng)
            held += low[0] <= 0 <= high[0]
        assert held / 500 > 0.93, workers


def test_there_is_no_interval_of_too_few_workers_or_where_all_do_the_same() -> None:
    workers = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], np.intp)
    groups = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2], np.intp)
    values = np.array([1.0, 2, 3, 4, 5, 7, 7, 7, 7, 7, 9])
    behind, mean, low, high = means_by_group(values, workers, groups, 4, 200, np.random.default_rng(0))
    assert behind.tolist() == [FEWEST_WORKERS - 1, FEWEST_WORKERS, 1, 0]
    np.testing.assert_array_equal(mean, [3, 7, 9, np.nan])
    assert np.isnan([low, high]).all()


def test_an_interval_ends_where_values_do() -> None:
    values = np.array([0.0, 0, 0, 0, 1, 1])
    workers, group = np.arange(6, dtype=np.intp), np.zeros(6, np.intp)
    for bounds in ((0.0, 1.0), (-np.inf, np.inf)):
        _, mean, low, high = means_by_group(values, workers, group, 1, 200, np.random.default_rng(0), bounds)
        assert mean[0] == pytest.approx(1 / 3)
        assert low[0] == 0 if bounds[0] == 0 else low[0] < 0
        assert high[0] <= bounds[1]


def test_there_is_no_interval_where_one_of_many_workers_has_most_of_the_values() -> None:
    workers = np.concatenate([np.zeros(40), np.arange(1, 21)]).astype(np.intp)
    values, group = np.random.default_rng(0).normal(size=60), np.zeros(60, np.intp)
    behind, _, low, _ = means_by_group(values, workers, group, 1, 200, np.random.default_rng(0))
    assert behind[0] == 21
    assert np.isnan(low[0])
    assert np.isfinite(
        means_by_group(values[39:], workers[39:], group[39:], 1, 200, np.random.default_rng(0))[2]
    )


def test_intervals_of_correlations_and_differences_hold_with_few_workers() -> None:
    # 300 times so many workers: 95 % with a standard error of 1.3 points. Workers differ in how far x and y
    # go together, and half of them have values of the second kind, one point lower. Percentiles of
    # resampled workers held r in 83 % with 5 (`benchmarks/qc_truth.py --part means`).
    rng = np.random.default_rng(1)
    for workers in (5, 12):
        held = np.zeros(2)
        for _ in range(300):
            x, noise = rng.normal(size=(2, workers, 6))
            y = rng.normal(0, 0.3, (workers, 1)) * x + noise
            x, y = (each - each.mean(axis=1, keepdims=True) for each in (x, y))
            products = np.column_stack([(x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1)])
            _, low, high = interval_of_correlation(products, 199, rng)
            held[0] += low <= 0 <= high
            owner = np.repeat(np.arange(2 * workers), 4)
            values = rng.normal(size=2 * workers)[owner] + rng.normal(size=len(owner))
            second = (owner % 2 == 0) & (np.arange(len(owner)) % 4 < 2)
            values[second] -= 1
            first, other = (
                np.column_stack([np.bincount(owner[rows], of, 2 * workers) for of in (None, values[rows])])
                for rows in (~second, second)
            )
            _, low, high = interval_of_difference(first, other, 199, rng)
            held[1] += low <= 1 <= high
        assert (held / 300 > 0.92).all(), (workers, held)


def test_r_is_that_of_pearson_and_unknown_where_nothing_varies() -> None:
    x, y = np.random.default_rng(2).normal(size=(2, 16, 3))  # they count as more than eight
    x, y = (each - each.mean(axis=1, keepdims=True) for each in (x, y))
    products = np.column_stack([(x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1)])
    rng = np.random.default_rng(0)
    r, low, high = interval_of_correlation(products, 199, rng)
    assert r == pytest.approx(np.corrcoef(x.ravel(), y.ravel())[0, 1])
    assert -1 < low < r < high < 1
    assert np.isnan(interval_of_correlation(products * [0, 1, 0], 199, rng)).all()
    of_four = interval_of_correlation(products[:4], 199, rng)
    assert np.isfinite(of_four[0])
    assert np.isnan(of_four[1:]).all()


def test_a_difference_has_no_interval_where_one_of_its_means_has_none() -> None:
    first = np.column_stack([np.full(10, 2.0), np.random.default_rng(3).normal(size=10)])
    other = first[::-1].copy()
    rng = np.random.default_rng(0)
    assert np.isfinite(interval_of_difference(first, other, 199, rng)).all()
    other[FEWEST_WORKERS - 1 :] = 0
    difference, low, high = interval_of_difference(first, other, 199, rng)
    assert np.isfinite(difference)
    assert np.isnan([low, high]).all()


def test_the_p_of_an_order_is_nearly_that_of_a_paired_t_test_and_turns_with_the_pair() -> None:
    # 40 workers with one value in each of two groups: the mean difference over its error, with 39 degrees of
    # freedom. A third group has four workers and takes no part; in a fourth all do as in the first.
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.25, 1, 40), rng.normal(0, 1, 40)
    values = np.concatenate([first, second, np.arange(4.0), first])
    workers = np.concatenate([np.arange(40), np.arange(40), np.arange(4), np.arange(40)])
    groups = np.repeat([0, 1, 2, 3], [40, 40, 4, 40])
    p = p_of_order(values, workers, groups, 4, 4_999, np.random.default_rng(0))
    assert p[0, 1] == pytest.approx(ttest_rel(first, second, alternative="greater").pvalue, abs=0.01)
    assert p[0, 1] + p[1, 0] == pytest.approx(1)
    assert p[0, 3] == 0.5
    assert np.isnan(p[2]).all()


def test_what_every_worker_does_alike_is_sure() -> None:
    values, workers = np.array([1.0, 0.0] * 6), np.repeat(np.arange(6), 2)
    p = p_of_order(values, workers, np.tile([0, 1], 6), 2, 999, np.random.default_rng(0))
    assert p[0, 1] == pytest.approx(0.0005)
