"""What hangs together in clusters: by hand, against least squares with clusters, and under the null."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.typing import NDArray
from scipy.stats import f

from qc.statistics.clustered import level_means, robust_covariance, wald
from qc.statistics.mixed_model import MixedModel, fit_random_intercept


def clustered(seed: int, balanced: bool) -> pd.DataFrame:
    """Return values of 60 workers who each meet 4 levels, worker effects and noise but no level effects."""
    rng = np.random.default_rng(seed)
    worker = np.repeat(np.arange(60), 4)
    level = np.tile(np.arange(4), 60)
    system = (worker % 3) if balanced else rng.integers(3, size=240)
    slope = rng.normal(size=60)[worker] * (level == 2)  # makes the spread of a worker's values uneven
    value = system + rng.normal(size=60)[worker] + slope + rng.normal(size=240)
    return pd.DataFrame({"value": value, "level": level, "system": system, "worker": worker})


def of_levels(data: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return level_means(
        data["value"].to_numpy(),
        data["level"].to_numpy(),
        data["system"].to_numpy(),
        data["worker"].to_numpy(),
    )


def test_means_by_hand() -> None:
    # system 0: values 1, 3 (mean 2); system 1: 10, 20, 30 (mean 20)
    means, covariance = level_means(
        np.array([1.0, 3.0, 10.0, 20.0, 30.0]),
        np.array([0, 1, 0, 1, 1]),
        np.array([0, 0, 1, 1, 1]),
        np.array([0, 1, 0, 1, 2]),
    )
    # level 0: (1 - 2 + 10 - 20) / 2 = -5.5; level 1: (3 - 2 + 20 - 20 + 30 - 20) / 3 = 11 / 3
    np.testing.assert_allclose(means, [-5.5, 11 / 3])
    # residuals: 4.5, -8/3, -4.5, -11/3, 19/3. Level 0's rows of A: (1 - 1/2, -1/2, 1 - 1/3, -1/3, -1/3) / 2.
    # Worker 0: (4.5 / 2 - 4.5 × 2 / 3) / 2 = -0.375; worker 1: (8/6 + 11/9) / 2 = 23/18; worker 2: -19/18.
    variance = (0.375**2 + (23 / 18) ** 2 + (19 / 18) ** 2) * 3 / 2
    assert covariance[0, 0] == pytest.approx(variance)


def test_equals_least_squares_with_clusters_in_a_balanced_design() -> None:
    data = clustered(seed=1, balanced=True)
    means, covariance = of_levels(data)
    # Each system is met equally often at each level, so the means are the coefficients of sum coding.
    fit = smf.ols("value ~ C(system) + C(level, Sum)", data).fit(
        cov_type="cluster", cov_kwds={"groups": data["worker"], "use_correction": False}
    )
    terms = [name for name in fit.params.index if "level" in name]
    np.testing.assert_allclose(means[:3], fit.params[terms], atol=1e-12)
    np.testing.assert_allclose(covariance[:3, :3], fit.cov_params().loc[terms, terms] * 60 / 59, rtol=1e-9)


def test_weighted_means_cancel() -> None:
    data = clustered(seed=2, balanced=False)
    means, covariance = of_levels(data)
    sizes = np.bincount(data["level"])
    assert means @ sizes == pytest.approx(0, abs=1e-10)
    np.testing.assert_allclose(covariance @ sizes, 0, atol=1e-10)


def test_the_test_keeps_its_level() -> None:
    # 600 data sets without effect: the number of p < 0.05 is binomial, mean 30, sd 5.3; without regard to
    # workers it would be far outside, because level 2 varies more between workers.
    rejected = 0
    for seed in range(600):
        means, covariance = of_levels(clustered(seed, balanced=False))
        statistic = means[:3] @ np.linalg.solve(covariance[:3, :3], means[:3]) / 3
        rejected += f.sf(statistic, 3, 59) < 0.05
    assert 14 <= rejected <= 50


def test_wald_of_two_levels_is_the_square_of_t() -> None:
    # Means of levels of 1 and 3 rows, whose weighted sum is 0: t = 0.6 / √0.04 = 3, F = 9.
    means, covariance = np.array([0.6, -0.2]), np.array([[0.04, -0.04 / 3], [-0.04 / 3, 0.04 / 9]])
    name, statistic, p = wald(means, covariance, 20)
    assert name == "F(1, 20)"
    assert statistic == pytest.approx(9)
    assert p == pytest.approx(f.sf(9, 1, 20))
    for unknown in (np.full((2, 2), np.nan), np.zeros((2, 2))):
        assert np.isnan(wald(means, unknown, 20)[1:]).all()


def fitted(
    design: NDArray[np.float64], response: NDArray[np.float64], groups: NDArray[np.intp]
) -> tuple[MixedModel, NDArray[np.float64]]:
    model = fit_random_intercept(design, response, groups)
    assert model is not None
    return model, robust_covariance(model, design, response, groups)


def of_40_groups(shift: float, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return a design with a slope that varies between groups, a response, and groups of uneven sizes.

    Each group's rows are shifted by a random number of this spread, or, if 0, to a mean of 0.
    """
    rng = np.random.default_rng(seed)
    groups = np.sort(np.floor(40 * rng.random(300) ** 1.3).astype(np.intp))
    design = np.column_stack([np.eye(3)[rng.integers(3, size=300)], rng.normal(size=300)])
    slopes = rng.normal(size=40)[groups] * design[:, 3]
    response = slopes + rng.normal(size=300) + shift * rng.normal(size=40)[groups]
    if shift == 0:
        response -= (np.bincount(groups, response, 40) / np.maximum(np.bincount(groups, minlength=40), 1))[
            groups
        ]
    return design, response, groups


def test_without_variance_between_groups_it_is_that_of_least_squares_with_clusters() -> None:
    design, response, groups = of_40_groups(shift=0)
    model, covariance = fitted(design, response, groups)
    assert model.group_variance == 0
    count = len(np.unique(groups))
    fit = sm.OLS(response, design).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    np.testing.assert_allclose(model.estimates, fit.params, atol=1e-12)
    np.testing.assert_allclose(covariance, fit.cov_params() * count / (count - 1), rtol=1e-9)
    # The slope differs between groups: taking rows as independent is far too sure of it.
    assert covariance[3, 3] > 2 * model.covariance[3, 3]


def test_with_variance_between_groups_it_is_that_of_whitened_rows() -> None:
    design, response, groups = of_40_groups(shift=1.5)
    model, covariance = fitted(design, response, groups)
    assert model.group_variance > 0.5
    same = groups[:, None] == groups
    v = model.residual_variance * np.eye(300) + model.group_variance * same
    inverse = np.linalg.inv(v)
    weighted = inverse @ (response - design @ model.estimates)
    sums = np.stack([design[groups == g].T @ weighted[groups == g] for g in np.unique(groups)])
    bread, count = np.linalg.inv(design.T @ inverse @ design), len(sums)
    expected = bread @ (sums.T @ sums) @ bread * count / (count - 1)
    np.testing.assert_allclose(covariance, expected, rtol=1e-7)


def test_columns_left_out_few_clusters_and_exact_fits() -> None:
    design, response, groups = of_40_groups(shift=1.0)
    covariance = fitted(design, response, groups)[1]
    wider, spread = fitted(np.column_stack([design, design[:, 0]]), response, groups)
    assert wider.kept.tolist() == [True] * 4 + [False]
    np.testing.assert_allclose(spread[:4, :4], covariance)
    assert not spread[4].any()
    few = fitted(design, response, groups % 4)[1]  # 4 clusters, 4 columns
    assert np.isnan(few).all()
    assert np.isfinite(fitted(design, response, groups % 5)[1]).all()
    exact = fitted(design, design @ np.arange(4.0), groups)[1]
    assert not exact.any()
