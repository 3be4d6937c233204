"""Tests of draws of true means, given observed means with errors of unequal size."""

import numpy as np
import pytest
from scipy.stats import kstest

from qc.statistics.correlation import pearson_of_rows
from qc.statistics.mixed_model import true_means

DRAWS = 1000


def test_observed_means_are_drawn_in_by_the_share_of_their_errors() -> None:
    # Errors of variance 1; observed variance 3 with 201 means, where χ²/200 is nearly 1: τ² ≈ 2, ρ ≈ 2/3.
    observed = np.linspace(-1, 1, 201)
    observed *= np.sqrt(3 / observed.var(ddof=1))
    drawn = true_means(observed, np.ones((DRAWS, 201)), np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), observed * 2 / 3, rtol=0, atol=0.1)
    # Around it ρ e = 2/3.
    assert drawn[:, 100].var() == pytest.approx(2 / 3, rel=0.1)


def test_errors_larger_than_what_is_seen_leave_no_differences() -> None:
    observed = np.array([0.0, 0.01, 0.02])
    drawn = true_means(observed, np.ones((DRAWS, 3)), np.random.default_rng(0))
    # Q(0) is 0.0002: χ²(2) lies below that in 1 of 10,000 draws, and else all true means are m.
    assert (np.ptp(drawn, axis=1) < 1e-12).mean() > 0.998
    assert drawn[:, 0].std() == pytest.approx(np.sqrt(1 / 3), rel=0.1)


def test_without_errors_all_that_is_seen_is_true() -> None:
    observed = np.array([0.0, 1.0, 5.0])
    drawn = true_means(observed, np.zeros((10, 3)), np.random.default_rng(0))
    np.testing.assert_allclose(drawn, np.tile(observed, (10, 1)), atol=1e-4)


def test_a_true_mean_is_anywhere_among_its_draws_as_often_as_anywhere_else() -> None:
    """Means of variance 4, errors of variance 1 or 9: their place among the draws is uniform."""
    rng, places = np.random.default_rng(0), []
    errors = np.where(np.arange(12) % 2, 1.0, 9.0)
    for _ in range(300):
        true = rng.normal(0, 2, 12)
        observed = true + rng.normal(0, np.sqrt(errors))
        drawn = true_means(observed, np.tile(errors, (199, 1)), rng)
        places.append((drawn < true).mean(axis=0))
    # Of one mean a run, so that they are independent.
    for system in (0, 1):
        assert kstest(np.array(places)[:, system], "uniform").pvalue > 0.01


def test_cautious_draws_do_not_make_close_systems_too_different() -> None:
    """Of true means of variance 0.1 under errors of variance 1: usual draws foretell too much agreement."""
    below = {False: 0, True: 0}
    for run in range(400):
        rng = np.random.default_rng([1, run])
        true = rng.normal(0, np.sqrt(0.1), 10)
        first, second = true + rng.normal(size=(2, 10))
        for cautious in below:
            errors = rng.normal(size=(200, 10))
            drawn = true_means(first, np.ones((200, 10)), rng, cautious=cautious) + errors
            lowest = np.quantile(pearson_of_rows(first, drawn), 0.025)
            below[cautious] += pearson_of_rows(first, second[None])[0] < lowest
    assert below[True] < below[False]
    # 2.5 % of 400 is 10 with a standard deviation of 3.1.
    assert below[True] <= 19
