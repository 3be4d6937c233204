"""Tests of the sources of a metric's errors, pair by pair, against Wei and Jia's data."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from qc.estimators.standard_error import SystemMeans, system_means, unit_shares
from qc.planning.comparison import (
    Decomposition,
    Labels,
    decompose,
    drawn_labels,
    error_of_people,
    labels_of,
    normal_labels,
    resampled_means,
)
from qc.statistics.resampling import generator
from tests.qc.support.crowd_ratings import CrowdRatings, golden

TRIALS = 10_000


def averages(found: Decomposition) -> dict[str, float]:
    parts = {
        "error": found.error,
        "bias": found.bias,
        "c0_noise": found.noise_part,
        "c1_var": found.variance_part,
        "mean_noise": found.noise,
        "mean_var": found.variance,
    }
    return {name: float(part.mean()) for name, part in parts.items()}


def means(data: CrowdRatings) -> SystemMeans:
    return system_means(data.values, data.systems, len(data.names))


def metric_means(data: CrowdRatings, metric: str) -> SystemMeans:
    return system_means(data.metrics[metric].to_numpy(np.float64), data.output_systems, len(data.names))


def drawn(values: NDArray[np.float64], systems: NDArray[np.intp], purpose: str) -> NDArray[np.float64]:
    return resampled_means(values, systems, int(systems.max()) + 1, TRIALS, generator(0, purpose))


def test_system_means(crowd_ratings: CrowdRatings, published: Path) -> None:
    expected = golden(published)["summeval_turker"]["system_means"]
    found = dict(zip(crowd_ratings.names, means(crowd_ratings).mean, strict=True))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("way", ["normal_rows", "normal_outputs"])
def test_the_normal_form(crowd_ratings: CrowdRatings, published: Path, way: str) -> None:
    people = means(crowd_ratings)
    outputs = unit_shares(crowd_ratings.values, crowd_ratings.systems, crowd_ratings.outputs, 16)
    errors = {
        "normal_rows": people.difference_errors,
        "normal_outputs": outputs.plain_difference_errors(people.pairs),
    }
    labels = normal_labels(people.differences, errors[way])
    for metric, expected in golden(published)["summeval_turker"]["decomposition"].items():
        scores = metric_means(crowd_ratings, metric)
        found = decompose(labels, normal_labels(scores.differences, scores.difference_errors))
        assert len(found.bias) == expected[way]["pairs"]
        for name, value in averages(found).items():
            assert value == pytest.approx(expected[way][name], abs=1e-5), (metric, name)


def test_the_best_observable_error(crowd_ratings: CrowdRatings, published: Path) -> None:
    expected = golden(published)["summeval_turker"]["human"]
    people = means(crowd_ratings)
    outputs = unit_shares(crowd_ratings.values, crowd_ratings.systems, crowd_ratings.outputs, 16)
    rows = normal_labels(people.differences, people.difference_errors).wavers.mean()
    together = normal_labels(people.differences, outputs.plain_difference_errors(people.pairs)).wavers.mean()
    assert rows == pytest.approx(expected["lower_bound_rows"], abs=1e-5)
    assert together == pytest.approx(expected["lower_bound_outputs"], abs=1e-5)


def test_the_bootstrap_and_the_exchange_of_the_labels(crowd_ratings: CrowdRatings, published: Path) -> None:
    """With people's labels as the metric's and the other way round, parts are as the authors print them."""
    pairs = means(crowd_ratings).pairs
    people = labels_of(drawn(crowd_ratings.values, crowd_ratings.systems, "people"), pairs)
    for metric, given_ in golden(published)["summeval_turker"]["decomposition"].items():
        expected = given_["bootstrap_rows"]
        scores = crowd_ratings.metrics[metric].to_numpy(np.float64)
        labels = labels_of(drawn(scores, crowd_ratings.output_systems, metric), pairs)
        found, swapped = averages(decompose(people, labels)), averages(decompose(labels, people))
        for name, tolerance in (("error", 0.006), ("c0_noise", 0.006), ("bias", 0.02), ("c1_var", 0.02)):
            assert found[name] == pytest.approx(expected[name], abs=tolerance), (metric, name)
        for name in ("c0_noise", "c1_var"):
            assert swapped[name] == pytest.approx(expected[f"swapped_{name}"], abs=0.02), (metric, name)
        # Neither bias nor error can tell which is which.
        assert swapped["bias"] == found["bias"]
        assert swapped["error"] == pytest.approx(found["error"])


def test_exchanged_labels_give_the_published_table_its_impossible_row() -> None:
    """An estimator that never wavers and is not biased has no variance, but the table prints .047 for it."""
    people = Labels(np.array([True, True]), np.array([0.04, 0.054]))
    optimal = Labels(np.array([True, True]), np.zeros(2))
    assert averages(decompose(people, optimal))["c0_noise"] == pytest.approx(0.047)
    assert averages(decompose(people, optimal))["c1_var"] == 0
    assert averages(decompose(optimal, people))["c0_noise"] == 0
    assert averages(decompose(optimal, people))["c1_var"] == pytest.approx(0.047)


labels = st.tuples(st.booleans(), st.floats(0, 0.5))


@given(labels, labels)
def test_the_identity_is_exact_for_independent_labels(
    people: tuple[bool, float], metric: tuple[bool, float]
) -> None:
    chance = [settled * (1 - waver) + (not settled) * waver for settled, waver in (people, metric)]
    contradicts = chance[0] * (1 - chance[1]) + chance[1] * (1 - chance[0])
    first, second = (Labels(np.array([settled]), np.array([waver])) for settled, waver in (people, metric))
    assert decompose(first, second).error[0] == pytest.approx(contradicts, abs=1e-12)


def test_a_metric_without_noise_on_an_endless_test_set_errs_by_its_bias_alone() -> None:
    people = Labels(np.array([True, False, True]), np.zeros(3))
    metric = Labels(np.array([True, True, True]), np.zeros(3))
    assert decompose(people, metric).error.tolist() == [0, 1, 0]


def test_labels_of_draws_by_hand() -> None:
    # Of four draws the first system is higher in three, and a tie says that it is not.
    first, second = np.array([[1.0], [2], [3], [5]]), np.array([[0.0], [1], [3], [4]])
    found = drawn_labels(first, second)
    assert found.first_better.tolist() == [True]
    assert found.wavers.tolist() == [0.25]


def test_without_a_difference_the_label_is_a_tossed_coin() -> None:
    found = normal_labels(np.zeros(1), np.zeros(1))
    assert found.first_better.tolist() == [False]
    assert found.wavers.tolist() == [0.5]
    assert error_of_people(np.zeros(1), np.ones(1), 1e9) == 0.5
