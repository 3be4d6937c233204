"""The signed-rank test, against a case worked out by hand and against SciPy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import rankdata, wilcoxon

from qc.statistics.rank_tests import EXACT_PAIRS, signed_rank_p_values, smallest_p


def one(differences: list[float]) -> float:
    values = np.array(differences)
    return float(signed_rank_p_values(values, np.zeros(len(values), np.intp), 1)[0])


def test_by_hand() -> None:
    # Without the 0: |d| = 1, 2, 2, 5 have ranks 1, 2.5, 2.5, 4. Only d = 1 is positive: T = 1. Of the 16 ways
    # to give these ranks a sign two have a sum of positive ones of 1 or less: none positive, and the 1 alone.
    assert one([1, -2, -2, -5, 0]) == 2 / 16


def test_few_pairs_are_exact() -> None:
    # However far apart, all of n signs fall one way in 1 of 2^n cases: with 4 that is no p below 5 %, where
    # the normal approximation has 0.034; with 5 it is one, but not if the smallest difference is positive.
    for pairs in range(1, EXACT_PAIRS + 1):
        assert one([-float(d) for d in range(1, pairs + 1)]) == smallest_p(pairs) == 0.5**pairs
    assert one([-1, -2, -3, -4]) > 0.05
    assert one([-1, -2, -3, -4, -5]) < 0.05 < one([1, -2, -3, -4, -5])


def test_no_more_than_the_level_of_all_signs_lies_below_it() -> None:
    for pairs in range(1, EXACT_PAIRS + 1):
        ways = (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1
        for sizes in (np.arange(1, pairs + 1), np.minimum(np.arange(1, pairs + 1), 3)):
            differences = np.where(ways, 1.0, -1.0) * sizes
            owners = np.repeat(np.arange(len(ways)), pairs)
            p = signed_rank_p_values(differences.ravel(), owners, len(ways))
            for level in (0.01, 0.05, 0.1):
                assert (p < level).mean() <= level, (pairs, level)


def test_no_difference_at_all_is_no_evidence() -> None:
    assert one([0, 0, 0]) == 1
    assert one([1e-12, -1e-12]) == 1  # noise of sums


def test_a_group_without_pairs_has_no_p() -> None:
    p = signed_rank_p_values(np.array([-1.0]), np.array([1]), 3)
    assert np.isnan(p[[0, 2]]).all()
    assert p[1] == 1 / 2


def _share_of_signs(left: NDArray[np.float64]) -> float:
    """Return in how many of all ways to give the ranks a sign their sum is no more than that of `left`."""
    ranks, signs = rankdata(np.abs(left)), np.array(list(product([0, 1], repeat=len(left))))
    return float((signs @ ranks <= (left > 0) @ ranks).mean())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6)), min_size=1, max_size=60))
def test_each_group_is_what_scipy_says_of_it_alone(drawn: list[tuple[int, int]]) -> None:
    groups, differences = (np.array(column) for column in zip(*drawn, strict=True))
    p = signed_rank_p_values(differences.astype(np.float64), groups, 4)
    for group in range(4):
        own = differences[groups == group]
        left = own[own != 0]
        if 0 < len(left) <= EXACT_PAIRS:
            assert p[group] == pytest.approx(_share_of_signs(left), abs=1e-12)
        elif len(left):
            test = wilcoxon(own, alternative="less", method="approx", correction=False, zero_method="wilcox")
            assert p[group] == pytest.approx(test.pvalue, abs=1e-12)
