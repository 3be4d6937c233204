"""Means over people, their intervals and ranks, by hand."""

import numpy as np
import pytest

from qc.statistics.clustered_means import difference_errors, person_means, rank_ranges

NOBODY = np.nan


def test_means_and_intervals() -> None:
    found = person_means(np.array([[1.0, 5.0], [3.0, NOBODY], [NOBODY, NOBODY]]))
    assert found.raters.tolist() == [2, 1]
    assert found.mean.tolist() == [2.0, 5.0]
    # sd √2, standard error 1; t with 1 degree of freedom at 97.5 % is 12.706.
    assert found.high[0] - found.mean[0] == pytest.approx(12.706, abs=1e-3)
    assert np.isnan(found.low[1])


def test_errors_of_differences_know_who_rated_both() -> None:
    both = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]])
    assert difference_errors(both)[0, 1] == pytest.approx(0, abs=1e-12)  # everybody sees the same difference
    apart = np.array([[1.0, NOBODY], [3.0, NOBODY], [NOBODY, 2.0], [NOBODY, 4.0]])
    assert difference_errors(apart)[0, 1] == pytest.approx(np.sqrt(2))  # each has the standard error 1


def test_ranks_are_open_where_systems_cannot_be_told_apart() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal([2.0, 0.0, 0.0, 5.0], 0.5, (40, 4))
    values[:, 3] = NOBODY
    low, high = rank_ranges(values)
    assert low.tolist() == [1, 2, 2, 0]
    assert high.tolist() == [1, 3, 3, 0]
