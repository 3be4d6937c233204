"""Several metrics as one: the fit without an output's own judgments, and the mean with it."""

import numpy as np
import pytest

from qc.estimators.joint_metric import joint_metric, named_metrics
from qc.estimators.pool_mean import on_pool, pool_means, predictable_residuals


def test_a_fit_without_the_own_judgment_by_hand() -> None:
    # Lines through the two other points of (−c, 0), (0, 1), (c, 5) have the slopes 4/c, 5/(2c), 1/c, with
    # which the outputs lie at −4, 0, and 1.
    found = joint_metric(np.array([0.0, 1, 5]), np.arange(3), np.array([[-1.0], [0], [1]]))
    np.testing.assert_allclose(found.left_out, [-4, 0, 1], atol=1e-12)
    # The line through all three has the slope 5/(2c).
    np.testing.assert_allclose(found.fitted, [-2.5, 0, 2.5], atol=1e-12)


def test_the_short_form_is_the_fit_without_each_output() -> None:
    rng = np.random.default_rng(1)
    metrics, rated = rng.normal(size=(30, 2)), np.arange(0, 30, 3)
    means, weights = metrics[rated] @ [1.0, -2.0] + rng.normal(size=10), rng.uniform(1, 4, 10)
    found = joint_metric(means, rated, metrics, weights).left_out
    g = np.column_stack([on_pool(each) for each in metrics.T])
    design, root = np.column_stack([np.ones(30), g]), np.sqrt(weights)

    def fitted(kept: np.ndarray) -> np.ndarray:
        rows = rated[kept]
        slopes, *_ = np.linalg.lstsq(root[kept, None] * design[rows], root[kept] * means[kept])
        return np.asarray(g @ slopes[1:])

    for place, output in enumerate(rated):
        assert found[output] == pytest.approx(fitted(np.arange(10) != place)[output])
    np.testing.assert_allclose(np.delete(found, rated), np.delete(fitted(np.ones(10, bool)), rated))


def test_a_constant_and_a_repeated_metric_add_nothing() -> None:
    rng = np.random.default_rng(2)
    metric, means = rng.normal(size=20), rng.normal(size=12)
    alone = joint_metric(means, np.arange(12), metric[:, None])
    both = joint_metric(means, np.arange(12), np.column_stack([metric, 3 - 2 * metric, np.ones(20)]))
    np.testing.assert_allclose(both.left_out, alone.left_out)
    np.testing.assert_allclose(both.fitted, alone.fitted)


def test_names_of_metrics() -> None:
    assert named_metrics("a+b", ["a", "b"]) == ("a", "b")
    assert named_metrics("bleu+1", ["bleu+1"]) == ("bleu+1",)


def test_two_predictable_slopes_by_hand() -> None:
    values = np.array([1.0, 2, 4, 0])
    metrics = np.array([[1.0, 0], [-1, 1], [2, 0], [0.5, 2]])
    # Of the first three, whose mean value is 7/3: (1 − 2 + 8)/3 − 7/3 · 2/3 = 7/9 and 2/3 − 7/3 · 1/3 = −1/9.
    found = predictable_residuals(values, metrics, np.eye(2))
    np.testing.assert_allclose(found, [1, 2, 4, 0 - 7 / 9 * 0.5 + 1 / 9 * 2])


def test_judgments_weigh_by_the_inverse_of_their_probability_by_hand() -> None:
    pool, outputs = np.array([1.0, -1, 1, -1]), np.array([0, 1])
    chances = np.array([0.5, 0.25, np.nan, np.nan])
    plain, varied = pool_means(np.array([0.0, 4]), outputs, outputs, pool, 0.95, chances)
    # Weights 2 and 4 of 6: ȳ = 8/3, α = 1/3 · (−8/3) − 2/3 · 4/3 = −16/9, μ̃ = 1/3 · 16/9 + 2/3 · (4 − 16/9).
    assert plain.estimate == pytest.approx(8 / 3)
    assert varied.estimate == pytest.approx(56 / 27)
    same, _ = pool_means(np.array([0.0, 4]), outputs, outputs, pool, 0.95, np.full(4, 0.3))
    none, _ = pool_means(np.array([0.0, 4]), outputs, outputs, pool, 0.95)
    assert same.estimate == pytest.approx(none.estimate)
    assert same.clustered.se == pytest.approx(none.clustered.se)
