"""Standard errors of means and differences, whichever judgments hang together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.estimators.standard_error import (
    effects_on_differences,
    effects_on_means,
    error_of_record,
    pooled_effect,
    system_means,
    unit_shares,
)

# Two workers judge both systems twice: worker 0 is strict, worker 1 lenient.
VALUES = np.array([1.0, 3, 2, 4, 5, 7, 8, 10])
SYSTEMS = np.array([0, 0, 1, 1, 0, 0, 1, 1])
WORKERS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def test_by_hand() -> None:
    found = system_means(VALUES, SYSTEMS, 2)
    # Means 4 and 6; residuals −3, −1, 1, 3 and −4, −2, 2, 4: variances 20 / 4 and 40 / 4.
    assert found.mean.tolist() == [4, 6]
    assert found.variance.tolist() == [5, 10]
    assert found.differences.tolist() == [-2]
    assert found.difference_errors == pytest.approx([np.sqrt((5 + 10) / 4)])
    # Shares: worker 0 adds −4/4 and −6/4, worker 1 the opposite; U / (U − 1) = 2.
    workers = unit_shares(VALUES, SYSTEMS, WORKERS, 2)
    assert workers.shares.tolist() == [[-1, -1.5], [1, 1.5]]
    assert workers.mean_errors == pytest.approx([np.sqrt(2 * 2), np.sqrt(2 * 4.5)])
    assert workers.difference_errors(found.pairs) == pytest.approx([np.sqrt(2 * 0.5)])
    assert workers.plain_difference_errors(found.pairs) == pytest.approx([np.sqrt(0.5)])


def test_design_effects_by_hand() -> None:
    means, workers = system_means(VALUES, SYSTEMS, 2), unit_shares(VALUES, SYSTEMS, WORKERS, 2)
    # Independent squares with n − 1: 5 / 3 and 10 / 3; over workers 4 and 9, of the difference 1.
    assert effects_on_means(means, workers) == pytest.approx([4 / (5 / 3), 9 / (10 / 3)])
    # The workers' strictness cancels in the difference.
    assert effects_on_differences(means, workers) == pytest.approx([1 / 5])
    assert pooled_effect(means, workers) == pytest.approx(1 / 5)


def test_one_worker_does_not_tell_how_much_workers_differ() -> None:
    means, workers = system_means(VALUES, SYSTEMS, 2), unit_shares(VALUES, SYSTEMS, np.zeros(8, int), 2)
    assert np.isnan(effects_on_means(means, workers)).all()
    assert np.isnan(pooled_effect(means, workers))


def test_equal_judgments_have_no_design_effect() -> None:
    means = system_means(np.ones(8), SYSTEMS, 2)
    assert np.isnan(effects_on_means(means, unit_shares(np.ones(8), SYSTEMS, WORKERS, 2))).all()


@given(st.lists(st.tuples(st.floats(-100, 100), st.integers(0, 2)), min_size=6, max_size=40))
def test_with_a_worker_for_each_judgment_there_is_no_design_effect(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows])
    systems = np.unique([system for _, system in rows], return_inverse=True)[1]
    count = int(systems.max()) + 1
    means = system_means(values, systems, count)
    workers = unit_shares(values, systems, np.arange(len(values)), count)
    effects = effects_on_means(means, workers)
    known = (means.count > 1) & (means.variance > 1e-9)
    assert effects[known] == pytest.approx(1)


def test_the_error_of_record_by_hand() -> None:
    quarter, contributions = np.full(4, 0.25), np.array([2.0, -1, -1, 0])
    found = error_of_record(contributions, quarter, np.array([0, 1, 1, 1]), np.arange(4))
    # Sums 2 and −2 of workers with 1/4 and 3/4 of the weight: (2 − 1)/2 · ((2 ÷ 3/4)² + (2 ÷ 1/4)²) = 320/9,
    # and 1 ÷ (1/16 + 9/16) = 1.6 workers.
    assert found.se == pytest.approx(np.sqrt(320 / 9))
    assert np.isnan(found.reach(0.95))  # of fewer than five there is no interval
    pairs = np.array([0, 0, 1, 1])
    alone = error_of_record(np.array([1.0, 1, -1, -1]), quarter, pairs, np.arange(4), added=2.0)
    assert alone.se == pytest.approx(np.sqrt(2 / 1 * 8 + 2))  # the usual factor where all judged as much
    # Each worker's sum is 0; each output's is ±3: 2 · 18, less 4/3 · 10 of the single judgments.
    crossed = error_of_record(np.array([1.0, -1, 2, -2]), quarter, pairs, np.array([0, 1, 0, 1]))
    assert crossed.se == pytest.approx(np.sqrt(36 - 40 / 3))


def test_the_degrees_of_freedom_of_record_by_hand() -> None:
    five, fifth = np.arange(5), np.full(5, 0.2)
    each = error_of_record(np.array([2.0, 1, 0, -1, -2]), fifth, five, five)
    assert each.degrees == pytest.approx(4)
    # Five workers judge the same two outputs. Workers' sums 4, 2, 0, −2, −4, by 4/5 · (5/4)²: 50. Outputs'
    # sums ±15, by 2: 900, less 10/9 · 110 of the single judgments. They have 4, 1 and 9 degrees of freedom.
    both = np.array([5.0, -1, 4, -2, 3, -3, 2, -4, 1, -5])
    found = error_of_record(both, np.full(10, 0.1), np.repeat(five, 2), np.tile([0, 1], 5))
    across = 900 - 1100 / 9
    assert found.se == pytest.approx(np.sqrt(50 + across))
    assert found.degrees == pytest.approx((50 + across) ** 2 / (50**2 / 4 + 900**2 + (1100 / 9) ** 2 / 9))
