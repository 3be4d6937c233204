"""The signed-rank test, against a case worked out by hand and against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import wilcoxon

from qc.statistics.signed_rank import signed_rank_p_values


def one(differences: list[float]) -> float:
    values = np.array(differences)
    return float(signed_rank_p_values(values, np.zeros(len(values), np.intp), 1)[0])


def test_by_hand() -> None:
    # Without the 0: |d| = 1, 2, 2, 5 have ranks 1, 2.5, 2.5, 4. Only d = 1 is positive: T = 1, of mean
    # 4·5/4 = 5 and variance 4·5·9/24 − (8 − 2)/48 = 7.5 − 0.125.
    assert one([1, -2, -2, -5, 0]) == pytest.approx(ndtr((1 - 5) / np.sqrt(7.375)), abs=1e-15)


def test_no_difference_at_all_is_no_evidence() -> None:
    assert one([0, 0, 0]) == 1
    assert one([1e-12, -1e-12]) == 1  # noise of sums


def test_a_group_without_pairs_has_no_p() -> None:
    p = signed_rank_p_values(np.array([-1.0]), np.array([1]), 3)
    assert np.isnan(p[[0, 2]]).all()
    # n = 1: T = 0, of mean 1/2 and variance 1/4.
    assert p[1] == pytest.approx(ndtr(-1), abs=1e-15)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6)), min_size=1, max_size=60))
def test_each_group_is_what_scipy_says_of_it_alone(drawn: list[tuple[int, int]]) -> None:
    groups, differences = (np.array(column) for column in zip(*drawn, strict=True))
    p = signed_rank_p_values(differences.astype(np.float64), groups, 4)
    for group in range(4):
        own = differences[groups == group]
        if own.any():
            test = wilcoxon(own, alternative="less", method="approx", correction=False, zero_method="wilcox")
            assert p[group] == pytest.approx(test.pvalue, abs=1e-12)
