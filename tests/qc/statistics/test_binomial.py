"""Exact statements about shares, with numbers worked out by hand."""

import math

import numpy as np
import pytest

from qc.statistics.rank_tests import chance_of_as_many, exact_interval


def test_an_interval_without_successes_or_failures_has_a_closed_form() -> None:
    # The upper end u of 0 of 5 solves (1 - u)^5 = 0.025; 5 of 5 is its mirror image.
    end = 1 - 0.025 ** (1 / 5)
    assert exact_interval(0, 5, 0.95) == (0.0, pytest.approx(end))
    assert exact_interval(5, 5, 0.95) == (pytest.approx(1 - end), 1.0)


def test_the_ends_of_an_interval_are_where_the_tails_have_half_of_the_rest() -> None:
    low, high = exact_interval(4, 6, 0.95)

    def tail(share: float, counts: range) -> float:
        return sum(math.comb(6, k) * share**k * (1 - share) ** (6 - k) for k in counts)

    assert tail(low, range(4, 7)) == pytest.approx(0.025)
    assert tail(high, range(5)) == pytest.approx(0.025)


def test_without_a_trial_there_is_no_interval() -> None:
    assert np.isnan(exact_interval(0, 0, 0.95)).all()


def test_the_chance_of_guessing_as_many() -> None:
    # Of six with four lines each: (15 * 9 + 6 * 3 + 1) / 4^6.
    assert chance_of_as_many(4, np.full(6, 0.25)) == pytest.approx(154 / 4096)
    # One of two lines and one of four: both 1/8, at least one 1 - 3/8.
    assert chance_of_as_many(2, np.array([0.5, 0.25])) == pytest.approx(1 / 8)
    assert chance_of_as_many(1, np.array([0.5, 0.25])) == pytest.approx(5 / 8)
    assert chance_of_as_many(0, np.array([0.5])) == 1.0
