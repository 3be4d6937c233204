"""One against average."""

import json
from pathlib import Path

import numpy as np
import pytest

from qc.estimators.randomisation import against_pool, rater_profiles, within_pool


def test_two_small_pools(published: Path) -> None:
    text = (published / "estimators" / "metrics" / "golden.json").read_text(encoding="utf-8")
    case = json.loads(text)["one_against_average"]
    a, b = (np.array(case[pool], float) for pool in ("pool_a", "pool_b"))
    assert against_pool(a, b).averages == pytest.approx(case["pools"], abs=1e-5)
    assert against_pool(b, a).averages == pytest.approx(case["pools"], abs=1e-5)
    assert against_pool(a, b).single == pytest.approx(case["a_against_mean_b"], abs=1e-5)
    assert against_pool(a, b).mean == pytest.approx(case["mean_a_against_b"], abs=1e-5)
    assert within_pool(a).mean == pytest.approx(case["within_a_left_out"], abs=1e-5)
    assert within_pool(b).mean == pytest.approx(case["within_b_left_out"], abs=1e-5)
    # With the rater in the average that they are compared with, r is too high.
    assert against_pool(a, a).mean == pytest.approx(case["within_a_included"], abs=1e-5)
    assert against_pool(b, b).mean == pytest.approx(case["within_b_included"], abs=1e-5)


def test_profiles_of_raters_who_did_not_judge_every_system() -> None:
    values, raters = np.array([1.0, 3, 5, 7]), np.array([0, 0, 0, 1])
    systems = np.array([0, 0, 2, 1])
    found = rater_profiles(values, raters, systems, (2, 3))
    # Rater 0 gave system 0 a 1 and a 3, rater 1 judged system 1 alone.
    np.testing.assert_array_equal(found, [[2, np.nan, 5], [np.nan, 7, np.nan]])


def test_a_rater_of_two_systems_has_no_r() -> None:
    profiles = np.array([[1.0, 2, np.nan], [1, 2, 3], [3, 2, 1]])
    found = within_pool(profiles)
    assert np.isnan(found.single[0])
    # The others' averages without rater 1: 2, 2, 1; hers is 1, 2, 3: r = −1.5 / √(2 · 2 / 3) / … = −√3 / 2.
    assert found.single[1] == pytest.approx(-np.sqrt(3) / 2)
    # Without rater 2: 1, 2, 3 against 3, 2, 1.
    assert found.single[2] == pytest.approx(-1)
    assert found.mean == pytest.approx((-np.sqrt(3) / 2 - 1) / 2)


def test_alone_in_a_pool_nobody_can_be_compared() -> None:
    found = within_pool(np.array([[1.0, 2, 3]]))
    assert np.isnan(found.single).all()
    assert np.isnan(found.mean)
