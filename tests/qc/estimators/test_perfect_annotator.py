"""Tests of the perfect annotator's error, against tables 3 and 4 of Wei and Jia (2021)."""

from pathlib import Path

import numpy as np
import pytest

from qc.estimators.standard_error import (
    PerfectAnnotator,
    annotator_within_systems,
    perfect_annotator,
    published_annotator,
)
from tests.qc.support.crowd_ratings import CrowdRatings, golden


def figures(found: PerfectAnnotator) -> dict[str, float]:
    return {
        "var_h": found.variance,
        "within": found.within,
        "sd_h": found.sd,
        "sd_within": found.sd_within,
        "sd_perfect": found.sd_perfect,
        "ratio": found.ratio,
    }


def test_table_3(published: Path) -> None:
    for year in golden(published)["table3"].values():
        found = figures(PerfectAnnotator(year["var_h"], year["within"]))
        assert found["ratio"] == pytest.approx(year["ratio"], abs=1e-5)
        for name, printed in year["printed"].items():
            assert found[name] == pytest.approx(printed, abs=0.0051), name


def test_the_crowd_ratings_as_printed_and_corrected(crowd_ratings: CrowdRatings, published: Path) -> None:
    expected = golden(published)["table4_turker"]
    values, outputs, systems = crowd_ratings.values, crowd_ratings.outputs, crowd_ratings.systems
    printed = figures(published_annotator(values, outputs))
    for name, value in expected["perfect_annotator"]["published_ddof0"].items():
        assert printed[name] == pytest.approx(value, abs=1e-5), name
    for name, value in expected["printed"].items():
        assert round(printed[name], 3) == value, name
    corrected = figures(perfect_annotator(values, outputs))
    for name, value in expected["perfect_annotator"]["unbiased_ddof1"].items():
        assert corrected[name] == pytest.approx(value, abs=1e-5), name
    within = figures(annotator_within_systems(values, outputs, systems))
    for name, value in expected["within_system"].items():
        assert within[name] == pytest.approx(value, abs=1e-5), name


def test_outputs_judged_unequally_often_by_hand() -> None:
    # Output 0: 1, 3 (mean 2, squares 2); output 1: 4, 4, 7 (mean 5, squares 6); output 2: 9, alone.
    values, outputs = np.array([1.0, 3, 4, 4, 7, 9]), np.array([0, 0, 1, 1, 1, 2])
    # Beyond one of each output there are 1 + 2 + 0 judgments.
    assert perfect_annotator(values, outputs).within == pytest.approx(8 / 3)
    assert published_annotator(values, outputs).within == pytest.approx(8 / 6)


def test_without_an_output_judged_twice_nothing_is_known() -> None:
    found = perfect_annotator(np.array([1.0, 2, 4]), np.arange(3))
    assert np.isnan(found.within)
    assert np.isnan(found.sd_perfect)
    assert np.isnan(found.ratio)


def test_no_ratio_where_nothing_is_left_between_outputs() -> None:
    # Both outputs have mean 2, so all of the variance, 1, is within: 2 with divisor k − 1.
    found = perfect_annotator(np.array([1.0, 3, 1, 3]), np.array([0, 0, 1, 1]))
    assert found.variance == 1
    assert found.within == 2
    assert np.isnan(found.ratio)
