"""Tests of the number of judgments that tell two systems apart, against the tables of Wei and Jia (2021)."""

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from qc.planning.power_analysis import FEWEST_JUDGMENTS, detectable_difference, power_of, sample_size


def test_all_sixty_cells_of_the_published_tables(published: Path) -> None:
    golden = json.loads((published / "estimators" / "wei_jia" / "golden.json").read_text(encoding="utf-8"))
    cells = golden["power"]["cells"]
    assert len(cells) == 60
    for cell in cells:
        size = sample_size(cell["difference"], cell["sd"])
        assert size.published == cell["published"]
        assert 2 * size.exact == pytest.approx(cell["total"], abs=1e-3)
        assert size.per_system == cell["per_system"]
        assert size.normal == pytest.approx(cell["normal"], rel=1e-3)


def test_one_point_of_a_hundred_needs_more_than_ten_thousand_judgments(published: Path) -> None:
    golden = json.loads((published / "estimators" / "wei_jia" / "golden.json").read_text(encoding="utf-8"))
    least = golden["facts"]["one_point_needs_at_least_judgments"]
    ones = [cell for cell in golden["power"]["cells"] if cell["table"] == "2" and cell["difference"] == 1]
    assert min(sample_size(1, cell["sd"]).published for cell in ones) > least


def test_the_power_is_that_of_scipys_noncentral_t() -> None:
    # Two-sided, n = 20 each, effect 0.5: both tails of the noncentral t with 38 degrees of freedom.
    shift, critical = 0.5 * math.sqrt(10), stats.t.ppf(0.975, 38)
    expected = stats.nct.sf(critical, 38, shift) + stats.nct.cdf(-critical, 38, shift)
    assert power_of(0.5, 20) == pytest.approx(expected, abs=1e-9)


def test_a_design_effect_multiplies_the_size_and_nothing_else() -> None:
    plain, clustered = sample_size(4, 25), sample_size(4, 25, design_effect=2.5)
    assert clustered.exact == pytest.approx(2.5 * plain.exact)
    assert clustered.independent == plain.independent
    assert clustered.normal == pytest.approx(2.5 * plain.normal)


def test_a_plan_is_never_short_of_a_judgment() -> None:
    size = sample_size(4, 25)
    assert size.per_system - 1 < size.exact <= size.per_system
    assert power_of(4 / 25, size.per_system) >= 0.95 > power_of(4 / 25, size.per_system - 1)


@given(
    st.floats(0.05, 2),
    st.floats(0.5, 0.99),
    st.floats(0.001, 0.2),
    st.floats(0.5, 5),
)
def test_the_difference_that_a_size_shows_is_the_one_it_was_made_for(
    effect: float, power: float, alpha: float, design_effect: float
) -> None:
    size = sample_size(effect, 1.0, power, alpha, design_effect)
    assume(size.independent > FEWEST_JUDGMENTS + 1e-6)
    back = detectable_difference(size.exact, 1.0, power, alpha, design_effect)
    assert back == pytest.approx(effect, rel=1e-6)


def test_nothing_can_be_seen_with_a_single_judgment() -> None:
    assert detectable_difference(1, 25) == math.inf
    assert detectable_difference(2, 25, design_effect=2) == math.inf
    assert math.isfinite(detectable_difference(2, 25))


@pytest.mark.parametrize("effect", [1e-4, 0.01, 1, 5, 39, 1e3, 1e6])
def test_power_grows_with_the_size_however_large_the_effect(effect: float) -> None:
    sizes = [2, 3, 10, 50, 1e3, 1e6, 1e9, 1e12]
    powers = [power_of(effect, size) for size in sizes]
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(powers))
    assert powers[-1] == pytest.approx(1)
