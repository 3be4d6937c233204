"""Tests of draws of true differences from observed ones, where the true differences may be zero."""

import numpy as np
import pytest
from scipy.integrate import quad

from qc.statistics.mixed_model import shares_if_any

COUNT = 20_000


def test_of_three_equal_means_two_in_three_draws_say_that_nothing_differs() -> None:
    # Seen are no differences at all, q = 0. Of ρ = 0 that has the density 1, of any other (1 - ρ)^(2/2), on
    # average ∫ (1 - ρ) dρ = 1/2; so ρ = 0 has 1 / (1 + 1/2), and the rest has the density 2 (1 - ρ).
    drawn = shares_if_any(np.zeros(3), 1.0, COUNT, np.random.default_rng(0))
    assert drawn.shape == (COUNT, 1)
    assert (drawn == 0).mean() == pytest.approx(2 / 3, abs=0.01)
    assert drawn[drawn > 0].mean() == pytest.approx(1 / 3, abs=0.01)


def test_draws_have_the_density_of_the_formula() -> None:
    observed = np.arange(4.0)  # v = 5/3, so with e = 1 q = 5
    drawn = shares_if_any(observed, 1.0, COUNT, np.random.default_rng(0))

    def density(rho: float) -> float:
        return float((1 - rho) ** 1.5 * np.exp(-(1 - rho) * 2.5))

    whole = quad(density, 0, 1)[0]
    assert (drawn == 0).mean() == pytest.approx(density(0) / (density(0) + whole), abs=0.01)
    for low, high in ((0, 0.3), (0.3, 0.6), (0.6, 1)):
        share = ((drawn > low) & (drawn <= high)).sum() / (drawn > 0).sum()
        assert share == pytest.approx(quad(density, low, high)[0] / whole, abs=0.015)


def test_without_error_all_differences_are_true() -> None:
    drawn = shares_if_any(np.arange(4.0), 0.0, 100, np.random.default_rng(0))
    np.testing.assert_allclose(drawn, 1, atol=1e-4)
