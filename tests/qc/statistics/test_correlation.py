"""Coefficients of correlation: by hand where there are ties, and against SciPy."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.statistics.correlation import Method, correlation_matrix, kendall, pearson, pearson_of_rows, spearman

X = np.array([1.0, 2, 2, 4])
Y = np.array([1.0, 3, 2, 2])


def test_pearson_by_hand() -> None:
    # x - 2.25 = -1.25, -.25, -.25, 1.75; y - 2 = -1, 1, 0, 0: products 1.25 - 0.25 = 1, squares 4.75 and 2.
    assert pearson(X, Y) == pytest.approx(1 / sqrt(4.75 * 2), abs=1e-15)


def test_spearman_by_hand() -> None:
    # Ranks 1, 2.5, 2.5, 4 and 1, 4, 2.5, 2.5, mean 2.5: products 1.5 · 1.5 = 2.25; squares 4.5 and 4.5.
    assert spearman(X, Y) == pytest.approx(2.25 / 4.5, abs=1e-15)


def test_kendall_by_hand() -> None:
    # Of six pairs 12, 13 and 14 agree, 24 disagrees, 23 is tied in x and 34 in y: (3 - 1) / √(5 · 5).
    assert kendall(X, Y) == pytest.approx(2 / 5, abs=1e-15)


@pytest.mark.parametrize("correlate", [pearson, spearman, kendall])
def test_what_has_no_correlation_is_nan(correlate) -> None:  # type: ignore[no-untyped-def]
    line, nan = np.array([1.0, 2, 3]), np.nan
    assert isnan(correlate(line[:2], line[:2]))
    assert isnan(correlate(line, np.full(3, 7.0)))
    # Three times a third, added up in another order, are the same score.
    assert isnan(correlate(line, np.array([1 / 3, 1 / 3 + 1e-15, 1 / 3 - 1e-15])))
    assert isnan(correlate(line, np.array([1, nan, 3])))
    assert correlate(np.array([1.0, 2, 3, 9]), np.array([1, 2, 3, nan])) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(("method", "expected"), [("pearson", 1 / sqrt(4.75 * 2)), ("spearman", 0.5)])
def test_a_matrix_holds_every_two_columns(method: Method, expected: float) -> None:
    matrix = correlation_matrix(np.column_stack([X, Y, np.ones(4)]), method)
    np.testing.assert_allclose(matrix[:2, :2], [[1, expected], [expected, 1]], rtol=0, atol=1e-15)
    assert np.isnan(matrix[2]).all()
    assert np.isnan(matrix[:, 2]).all()


def test_correlations_of_rows_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 6, 5))
    first[0, 1] = second[0, 2] = first[1, 0] = np.nan  # row 0 keeps 3 systems, row 1 keeps 4
    second[2] = 0.1 + 1e-17
    first[3, :3] = np.nan  # 2 systems left
    r = pearson_of_rows(first, second)
    assert r[0] == pytest.approx(np.corrcoef(first[0, [0, 3, 4]], second[0, [0, 3, 4]])[0, 1])
    assert r[1] == pytest.approx(np.corrcoef(first[1, 1:], second[1, 1:])[0, 1])
    assert np.isnan(r[[2, 3]]).all()
    assert r[4] == pytest.approx(np.corrcoef(first[4], second[4])[0, 1])


points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-99, 99)), min_size=3, max_size=30)


@given(points=points)
def test_scipy_says_the_same(points: list[tuple[int, int]]) -> None:
    from scipy.stats import kendalltau, pearsonr, spearmanr

    x, y = np.array(points, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    assert pearson(x, y) == pytest.approx(pearsonr(x, y)[0], abs=1e-12)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y)[0], abs=1e-12)
    assert kendall(x, y) == pytest.approx(kendalltau(x, y)[0], abs=1e-12)
