"""The mixed model: against statsmodels, against closed forms, and at the edges."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from qc.statistics.mixed_model import fit_random_intercept

Data = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]


def made_up(groups: int, rows: int, group_sd: float, seed: int = 0) -> Data:
    """Return a design of four kinds and a slope, a response, and groups of very different sizes."""
    rng = np.random.default_rng(seed)
    owners = np.floor(groups * rng.random(rows) ** 2).astype(np.intp)
    design = np.column_stack([np.eye(4)[rng.integers(4, size=rows)], rng.normal(size=rows)])
    effects = rng.normal(scale=group_sd, size=groups)
    return design, design @ np.arange(5.0) + effects[owners] + rng.normal(size=rows), owners


def statsmodels_fit(design: NDArray[np.float64], response: NDArray[np.float64], groups: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at the boundary it warns
        # its default method stops short of the maximum on groups of very different sizes
        fit = sm.MixedLM(response, design, groups).fit(reml=True, method="powell", xtol=1e-10, ftol=1e-14)
    assert fit.converged
    return fit


@pytest.mark.parametrize(("groups", "rows", "sd"), [(8, 60, 1.5), (30, 200, 0.7), (200, 1500, 0.3)])
def test_equals_statsmodels(groups: int, rows: int, sd: float) -> None:
    data = made_up(groups, rows, sd)
    model, reference = fit_random_intercept(*data), statsmodels_fit(*data)
    assert model is not None
    assert model.group_variance > 0
    np.testing.assert_allclose(model.estimates, reference.fe_params, atol=1e-6)
    # statsmodels takes standard errors from a numerical Hessian, so they agree less closely
    np.testing.assert_allclose(np.sqrt(np.diag(model.covariance)), reference.bse_fe, rtol=0.02)
    assert model.group_variance == pytest.approx(reference.cov_re[0, 0], rel=1e-4)
    assert model.residual_variance == pytest.approx(reference.scale, rel=1e-4)
    assert model.log_likelihood == pytest.approx(reference.llf, abs=1e-6)
    assert model.log_likelihood >= reference.llf - 1e-9


def test_covariance_is_that_of_generalised_least_squares() -> None:
    design, response, groups = made_up(20, 90, 1.0)
    model = fit_random_intercept(design, response, groups)
    assert model is not None
    covariance = model.residual_variance * np.eye(90) + model.group_variance * (groups[:, None] == groups)
    inverse = np.linalg.inv(design.T @ np.linalg.solve(covariance, design))
    np.testing.assert_allclose(model.covariance, inverse, rtol=1e-9)
    np.testing.assert_allclose(
        model.estimates, inverse @ design.T @ np.linalg.solve(covariance, response), rtol=1e-9
    )


def test_balanced_groups_give_the_estimators_of_analysis_of_variance() -> None:
    # With k rows in each of m groups and only a mean as fixed effect, REML is E = MSW, U = (MSB - MSW) / k
    # wherever that is positive (Searle, Casella and McCulloch, section 3.8).
    rng = np.random.default_rng(3)
    table = rng.normal(size=(12, 1)) + rng.normal(size=(12, 5))
    model = fit_random_intercept(np.ones((60, 1)), table.ravel(), np.repeat(np.arange(12), 5))
    assert model is not None
    within = ((table - table.mean(axis=1, keepdims=True)) ** 2).sum() / 48
    between = 5 * ((table.mean(axis=1) - table.mean()) ** 2).sum() / 11
    assert model.residual_variance == pytest.approx(within, rel=1e-6)
    assert model.group_variance == pytest.approx((between - within) / 5, rel=1e-6)
    assert model.estimates[0] == pytest.approx(table.mean(), abs=1e-12)


def test_no_variance_between_groups_is_least_squares() -> None:
    # Within each group the response adds up to 0: the groups are more alike than chance would have them.
    rng = np.random.default_rng(4)
    table = rng.normal(size=(30, 6))
    response = (table - table.mean(axis=1, keepdims=True)).ravel()
    design = np.column_stack([np.ones(180), rng.normal(size=180)])
    model = fit_random_intercept(design, response, np.repeat(np.arange(30), 6))
    assert model is not None
    assert model.group_variance == 0.0
    reference = sm.OLS(response, design).fit()
    np.testing.assert_allclose(model.estimates, reference.params, atol=1e-12)
    np.testing.assert_allclose(model.covariance, reference.cov_params(), rtol=1e-9)


def test_dependent_columns_are_left_out() -> None:
    design, response, groups = made_up(30, 200, 0.7)
    more = np.column_stack([design[:, :4], design[:, :4].sum(axis=1), np.zeros(200), design[:, 4]])
    whole = fit_random_intercept(design, response, groups)
    model = fit_random_intercept(more, response, groups)
    assert whole is not None
    assert model is not None
    assert model.kept.tolist() == [True, True, True, True, False, False, True]
    np.testing.assert_allclose(model.estimates[model.kept], whole.estimates, rtol=1e-9)
    assert model.estimates[~model.kept].tolist() == [0.0, 0.0]
    assert np.diag(model.covariance)[~model.kept].tolist() == [0.0, 0.0]


def test_too_few_rows() -> None:
    assert fit_random_intercept(np.eye(3), np.arange(3.0), np.array([0, 0, 1])) is None
    assert fit_random_intercept(np.empty((0, 2)), np.empty(0), np.empty(0, np.intp)) is None


def test_an_exact_fit_has_no_variance() -> None:
    design = np.column_stack([np.ones(6), np.arange(6.0)])
    model = fit_random_intercept(design, design @ [2.0, 0.5], np.array([0, 0, 1, 1, 4, 4]))
    assert model is not None
    np.testing.assert_allclose(model.estimates, [2.0, 0.5], atol=1e-9)
    assert (model.group_variance, model.residual_variance) == (0.0, 0.0)
    assert model.log_likelihood == math.inf


def test_a_group_may_hold_everything_or_a_single_row() -> None:
    design, response, _ = made_up(1, 40, 0.0)
    for groups in (np.zeros(40, np.intp), np.arange(40)):
        # One group shifts all rows alike; groups of one row cannot be told from residuals: in neither case
        # does U change what is estimated.
        model = fit_random_intercept(design, response, groups)
        assert model is not None
        np.testing.assert_allclose(model.estimates[4], sm.OLS(response, design).fit().params[4], rtol=1e-6)
