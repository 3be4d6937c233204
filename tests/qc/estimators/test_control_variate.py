"""Means with a metric as control variate: identities, and what cannot be estimated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.estimators.efficiency import (
    JudgmentSpread,
    NotEstimable,
    cap,
    efficiency,
    in_pool,
    number,
    published_perfect_metric,
    spread,
)
from qc.estimators.pool_mean import (
    control_variate,
    on_pool,
    pool_means,
    predictable_residuals,
    resampled_means,
)
from qc.estimators.standard_error import worker_effect

SIZES = st.integers(3, 40)


@given(SIZES, st.integers(0, 2**31))
def test_a_pool_rated_throughout_gives_the_mean_and_no_gain(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    outputs = np.repeat(np.arange(size), rng.integers(1, 4, size))
    values, workers = rng.normal(size=len(outputs)), rng.integers(0, 4, len(outputs))
    pool = on_pool(rng.normal(size=size) + np.bincount(outputs, values))
    plain, varied = pool_means(values, outputs, workers, pool, 0.95)
    assert varied.estimate == plain.estimate
    assert varied.clustered.se == pytest.approx(plain.clustered.se, nan_ok=True)
    assert varied.normal.se == pytest.approx(plain.normal.se, rel=1 / size)
    assert in_pool(0.9, size, size) == 1


@given(SIZES, st.integers(0, 2**31))
def test_the_sign_and_the_scale_of_a_metric_do_not_matter(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    metric, values = rng.normal(size=2 * size), rng.normal(size=size)
    one, other = (
        control_variate(values, on_pool(each)[:size], len(each)) for each in (metric, 7 - 3 * metric)
    )
    assert one.estimate == pytest.approx(other.estimate, abs=1e-9)
    assert one.alpha == pytest.approx(-other.alpha, abs=1e-9)
    assert one.se_estimate == pytest.approx(other.se_estimate)


def test_independent_judgments_by_a_worker_each_have_the_error_of_the_formula() -> None:
    rng = np.random.default_rng(1)
    pool = on_pool(rng.normal(size=900))
    values = 0.8 * pool[:300] + rng.normal(size=300)
    plain, varied = pool_means(values, np.arange(300), np.arange(300), pool, 0.95)
    assert plain.clustered.se == pytest.approx(plain.normal.se)
    # s_e² / n + α² / N: the pool's own metrics vary about 1, so the two agree only nearly.
    assert varied.clustered.se == pytest.approx(varied.normal.se, rel=0.02)
    assert varied.clustered.width < plain.clustered.width


def test_one_judgment_of_an_output_is_as_good_as_several_for_the_efficiency() -> None:
    rng = np.random.default_rng(2)
    quality = rng.normal(size=30_000)
    g = on_pool(quality + rng.normal(size=30_000))
    outputs = np.repeat(np.arange(30_000), 2)
    values = quality[outputs] + rng.normal(size=60_000)
    twice = efficiency(values, outputs, g[outputs], spread(values, outputs).unbiased)
    once = efficiency(values[::2], outputs[::2], g, spread(values[::2], outputs[::2]).unbiased)
    # r = 1 / (√2 √2) = ½, so DE = 4/3 by both formulas; ρ = 1/√2.
    assert number(twice.de) == pytest.approx(4 / 3, rel=0.02)
    assert number(once.de) == pytest.approx(4 / 3, rel=0.02)
    assert number(twice.de_from_rho) == pytest.approx(4 / 3, rel=0.02)
    assert number(twice.rho) == pytest.approx(np.sqrt(0.5), rel=0.02)
    assert isinstance(once.rho, NotEstimable)
    assert isinstance(once.de_from_rho, NotEstimable)


def test_bounds() -> None:
    # γ = 2: a perfect metric saves at most (1 + 2) / 2; without noise of workers there is no bound.
    assert cap(JudgmentSpread(2.0, 1.0, 2.0)) == pytest.approx(1.5)
    assert isinstance(cap(JudgmentSpread(0.0, 1.0, 0.0)), NotEstimable)
    nothing = NotEstimable("no output was judged twice")
    assert cap(JudgmentSpread(nothing, nothing, nothing)) is nothing
    assert isinstance(published_perfect_metric(np.array([1.0, 2.0]), np.array([0, 1])), NotEstimable)


def test_rho_beyond_one_is_no_number() -> None:
    values, outputs = np.array([0.0, 4, 1, 3, 2, 5.4]), np.array([0, 0, 1, 1, 2, 2])
    g = on_pool(np.array([2.0, 2, 3.7]))[outputs]
    found = efficiency(values, outputs, g, JudgmentSpread(5.0, 0.1, 50.0))
    assert isinstance(found.rho, NotEstimable)
    assert isinstance(found.de, float)


def test_a_constant_metric_saves_nothing_and_says_so() -> None:
    constant = on_pool(np.full(4, 0.1))
    assert (constant == 0).all()
    values = np.arange(4.0)
    found = efficiency(values, np.arange(4), constant, spread(values, np.arange(4)).unbiased)
    assert isinstance(found.de, NotEstimable)
    assert found.de.why == "the metric is the same for all outputs"
    flat = efficiency(np.ones(4), np.arange(4), on_pool(values), spread(values, np.arange(4)).unbiased)
    assert isinstance(flat.de, NotEstimable)


def test_the_predictable_slope_uses_what_came_before() -> None:
    values, metric = np.array([1.0, 2, 4, 0]), np.array([1.0, -1, 2, 0.5])
    # α of the first two: mean(yg) − ȳ ḡ = −½ − 0; of the first three: (1 − 2 + 8)/3 − 7/3 · 2/3 = 7/9.
    expected = [1, 2, 4 + 0.5 * 2, 0 - 7 / 9 * 0.5]
    np.testing.assert_allclose(predictable_residuals(values, metric), expected)
    np.testing.assert_array_equal(predictable_residuals(values[:1], metric[:1]), [1])


def test_the_predictable_version_is_unbiased_where_the_fitted_one_is_not() -> None:
    rng = np.random.default_rng(6)
    fitted, predictable = [], []
    for _ in range(20_000):
        g = rng.exponential(size=5) - 1
        y = g**2
        fitted.append(control_variate(y, g, 10**9).estimate)
        predictable.append(predictable_residuals(y, g).mean())
    # E g² = 1 for an exponential less its mean.
    assert np.mean(predictable) == pytest.approx(1, abs=0.05)
    assert abs(np.mean(fitted) - 1) > 0.2


def test_workers_who_differ_widen_the_interval_and_unknown_ones_leave_none() -> None:
    rng = np.random.default_rng(3)
    workers = np.repeat(np.arange(20), 10)
    values = rng.normal(size=20)[workers] + 0.3 * rng.normal(size=200)
    nothing = np.zeros(200)
    effect = worker_effect(values, nothing, workers)
    assert effect.se_cluster_mean > 2 * effect.se_iid_mean
    assert effect.de_iid == effect.de_cluster == 1
    plain, _ = pool_means(values, np.arange(200), workers, nothing, 0.95)
    assert plain.clustered.se == pytest.approx(effect.se_cluster_mean)
    unknown, _ = pool_means(values, np.arange(200), None, nothing, 0.95)
    assert np.isnan(unknown.clustered.low)
    alone, _ = pool_means(values, np.arange(200), np.zeros(200, np.intp), nothing, 0.95)
    assert np.isnan(alone.clustered.high)


def test_resampling_agrees_with_the_formula_for_a_pool_that_ends() -> None:
    rng = np.random.default_rng(8)
    pool = on_pool(rng.normal(size=1000))
    g = pool[:400]
    values = g + rng.normal(size=400)
    alike, outputs = np.ones(400), np.arange(400)
    plain, varied = resampled_means(values, g, alike, outputs, pool[400:], 0.95, 4000, rng)
    formula = control_variate(values, g, 1000)
    assert plain.se == pytest.approx(formula.se_mean, rel=0.05)
    assert varied.se == pytest.approx(formula.se_estimate, rel=0.05)
    assert varied.low < formula.estimate < varied.high
    whole, same = resampled_means(values, g, alike, outputs, pool[:0], 0.95, 200, rng)
    assert whole == same
    alone, _ = resampled_means(values, g, alike, np.zeros(400, np.intp), pool[400:], 0.95, 100, rng)
    assert np.isnan(alone.low)
