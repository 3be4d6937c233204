"""Variances of outputs and of judgments."""

import numpy as np
import pytest

from qc.estimators.efficiency import NotEstimable, number, spread


def test_by_hand() -> None:
    # Outputs 1 and 3, 5 and 5: means 2 and 5. σ_a² = (1 + 1 + 0 + 0) / (1 + 1) = 1; the variance of the means
    # is 4.5, less σ_a² · mean(1/k) = 1/2: 4. All four: mean 3.5, variance (6.25 + .25 + 2 · 2.25) / 3 = 11/3.
    found = spread(np.array([1.0, 3, 5, 5]), np.array([0, 0, 7, 7]))
    assert (found.outputs, found.judgments) == (2, 4)
    assert found.published.sigma_f2 == pytest.approx(4.5)
    assert found.unbiased.sigma_a2 == pytest.approx(1)
    assert found.unbiased.sigma_f2 == pytest.approx(4)
    assert found.unbiased.gamma == pytest.approx(0.25)
    assert found.random_effects.sigma_f2 == pytest.approx(4)
    assert found.total_minus_within.sigma_f2 == pytest.approx(11 / 3 - 1)


def test_one_judgment_of_each_output_tells_neither_variance() -> None:
    found = spread(np.array([1.0, 2, 4]), np.arange(3))
    for each in (found.unbiased, found.random_effects):
        assert isinstance(each.sigma_a2, NotEstimable)
        assert each.sigma_a2.why == "no output was judged twice"
        assert isinstance(each.gamma, NotEstimable)
    assert np.isnan(number(found.published.gamma))


def test_no_spread_between_outputs_gives_no_gamma() -> None:
    # Means 2 and 2; σ_a² = 2: the variance of the means less its noise is −1.
    found = spread(np.array([1.0, 3, 3, 1]), np.array([0, 0, 1, 1])).unbiased
    assert found.sigma_f2 == pytest.approx(-1)
    assert isinstance(found.gamma, NotEstimable)
    assert "σ_f² comes out at 0 or below" in found.gamma.why
    assert str(found.gamma) == "not estimable"


def test_a_single_output() -> None:
    found = spread(np.array([1.0, 3]), np.array([4, 4])).unbiased
    assert found.sigma_a2 == pytest.approx(2)
    assert isinstance(found.sigma_f2, NotEstimable)


def test_the_truth_is_found() -> None:
    rng = np.random.default_rng(4)
    outputs = np.repeat(np.arange(20_000), rng.integers(1, 4, 20_000))
    values = rng.normal(0, 0.5, 20_000)[outputs] + rng.normal(0, 1, len(outputs))
    found = spread(values, outputs)
    assert found.unbiased.gamma == pytest.approx(4, rel=0.1)
    assert number(found.published.gamma) < 2
