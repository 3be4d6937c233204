"""Plans of runs: raters whose truth is known are found again, and numbers follow from them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from typer.testing import CliRunner

from qc.method.sample import take_sample
from qc.method.scores import score
from qc.plan import app, run_plan_findings
from qc.planning.rater_model import DrawnRatings, RaterModel, assumed, fit
from qc.planning.run_plan import Costs, RunPlan, plan_run, scored, shown
from qc.robustness.intervals import intervals
from tests.qc.support import designs


@pytest.fixture(scope="module")
def fitted() -> RaterModel:
    """A model of 248 workers whose constants are those of `designs`."""
    run = designs.run_of(designs.DESIGNS["published"], np.random.default_rng(4))
    return fit(take_sample(run), seed=1)


@pytest.fixture(scope="module")
def planned(fitted: RaterModel) -> RunPlan:
    return plan_run(fitted, 100, [0.2], Costs(2.0, 0.25, 30.0), 0.05, 20, seed=2)


def test_raters_are_found_again(fitted: RaterModel) -> None:
    assert fitted.worker_sd == pytest.approx(designs.SD_WORKER, rel=0.2)
    assert fitted.conversation_sd == pytest.approx(designs.SD_CONVERSATION, rel=0.2)
    assert fitted.rating_sd == pytest.approx(designs.SD_REST, rel=0.1)
    assert fitted.random_share == pytest.approx(designs.CARELESS, abs=0.12)
    found = fitted.means[:-1, fitted.counts_for_qc].mean(axis=1)
    assert np.corrcoef(found, designs.PUBLISHED)[0, 1] > 0.95


def test_four_times_the_workers_halve_the_intervals_and_find_more(planned: RunPlan) -> None:
    half, once, twice, four_times = planned.expected
    assert [each.workers for each in planned.expected] == [50, 100, 200, 400]
    assert four_times.half_width == pytest.approx(once.half_width / 2, rel=0.1)
    assert half.apart < once.apart < twice.apart < four_times.apart <= 45
    assert half.r < once.r < four_times.r


def test_cost_and_hours_are_in_proportion(planned: RunPlan) -> None:
    each = planned.expected[1]
    assignments = 100 * float(np.mean(planned.model.per_worker))
    assert each.cost == pytest.approx(assignments * 2.0 * 1.25)
    assert each.hours == pytest.approx(assignments / 2)


def test_the_workers_needed_are_those_of_the_formula(planned: RunPlan) -> None:
    (needed,) = planned.needed
    largest = planned.expected[-1]
    sd = largest.difference_error * np.sqrt(largest.workers)
    # Bounds of t: for itself 1.96 with many workers; of all 45 pairs together above that of Tukey's range of
    # ten systems, 4.47 / √2 = 3.16, by as much as the errors of pairs differ.
    assert largest.pair_bound == pytest.approx(1.96, abs=0.1)
    assert largest.all_pairs_bound == pytest.approx(3.16, abs=0.15)
    for workers, bound in (
        (needed.one_pair, largest.pair_bound),
        (needed.all_pairs, largest.all_pairs_bound),
    ):
        assert workers == np.ceil(((bound + float(ndtri(0.8))) * sd / 0.2) ** 2)


def test_pairs_are_told_apart_as_in_a_report() -> None:
    """What a plan makes of a run is what a report of that very run says: groups by the largest |t| of all."""
    run = designs.run_of(designs.DESIGNS["forty"], np.random.default_rng(4))
    sample = take_sample(run)
    said = intervals(sample, score(sample), 4000, 0)
    drawn = DrawnRatings(sample.raw, sample.workers, sample.systems, len(sample.screening.workers), 10)
    contributed = scored(drawn, fit(sample, seed=1), 0.05)
    assert contributed is not None
    seen = shown(contributed, np.random.default_rng(1))
    assert seen is not None
    assert seen.apart == pytest.approx(45 - len(said.indistinct), abs=1)  # 400 draws against 4,000
    by_name = pd.Series(said.z_high[:, 0] - said.z_low[:, 0], said.systems)
    # The leader's interval is another one.
    halves = by_name[sorted(said.systems)].to_numpy() / 2
    others = np.array(sorted(said.systems)) != said.systems[0]
    assert seen.half_widths[others] == pytest.approx(halves[others], rel=0.1)


def test_equal_systems_are_hardly_ever_told_apart() -> None:
    equal = assumed(systems=4, spread=0.0, criteria=7, counted=5, held=4, random_share=0.0, seed=0)
    found = plan_run(equal, 40, [], Costs(None, 0.0, np.nan), 0.05, 60, seed=0)
    # At most 5 % of experiments tell any pair apart, so hardly 0.2 pairs of 6 on average over 60 of them.
    assert all(each.apart < 0.2 for each in found.expected)
    assert all(np.isnan(each.cost) for each in found.expected)


def test_the_same_seed_gives_the_same_bits(fitted: RaterModel, planned: RunPlan) -> None:
    again = plan_run(fitted, 100, [0.2], Costs(2.0, 0.25, 30.0), 0.05, 20, seed=2)
    assert again.expected == planned.expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name a SOURCE, or give --systems and --spread"),
        (["--systems", "4", "--spread", "5"], "--workers must say how many take part"),
        (["--systems", "4", "--spread", "5", "--conversations", "9"], "meets 2 to 4 of the systems"),
        (["--workers", "9", "--difference", "0"], "--difference is 0, but it must be above 0"),
        (["--fee", "20"], "--fee is 20, but here it is a share. Write 0.2 for 20 %."),
        (["pilot.json", "--systems", "4"], "--systems cannot be combined with SOURCE"),
        (["--model", "m.json"], "--model describes the workers of a run. Name a SOURCE"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: list[str], said: str) -> None:
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 2
    assert said in found.stderr


def test_a_plan_without_data_is_written(tmp_path: Path) -> None:
    options = ["--systems", "3", "--spread", "8", "--workers", "30", "--experiments", "20"]
    found = CliRunner().invoke(app, [*options, "--out", str(tmp_path), "--format", "csv,json,svg,html"])
    assert found.exit_code == 0, found.stderr
    assert "raters are assumed to be as in the published run 1" in found.stdout
    written = {file.name for file in tmp_path.iterdir()}
    assert written >= {"plan.html", "plan.json", "plan_expected.csv", "plan-width.svg", "plan-pairs.svg"}


@pytest.mark.parametrize(
    ("share", "source", "said"),
    [
        (0.001, "pilot.json", "No worker is assumed to rate at random: workers with these biases, moods and"),
        (0.16, "pilot.json", "Of all workers, 16 % are assumed to rate at random, so that as many fail"),
        (0.3, "", "Of all workers, 30 % are assumed to rate at random."),
    ],
)
def test_what_is_assumed_of_random_workers_is_said_in_words(
    planned: RunPlan, share: float, source: str, said: str
) -> None:
    plan = replace(planned, model=replace(planned.model, random_share=share))
    findings = run_plan_findings(plan, source, "sha256:0", 0.05, 0)
    (model,) = (each for each in findings.tables if each.name == "model")
    assert said in model.text
    assert "share of workers who rate at random" in model.table.frame["what"].to_list()
    assert not model.table.shown_rows["what"].str.contains("random").any()
