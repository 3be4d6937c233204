"""Tests of a metric's worth in human judgments, against Wei and Jia's data."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from qc.estimators.standard_error import perfect_annotator, published_annotator, system_means
from qc.planning.comparison import error_curve, error_of_people, judgments_worth
from tests.qc.support.crowd_ratings import CrowdRatings, golden

Differences = tuple[NDArray[np.float64], NDArray[np.float64]]


@pytest.fixture
def people(crowd_ratings: CrowdRatings) -> Differences:
    found = system_means(crowd_ratings.values, crowd_ratings.systems, len(crowd_ratings.names))
    first, second = found.pairs
    return found.differences, found.variance[first] + found.variance[second]


def test_every_metric_of_the_crowd_ratings(people: Differences, published: Path) -> None:
    for expected in golden(published)["summeval_turker"]["decomposition"].values():
        bias = expected["normal_rows"]["pairs"] * expected["normal_rows"]["bias"]
        worth = judgments_worth(round(bias) / 120, *people)
        assert worth == pytest.approx(expected["break_even_judgments"], rel=0.005)


def test_how_often_people_err(people: Differences, crowd_ratings: CrowdRatings, published: Path) -> None:
    expected = golden(published)["summeval_turker"]["human"]
    ratios = {
        "error_true": 1.0,
        "perfect_annotator_error_true": perfect_annotator(crowd_ratings.values, crowd_ratings.outputs).ratio,
        "perfect_annotator_error_true_published_ratio": published_annotator(
            crowd_ratings.values, crowd_ratings.outputs
        ).ratio,
    }
    for name, ratio in ratios.items():
        sizes = [float(size) for size in expected[name]]
        found = error_curve(*people, [ratio * size for size in sizes])
        assert found == pytest.approx(list(expected[name].values()), abs=1e-5), name


def test_at_its_worth_people_err_as_often_as_the_metric(people: Differences) -> None:
    assert error_of_people(*people, judgments_worth(0.3, *people)) == pytest.approx(0.3)


def test_a_metric_worse_than_a_coin_is_worth_nothing(people: Differences) -> None:
    assert judgments_worth(0.6, *people) == 0


def test_no_number_of_judgments_is_as_good_as_a_metric_without_bias(people: Differences) -> None:
    assert judgments_worth(0, *people) == math.inf
