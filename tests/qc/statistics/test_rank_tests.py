"""The rank-sum test: by hand, and against SciPy's for one test at a time."""

from math import comb, erfc, isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from qc.statistics import rank_tests as rank_sum
from qc.statistics.rank_tests import rank_sum_less, rank_sum_matrix, rank_sum_p_values


def scipy_less(first: np.ndarray, second: np.ndarray) -> float:
    return float(mannwhitneyu(first, second, alternative="less", method="auto").pvalue)


def test_ties_by_hand() -> None:
    # 1, 2 against 2, 3, 3: ranks 1, 2.5 | 2.5, 4.5, 4.5; U = 3.5 - 3 = 0.5, its mean is 2 · 3 / 2 = 3.
    # Ties of sizes 2 and 2 take (8 - 2) + (8 - 2) = 12: variance = 6 / 12 · (6 - 12 / (5 · 4)) = 2.7.
    # With the correction for continuity z = (0.5 - 3 + 0.5) / √2.7, p = Φ(z) = erfc(-z / √2) / 2.
    p = rank_sum_less(np.array([1.0, 2]), np.array([2.0, 3, 3]))
    assert p == pytest.approx(erfc(2 / sqrt(2.7) / sqrt(2)) / 2, abs=1e-15)


def test_the_two_lowest_of_eight() -> None:
    # One order of C(8, 2) = 28; with 1 and 3 lowest U = 1, which two orders reach; the highest: all do.
    values = np.arange(1.0, 9)
    rows = np.array([values, np.roll(values, 1), [1.0, 3, 2, 4, 5, 6, 7, 8], values[::-1]])
    assert rank_sum_p_values(rows, 2)[[0, 2, 3]] == pytest.approx([1 / 28, 2 / 28, 1], abs=1e-15)
    # 8 and 1: U = 6, and P(U ≤ 6) = 1 - P(U ≤ 5); U of 0, 1, …, 5 come from 1, 1, 2, 2, 3, 3 orders.
    assert rank_sum_p_values(rows, 2)[1] == pytest.approx(1 - 12 / 28, abs=1e-15)


def test_a_row_with_ties_does_not_change_the_test_of_a_row_without() -> None:
    untied, tied = [1.0, 2, 3, 4, 5, 6, 7, 8], [1.0, 2, 2, 4, 5, 6, 7, 8]
    together = rank_sum_p_values(np.array([untied, tied]), 2)
    assert together[0] == pytest.approx(1 / 28, abs=1e-15)
    assert together[1] == rank_sum_p_values(np.array([tied]), 2)[0]


def test_what_cannot_be_told_apart() -> None:
    assert rank_sum_less(np.full(4, 7.0), np.full(30, 7.0)) == 1
    assert rank_sum_less(np.array([7.0]), np.array([7.0])) == 1
    assert rank_sum_less(np.array([1.0]), np.array([2.0])) == 0.5
    assert isnan(rank_sum_less(np.array([]), np.array([1.0])))
    assert isnan(rank_sum_less(np.array([1.0]), np.array([])))
    assert rank_sum_p_values(np.empty((0, 5)), 2).shape == (0,)


# Both sides of the limits of 8: where the test stops being exact, whichever sample is the smaller.
@pytest.mark.parametrize(
    ("n1", "n2"),
    [(1, 1), (1, 40), (5, 25), (8, 8), (8, 9), (9, 8), (9, 9), (25, 5), (3, 700), (8, 400), (40, 60)],
)
@pytest.mark.parametrize("levels", [3, 101, 10**9])
def test_scipy_says_the_same_for_every_size(n1: int, n2: int, levels: int) -> None:
    rng = np.random.default_rng([n1, n2, levels])
    rows = rng.integers(levels, size=(20, n1 + n2)).astype(float)
    expected = [scipy_less(row[:n1], row[n1:]) for row in rows]
    assert rank_sum_p_values(rows, n1) == pytest.approx(expected, abs=1e-12, rel=1e-12)


samples = st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9)), min_size=1, max_size=14)


@settings(max_examples=300)
@given(first=samples, second=samples)
def test_scipy_says_the_same(first: list[float], second: list[float]) -> None:
    x, y = np.array(first), np.array(second)
    assert rank_sum_less(x, y) == pytest.approx(scipy_less(x, y), abs=1e-12)
    assert rank_sum_less(y, x) == pytest.approx(
        float(mannwhitneyu(x, y, alternative="greater").pvalue), abs=1e-12
    )


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).integers(9, size=(50, 12)).astype(float)
    groups = np.arange(600) % 3
    whole = rank_sum_p_values(rows, 5), rank_sum_matrix(rows.ravel(), groups, 3)
    monkeypatch.setattr(rank_sum, "BLOCK_CELLS", 10)
    np.testing.assert_array_equal(rank_sum_p_values(rows, 5), whole[0])
    np.testing.assert_array_equal(rank_sum_matrix(rows.ravel(), groups, 3), whole[1])


def test_orders_of_a_long_and_a_short_sample_add_up() -> None:
    # The lowest value of 3 among 2003 values: of C(2003, 3) orders one has U = 0.
    first, second = np.array([1.0, 2, 3]), np.arange(4.0, 2004)
    assert rank_sum_less(first, second) == pytest.approx(1 / comb(2003, 3), rel=1e-12)
    assert rank_sum_less(second, first) == 1


# Values of up to four groups; one may stay empty or hold a single value, which makes its tests exact.
grouped = st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=60)


@given(rows=grouped, distinct=st.booleans())
def test_every_entry_of_a_matrix_is_the_test_of_its_two_groups(
    rows: list[tuple[int, int]], distinct: bool
) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.intp)
    values = np.array([value for _, value in rows], dtype=float)
    if distinct:
        values += np.linspace(0, 0.5, len(values))
    p = rank_sum_matrix(values, groups, 4)
    for i in range(4):
        for j in range(4):
            row, column = values[groups == i], values[groups == j]
            if not len(row) or not len(column):
                assert isnan(p[i, j])
            elif i == j:
                assert p[i, j] == 1
            else:
                assert p[i, j] == rank_sum_less(column, row)
                assert p[i, j] == pytest.approx(scipy_less(column, row), abs=1e-12)


@given(rows=grouped, data=st.data())
def test_the_order_of_values_changes_no_bit(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.intp)
    values = np.array([value for _, value in rows], dtype=float)
    order = np.array(data.draw(st.permutations(range(len(rows)))), dtype=np.intp)
    np.testing.assert_array_equal(
        rank_sum_matrix(values[order], groups[order], 4), rank_sum_matrix(values, groups, 4)
    )
