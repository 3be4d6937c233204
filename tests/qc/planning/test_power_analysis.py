"""From judgments to how many of them a conclusion costs; sizes against the tables of Wei and Jia (2021)."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from qc.errors import EmptyRunError, OptionError
from qc.planning.comparison import (
    BOOTSTRAP,
    JUDGMENTS,
    OUTPUTS,
    WORKERS,
    Decomposition,
    are_apart,
    compare,
)
from qc.planning.opinion import SystemOpinion
from qc.planning.power_analysis import (
    FEWEST_JUDGMENTS,
    INDEPENDENT,
    OUTPUTS_AS_HERE,
    PlanOptions,
    PowerAnalysis,
    analyse_power,
    data_hash,
    detectable_difference,
    plan_power,
    power_of,
    power_steps,
    sample_size,
)
from tests.qc.support.crowd_ratings import golden

DRAWS = 10_000


@pytest.fixture(scope="session")
def crowd(crowd_opinion: SystemOpinion) -> PowerAnalysis:
    return analyse_power(crowd_opinion, PlanOptions(), DRAWS, 0)


def parts(found: Decomposition) -> dict[str, float]:
    return {
        "error": float(found.error.mean()),
        "bias": float(found.bias.mean()),
        "c0_noise": float(found.noise_part.mean()),
        "c1_var": float(found.variance_part.mean()),
    }


def test_every_metric_of_the_crowd_ratings_in_every_convention(crowd: PowerAnalysis, published: Path) -> None:
    expected = golden(published)["summeval_turker"]["decomposition"]
    assert {each.metric for each in crowd.metrics} == set(expected)
    for each in crowd.metrics:
        known = expected[each.metric]
        for unit, key in ((JUDGMENTS, "normal_rows"), (OUTPUTS, "normal_outputs")):
            for name, value in parts(each.errors[unit]).items():
                assert value == pytest.approx(known[key][name], abs=1e-5), (each.metric, key, name)
        tolerances = {"error": 0.006, "c0_noise": 0.006, "bias": 0.02, "c1_var": 0.02}
        for name, value in parts(each.errors[BOOTSTRAP]).items():
            assert value == pytest.approx(known["bootstrap_rows"][name], abs=tolerances[name])
        assert each.worth == pytest.approx(known["break_even_judgments"], rel=0.005)


def test_ten_thousand_resamples_leave_an_error_below_a_thousandth(crowd: PowerAnalysis) -> None:
    for each in crowd.metrics:
        assert [look.draws for look in each.looks] == [100, 300, 1_000, 3_000, DRAWS]
        last = each.looks[-1]
        assert last.error_se < 1e-3  # as the caption of table 1 says of the paper's own data
        assert last.error_se == pytest.approx(each.looks[0].error_se / 10, rel=0.3)
        whole = parts(each.errors[BOOTSTRAP])
        assert (last.noise_part, last.bias, last.variance_part) == (
            whole["c0_noise"],
            whole["bias"],
            whole["c1_var"],
        )
        # The labels are independent, so that the parts sum up to the error but for chance.
        assert last.error == pytest.approx(whole["error"], abs=0.003)


def test_which_pairs_reach_significance(crowd: PowerAnalysis, crowd_opinion: SystemOpinion) -> None:
    assert crowd.comparison is not None
    apart = are_apart(crowd.comparison.labels[JUDGMENTS].wavers, 0.05)
    first, second = crowd.comparison.means.pairs
    values, codes = crowd_opinion.values, crowd_opinion.system_codes
    # Welch's t test: with 500 judgments each, t is as good as normal, and divisor n - 1 as good as n.
    p = [
        stats.ttest_ind(values[codes == i], values[codes == j], equal_var=False).pvalue
        for i, j in zip(first, second, strict=True)
    ]
    clear = np.abs(np.array(p) - 0.05) > 0.002
    assert (apart == (np.array(p) < 0.05))[clear].all()
    assert (int(apart.sum()), clear.sum()) == (31, 119)


def test_the_noise_of_record_keeps_the_judgments_of_an_output_together(
    crowd: PowerAnalysis, published: Path
) -> None:
    assert crowd.comparison is not None
    assert crowd.comparison.unit_of_record == OUTPUTS
    found = crowd.comparison.labels[OUTPUTS].wavers.mean()
    assert found == pytest.approx(
        golden(published)["summeval_turker"]["human"]["lower_bound_outputs"], abs=1e-5
    )


def test_the_perfect_annotator_in_three_conventions(crowd: PowerAnalysis, published: Path) -> None:
    expected = golden(published)["table4_turker"]
    assert crowd.comparison is not None
    as_printed, corrected, within = crowd.comparison.annotators.values()
    assert as_printed.ratio == pytest.approx(
        expected["perfect_annotator"]["published_ddof0"]["ratio"], abs=1e-5
    )
    assert corrected.ratio == pytest.approx(
        expected["perfect_annotator"]["unbiased_ddof1"]["ratio"], abs=1e-5
    )
    assert within.ratio == pytest.approx(expected["within_system"]["ratio"], abs=1e-5)


def test_a_plan_without_data_is_the_published_table() -> None:
    found = plan_power(PlanOptions(differences=(1.0, 4.0)), 25.0, 1.0)
    assert [each.size.published for each in found.planned] == [32489, 2032]
    assert [each.size.per_system for each in found.planned] == [16245, 1017]
    assert found.comparison is None


def test_a_design_effect_is_shown_beside_independent_judgments() -> None:
    found = plan_power(PlanOptions(differences=(4.0,)), 25.0, 2.0)
    assert [each.basis.name for each in found.planned] == [INDEPENDENT, "with the design effect"]
    assert found.planned[1].size.exact == pytest.approx(2 * found.planned[0].size.exact)


@pytest.mark.parametrize(("sd", "effect", "named"), [(0.0, 1.0, "--sd"), (1.0, -1.0, "--design-effect")])
def test_a_spread_that_is_none(sd: float, effect: float, named: str) -> None:
    with pytest.raises(OptionError, match=named):
        plan_power(PlanOptions(differences=(1.0,)), sd, effect)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"alpha": 0.0}, "--alpha"),
        ({"power": 0.01}, "--power"),
        ({"differences": (-1.0,)}, "--difference"),
        ({"judgments": (1,)}, "--judgments"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, float], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        PlanOptions(**options)  # type: ignore[arg-type]


def test_by_hand(small_opinion: SystemOpinion) -> None:
    found = analyse_power(small_opinion, PlanOptions(), 200, 0)
    assert found.comparison is not None
    # Means 20, 25, 32.5; pairs a-b, a-c, b-c. Within a: −10, 0, 0, 10; b: −5, −5, 5, 5; c: ∓2.5 ± 5.
    assert found.comparison.means.differences.tolist() == [-5, -12.5, -7.5]
    assert found.comparison.sd == pytest.approx(np.sqrt((200 + 100 + 125) / 9))
    # Worker w1 is lower by 10 throughout: what workers add to a difference cancels.
    assert found.comparison.errors[WORKERS] == pytest.approx([0, 0, 0], abs=1e-12)
    # A worker adds ±10 / 4 to each mean: with U / (U − 1) = 2 the squares are 25. Independent judgments have
    # 50 / 3, 25 / 3 and 31.25 / 3.
    assert found.comparison.mean_effects == pytest.approx([25 / (50 / 3), 25 / (25 / 3), 25 / (31.25 / 3)])
    # a and b, which the metric orders the other way round, are one of three pairs.
    (metric,) = found.metrics
    assert metric.errors[OUTPUTS].bias.tolist() == [1, 0, 0]


def test_a_basis_for_all_that_the_data_tell(small_opinion: SystemOpinion) -> None:
    names = [basis.name for basis in analyse_power(small_opinion, PlanOptions(), 200, 0).bases]
    assert names[:2] == [INDEPENDENT, OUTPUTS_AS_HERE]
    assert "independent, overlap as control variate" in names


def test_how_many_workers_a_plan_takes(small_opinion: SystemOpinion) -> None:
    found = compare(small_opinion)
    # A worker gives 6 judgments, two of each of 3 systems: 10 of each take 5 workers, 11 one more.
    assert found.workers_for(10) == 5
    assert found.workers_for(11) == 6
    assert np.isnan(compare(replace(small_opinion, workers=None)).workers_for(10))


def test_without_workers_there_is_nothing_over_workers(small_opinion: SystemOpinion) -> None:
    found = compare(replace(small_opinion, workers=None))
    assert set(found.errors) == {JUDGMENTS, OUTPUTS}
    assert found.unit_of_record == OUTPUTS
    assert np.isnan(found.worker_effect)
    assert np.isnan(found.mean_effects).all()


def test_steps_are_as_many_as_announced(small_opinion: SystemOpinion) -> None:
    steps: list[str] = []
    analyse_power(small_opinion, PlanOptions(), 200, 0, steps.append)
    assert len(steps) == power_steps(small_opinion) == 2


def test_a_metric_that_leaves_a_system_out(small_opinion: SystemOpinion) -> None:
    metrics = small_opinion.metrics.copy()
    metrics.loc[small_opinion.pool[:, 2], "overlap"] = np.nan
    with pytest.raises(EmptyRunError, match="no output of c has a value"):
        analyse_power(replace(small_opinion, metrics=metrics), PlanOptions(), 200, 0)


def test_judgments_that_do_not_spread(small_opinion: SystemOpinion) -> None:
    flat = replace(small_opinion, values=np.ones_like(small_opinion.values))
    with pytest.raises(EmptyRunError, match="are the same"):
        analyse_power(flat, PlanOptions(), 200, 0)


def test_one_worker_alone_does_not_tell_how_workers_differ(small_opinion: SystemOpinion) -> None:
    assert small_opinion.workers is not None
    alone = replace(small_opinion, workers=np.zeros_like(small_opinion.workers))
    found = analyse_power(alone, PlanOptions(), 200, 0)
    assert found.comparison is not None
    assert set(found.comparison.labels) == {JUDGMENTS, OUTPUTS}


def test_a_difference_that_nothing_shows() -> None:
    with pytest.raises(OptionError, match="--difference is 1e-09"):
        plan_power(PlanOptions(differences=(1e-9,)), 25.0, 1.0)


def test_the_hash_is_of_what_decides_the_numbers(small_opinion: SystemOpinion) -> None:
    other = replace(small_opinion, values=small_opinion.values + 1)
    assert data_hash(small_opinion) != data_hash(other)
    assert data_hash(small_opinion) == data_hash(replace(small_opinion, notes=("another",)))


def test_all_sixty_cells_of_the_published_tables(published: Path) -> None:
    cells = golden(published)["power"]["cells"]
    assert len(cells) == 60
    for cell in cells:
        size = sample_size(cell["difference"], cell["sd"])
        assert size.published == cell["published"]
        assert 2 * size.exact == pytest.approx(cell["total"], abs=1e-3)
        assert size.per_system == cell["per_system"]
        assert size.normal == pytest.approx(cell["normal"], rel=1e-3)


def test_one_point_of_a_hundred_needs_more_than_ten_thousand_judgments(published: Path) -> None:
    found = golden(published)
    least = found["facts"]["one_point_needs_at_least_judgments"]
    ones = [cell for cell in found["power"]["cells"] if cell["table"] == "2" and cell["difference"] == 1]
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
