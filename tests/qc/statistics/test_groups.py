"""Sums, means and differences by group: exact, whatever the order; and what an empty group has."""

from fractions import Fraction
from math import isnan, ulp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qc.statistics.groups import distinct, group_means, group_sums, group_varies

cells = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.floats(-1e9, 1e9), st.integers(-100, 100).map(float))),
    max_size=40,
)


@settings(max_examples=200)
@given(rows=cells, data=st.data())
def test_sums_are_exact_to_the_last_bit_and_the_same_in_every_order(
    rows: list[tuple[int, float]], data: st.DataObject
) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.intp)
    values = np.array([value for _, value in rows])
    order = np.array(data.draw(st.permutations(range(len(rows)))), dtype=np.intp)
    sums = group_sums(values, groups, 3)
    np.testing.assert_array_equal(group_sums(values[order], groups[order], 3), sums)
    for group in range(3):
        exact = sum((Fraction(value) for owner, value in rows if owner == group), Fraction(0))
        # One rounding of the sum itself, and what lies 90 bits and more below the largest value.
        smallest = max([abs(value) for _, value in rows], default=0.0) * len(rows) ** 3 * 2.0**-100
        assert abs(Fraction(float(sums[group])) - exact) <= ulp(float(sums[group])) / 2 + smallest


def test_sums_in_which_large_values_cancel() -> None:
    # Added up one after the other, 1e16 + 1 - 1e16 is 0 or 2.
    assert group_sums(np.array([1e16, 1.0, -1e16]), np.zeros(3, np.intp), 1)[0] == 1


def test_all_columns_of_a_row_belong_to_its_group() -> None:
    table, groups = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([1, 0, 1])
    assert group_sums(table, groups, 3).tolist() == [7, 14, 0]
    assert group_means(table, groups, 3)[:2].tolist() == [3.5, 3.5]
    assert isnan(group_means(table, groups, 3)[2])


def test_a_group_with_nan_has_no_sum_and_spoils_no_other() -> None:
    values = np.array([np.nan, 1e16, 1.0, -1e16])
    assert group_sums(values, np.array([0, 1, 1, 1]), 2) == pytest.approx([np.nan, 1], nan_ok=True, abs=0)


def test_no_rows() -> None:
    none = np.empty(0, np.intp)
    assert group_sums(np.empty(0), none, 2).tolist() == [0, 0]
    assert np.isnan(group_means(np.empty((0, 3)), none, 2)).all()
    assert group_varies(np.empty((0, 3)), none, 2).tolist() == [False, False]


def test_a_group_varies_if_rows_differ_in_any_column() -> None:
    # Group 0 has one row, group 1 three of which the second differs in the last column, group 2 equal rows.
    table = np.array([[1.0, 2], [5, 5], [5, 6], [5, 5], [7, 8], [7, 8]])
    assert group_varies(table, np.array([0, 1, 1, 1, 2, 2]), 4).tolist() == [False, True, False, False]


@given(st.lists(st.integers(-3, 3) | st.integers(-(2**62), 2**62), max_size=30))
def test_distinct_codes_are_those_of_a_set_from_the_least_on(codes: list[int]) -> None:
    assert distinct(np.array(codes, np.int64)).tolist() == sorted({*codes})
