"""Approximate randomisation within units."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.estimators.randomisation import MOST_ENUMERATED, randomise
from qc.statistics.resampling import generator


def test_the_small_case_exactly(published: Path) -> None:
    text = (published / "estimators" / "metrics" / "golden.json").read_text(encoding="utf-8")
    case = json.loads(text)["approximate_randomisation"]
    found = randomise(np.array(case["a"]), np.array(case["b"]), generator(0, "test"))
    assert found.units == 12
    assert found.exact
    assert found.exchanges == 4096
    assert found.difference == pytest.approx(case["difference"], abs=1e-6)
    assert found.p == pytest.approx(case["exact_two_sided"], abs=1e-5)


def test_the_small_case_by_draws(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (published / "estimators" / "metrics" / "golden.json").read_text(encoding="utf-8")
    case = json.loads(text)["approximate_randomisation"]
    monkeypatch.setattr("qc.estimators.randomisation.MOST_ENUMERATED", 0)
    found = randomise(np.array(case["a"]), np.array(case["b"]), generator(0, "test"), 9999)
    assert not found.exact
    assert found.exchanges == 10_000
    assert found.p == pytest.approx(case["exact_two_sided"], abs=0.005)


def test_p_is_never_0() -> None:
    many = np.arange(1.0, 41)
    found = randomise(many, np.zeros(40), generator(0, "test"), 999)
    assert found.p == 1 / 1000
    few = randomise(many[:MOST_ENUMERATED], np.zeros(MOST_ENUMERATED), generator(0, "test"))
    assert few.exact
    # Only the observed order and its mirror image are as far from 0.
    assert few.p == 2 / 2**MOST_ENUMERATED


def test_units_that_scored_one_system_take_no_part() -> None:
    first, second = np.array([3.0, np.nan, 5, 1]), np.array([1.0, 9, np.nan, 0])
    found = randomise(first, second, generator(0, "test"))
    assert found.units == 2
    assert found.difference == pytest.approx(1.5)
    assert found.p == pytest.approx(2 / 4)


def test_without_units_nothing_is_known() -> None:
    found = randomise(np.array([np.nan]), np.array([1.0]), generator(0, "test"))
    assert found.units == 0
    assert np.isnan(found.p)
    assert np.isnan(found.difference)


def test_no_difference_at_all_has_p_1() -> None:
    assert randomise(np.ones(5), np.ones(5), generator(0, "test")).p == 1
    assert randomise(np.ones(50), np.ones(50), generator(0, "test"), 99).p == 1


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=8))
def test_enumeration_counts_every_exchange(differences: list[int]) -> None:
    """Tenths make sums that floating point cannot hold: their noise must not decide which is as far."""
    observed = abs(sum(differences))
    signs = product((-1, 1), repeat=len(differences))
    as_far = sum(
        abs(sum(s * d for s, d in zip(each, differences, strict=True))) >= observed for each in signs
    )
    found = randomise(np.array(differences) / 10, np.zeros(len(differences)), generator(0, "test"))
    assert found.p == as_far / 2 ** len(differences)
