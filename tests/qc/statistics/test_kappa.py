"""Cohen's κ of a scale cut into categories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.statistics.correlation import category, kappa


def test_the_last_category_holds_the_end_of_the_scale() -> None:
    values = np.array([0, 24, 25, 49, 50, 75, 99, 100])
    assert category(values, 100, 4).tolist() == [1, 1, 2, 2, 3, 4, 4, 4]
    assert category(np.array([0, 9, 10, 30, 70, 100]), 100, 10).tolist() == [1, 1, 2, 4, 8, 10]


def test_by_hand() -> None:
    # Halves: (1, 1), (1, 2), (2, 2), (2, 2). Agree 3/4; by chance 1/2 · 1/4 + 1/2 · 3/4 = 1/2.
    found = kappa(np.array([10, 40, 60, 90]), np.array([20, 60, 70, 100]), 100, 2)
    assert (found.pairs, found.observed, found.expected) == (4, 0.75, 0.5)
    assert found.kappa == pytest.approx(0.5)


def test_where_chance_always_agrees_there_is_no_kappa() -> None:
    found = kappa(np.array([10, 20]), np.array([20, 30]), 100, 2)
    assert (found.observed, found.expected) == (1, 1)
    assert np.isnan(found.kappa)


def test_without_pairs_there_is_nothing() -> None:
    found = kappa(np.array([]), np.array([]), 100, 5)
    assert found.pairs == 0
    assert np.isnan([found.observed, found.expected, found.kappa]).all()


@given(st.lists(st.integers(0, 100), min_size=2, max_size=40), st.sampled_from([2, 4, 5, 10]))
def test_the_same_ratings_twice_agree_wholly(values: list[int], categories: int) -> None:
    found = kappa(np.array(values), np.array(values), 100, categories)
    assert found.observed == 1
    assert np.isnan(found.kappa) if found.expected == 1 else found.kappa == pytest.approx(1)
