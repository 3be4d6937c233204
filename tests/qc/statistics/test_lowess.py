"""LOWESS: a value by hand, statsmodels on the same points, and points that show no line."""

import numpy as np
import pytest
from statsmodels.nonparametric.smoothers_lowess import lowess as reference

from qc.statistics.lowess import MOST_POINTS, lowess


def test_a_height_by_hand() -> None:
    # At 1 the three nearest points lie 0, 1 and 1 away; the two at the radius have no weight.
    # At 0: the points 0, 1, 2 with the radius 2, so the weights 1, (1 − 1/8)³ = 343/512 and 0. The line
    # through (0, 0) and (1, 3) is 0 at 0.
    x, y = np.array([0.0, 1, 2, 4]), np.array([0.0, 3, 0, 8])
    curve = lowess(x, y, share=0.75, repeats=0)
    np.testing.assert_array_equal(curve.x, x)
    np.testing.assert_allclose(curve.y[:2], [0, 3], atol=1e-12)


@pytest.mark.parametrize("digits", [3, 0])
def test_the_curve_is_that_of_another_library(digits: int) -> None:
    rng = np.random.default_rng(1)
    x = np.round(rng.uniform(0, 10, 90), digits)
    y = np.sin(x) + rng.normal(0, 0.3, 90)
    y[::17] += 3
    theirs = reference(y, x, frac=2 / 3, it=3)
    ours = lowess(x, y)
    np.testing.assert_allclose(np.interp(theirs[:, 0], ours.x, ours.y), theirs[:, 1], atol=1e-8)


def test_points_at_two_places_and_many_points() -> None:
    few = lowess(np.array([0.0] * 10 + [1.0] * 10), np.array([1.0, 3.0] * 5 + [5.0] * 10))
    np.testing.assert_allclose(few.y, [2, 5])
    x = np.linspace(0, 1, 2 * MOST_POINTS)
    many = lowess(x, 2 * x)
    np.testing.assert_allclose(many.y, 2 * many.x, atol=1e-9)
