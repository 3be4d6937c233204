"""Two runs compared: worked out by hand, with all the ways in which runs can differ, and as published."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.errors import QcError, ReplicationError
from qc.loading import load
from qc.method.replication import Correlations, Replication, replicate
from qc.method.sample import Sample, take_sample

Hits = dict[str, Any]
Build = Callable[[Hits], Sample]

LABELS = ("fun", "deep", "clear")
SCORES = {"a": 80, "b": 60, "c": 40, "d": 20}


@pytest.fixture
def sampled(hits_file: Callable[[object], Path]) -> Build:
    return lambda hits: take_sample(load(str(hits_file(hits))))


def rated(scores: dict[str, int], worker: str = "W", workers: int = 6, qc: int = 1) -> Hits:
    """Return a run in which every worker gives each system its score, on each criterion, and the qc bot `qc`.

    Worker i adds (i + k) mod 3 + k on criterion k, a little noise. With a low `qc` all pass.
    """
    criterion = {"positive": True, "qc": True, "max": 100}
    return {
        "metadata": {
            "score": {label: dict(criterion) for label in LABELS},
            "model": list(scores),
            "qc-model": "qc",
        },
        "data": [
            {
                "hit": f"H{number}",
                "assignment": f"{worker}A{number}",
                "worker": f"{worker}{number}",
                "duration in seconds": 600,
                "result": [
                    {
                        "model": system,
                        "score": {
                            label: value + (number + index) % 3 + index for index, label in enumerate(LABELS)
                        },
                        "dialogue": [],
                    }
                    for system, value in [*scores.items(), ("qc", qc)]
                ],
            }
            for number in range(workers)
        ],
    }


def test_the_same_order_of_systems(sampled: Build) -> None:
    found = replicate(sampled(rated(SCORES)), sampled(rated(SCORES, worker="V")))
    assert found.systems == ("a", "b", "c", "d")
    assert found.labels == LABELS
    for correlations in (found.z, found.raw):
        for values in (correlations.pearson, correlations.spearman, correlations.kendall):
            assert list(values) == ["overall", *LABELS]
            assert list(values.values()) == pytest.approx([1, 1, 1, 1])
    # Every rating of a better system is above every rating of a worse one, in both runs.
    assert (found.same_conclusions.n, found.same_conclusions.of, found.same_conclusions.alpha) == (6, 6, 0.1)
    assert found.shared_workers == 0
    assert found.without_shared is None
    assert found.points.columns.to_list() == ["system", "first", "second"]
    assert found.points["first"].to_list() == pytest.approx(found.points["second"].to_list())
    assert found.notes == ()


def test_one_pair_of_systems_changes_places(sampled: Build) -> None:
    found = replicate(sampled(rated(SCORES)), sampled(rated({"a": 80, "b": 40, "c": 60, "d": 20}, "V")))
    # Of the 6 pairs only b and c are the other way round: τ = (5 − 1) / 6, ρ = 1 − 6 · 2 / (4 · 15), and of
    # the scores, evenly spaced, r equals ρ.
    assert found.z.kendall["overall"] == pytest.approx(4 / 6)
    assert found.z.spearman["overall"] == pytest.approx(0.8)
    assert found.raw.pearson["overall"] == pytest.approx(0.8)
    assert (found.same_conclusions.n, found.same_conclusions.of) == (5, 6)
    assert found.points["system"].to_list() == ["a", "b", "c", "d"]


def test_neither_is_a_conclusion_too(sampled: Build) -> None:
    tied = {"a": 80, "b": 80, "c": 40, "d": 20}
    assert replicate(sampled(rated(tied)), sampled(rated(tied, "V"))).same_conclusions.n == 6
    # The first run finds a better than b, the second neither.
    assert replicate(sampled(rated(SCORES)), sampled(rated(tied, "V"))).same_conclusions.n == 5


def test_systems_of_one_run_only_are_left_out_and_named(sampled: Build) -> None:
    first = sampled(rated({**SCORES, "old": 90}))
    second = sampled(rated({"new": 5, **SCORES}, "V"))
    found = replicate(first, second)
    assert found.systems == ("a", "b", "c", "d")
    assert found.same_conclusions.of == 6
    assert found.notes == (
        "Only in the first run, so left out of the comparison: systems old.",
        "Only in the second run, so left out of the comparison: systems new.",
    )


def test_too_few_common_systems_are_refused(sampled: Build) -> None:
    first = sampled(rated({"a": 80, "b": 60, "c": 40}))
    second = sampled(rated({"a": 80, "b": 60, "x": 40}, "V"))
    with pytest.raises(ReplicationError) as refusal:
        replicate(first, second)
    assert isinstance(refusal.value, QcError)
    message = str(refusal.value)
    assert "2 systems in common, 3 or more are needed" in message
    assert "has a, b, c." in message
    assert "has a, b, x." in message
    assert "qc" not in message.replace("hits_data.json", "").split("has")[1]


def relabelled(hits: Hits, **labels: str) -> Hits:
    """Return `hits` with criteria renamed."""
    changed = copy.deepcopy(hits)
    changed["metadata"]["score"] = {
        labels.get(label, label): given for label, given in hits["metadata"]["score"].items()
    }
    for assignment in changed["data"]:
        for conversation in assignment["result"]:
            conversation["score"] = {
                labels.get(label, label): value for label, value in conversation["score"].items()
            }
    return changed


def test_criteria_of_one_run_only_are_left_out_of_overall_too(sampled: Build) -> None:
    first = sampled(rated(SCORES))
    second = sampled(relabelled(rated(SCORES, "V"), clear="kind"))
    found = replicate(first, second)
    assert found.labels == ("fun", "deep")
    assert list(found.z.pearson) == ["overall", "fun", "deep"]
    for name, run in (("first", first), ("second", second)):
        both = pd.Series(run.z[run.counted, :2].mean(axis=1)).groupby(run.systems[run.counted]).mean()
        assert found.points[name].to_list() == pytest.approx(both.to_list())
    assert found.notes == (
        "Only in the first run, so left out of the comparison: criteria clear.",
        "Only in the second run, so left out of the comparison: criteria kind.",
    )


def test_the_order_of_criteria_is_that_of_the_first_run(sampled: Build) -> None:
    second = rated(SCORES, "V")
    second["metadata"]["sorted_scores"] = ["clear", "fun", "deep"]
    found = replicate(sampled(rated(SCORES)), sampled(second))
    assert found.labels == LABELS
    assert found.points["first"].to_list() == pytest.approx(found.points["second"].to_list())
    assert found.notes == ()


def test_no_common_criterion_is_refused(sampled: Build) -> None:
    second = sampled(relabelled(rated(SCORES, "V"), fun="kind", deep="warm", clear="plain"))
    with pytest.raises(ReplicationError, match=r"0 criteria in common, 1 or more are needed"):
        replicate(sampled(rated(SCORES)), second)


def test_criteria_of_one_name_and_different_kind_are_noted(sampled: Build) -> None:
    second = rated(SCORES, "V")
    second["metadata"]["score"]["clear"] = {"positive": False, "qc": False, "max": 120}
    found = replicate(sampled(rated(SCORES)), sampled(second))
    # Reversed in the second run only, so what is best in the first is worst there.
    assert found.raw.pearson["clear"] == pytest.approx(-1)
    assert found.notes == (
        "Negative in one run only, so reversed only there: criteria clear.",
        "Counted for quality control in one run only, so workers were not filtered alike: criteria clear.",
        "Not on the same scale in both runs, so raw scores differ: criteria clear.",
    )


def test_workers_of_both_runs_are_left_out_of_both(sampled: Build) -> None:
    upside_down = {"a": 20, "b": 40, "c": 60, "d": 80}
    first, second = rated(SCORES), rated(SCORES, worker="V")
    # One who fails the filter stays out in any case.
    second["data"] += rated(upside_down, "F", workers=1, qc=95)["data"]
    # Two workers of the second run are of the first, and see everything the other way round.
    for guest, assignment in zip(("W0", "W1"), rated(upside_down, "V", 2)["data"], strict=True):
        second["data"].append({**assignment, "assignment": f"G-{guest}", "worker": guest})
    found = replicate(sampled(first), sampled(second))
    assert found.shared_workers == 2
    assert found.without_shared is not None
    first["data"] = first["data"][2:]
    second["data"] = second["data"][:7]
    fresh = replicate(sampled(first), sampled(second))
    assert found.without_shared == fresh.z
    assert found.without_shared_raw == fresh.raw
    assert found.z != fresh.z
    assert fresh.without_shared is fresh.without_shared_raw is None


def test_a_run_against_itself(sampled: Build) -> None:
    run = sampled(rated(SCORES))
    found = replicate(run, sampled(rated(SCORES)))
    assert found.z.pearson["overall"] == pytest.approx(1)
    assert (found.same_conclusions.n, found.same_conclusions.of) == (6, 6)
    assert found.shared_workers == 6
    assert found.without_shared is not None
    assert np.isnan(list(found.without_shared.pearson.values())).all()
    assert found.notes == ()


def test_nobody_passed_in_the_second_run(sampled: Build) -> None:
    found = replicate(sampled(rated(SCORES)), sampled(rated(SCORES, "V", qc=95)))
    assert found.systems == ()
    assert found.points.empty
    assert (found.same_conclusions.n, found.same_conclusions.of) == (0, 0)
    for correlations in (found.z, found.raw):
        assert np.isnan([*correlations.pearson.values(), *correlations.kendall.values()]).all()
    assert found.notes == (
        "The second run: No worker passed, so no system has a score.",
        "Without a kept conversation in one of the runs, so left out of the comparison: a, b, c, d.",
    )


def test_a_system_that_nobody_met_in_one_run(sampled: Build) -> None:
    without = rated(SCORES, "V")
    for assignment in without["data"]:
        assignment["result"] = [one for one in assignment["result"] if one["model"] != "b"]
    whole, gap = sampled(rated(SCORES)), sampled(without)
    for found in (replicate(whole, gap), replicate(gap, whole)):
        assert found.systems == ("a", "c", "d")
        assert found.same_conclusions.of == 3
        assert found.notes == (
            "Without a kept conversation in one of the runs, so left out of the comparison: b.",
        )


@pytest.fixture
def runs(published_sample: Callable[[str, str], Sample]) -> tuple[Sample, Sample]:
    return published_sample("free_run1", "hits_data.json"), published_sample("free_run2", "hits_data.json")


@pytest.fixture
def replication(runs: tuple[Sample, Sample]) -> Replication:
    return replicate(*runs)


@pytest.mark.published
@pytest.mark.parametrize(
    ("scale", "file", "overall"),
    [("z", "corr_zscore_r1r2.csv", "z"), ("raw", "corr_rawscore_r1r2.csv", "raw")],
)
def test_correlations_equal_the_golden_files(
    replication: Replication, published: Path, scale: str, file: str, overall: str
) -> None:
    golden = pd.read_csv(published / "golden" / "replication_run1_run2" / file, index_col=0)
    found: Correlations = getattr(replication, scale)
    assert ["overall", *replication.labels] == list(golden.columns.str.replace(overall, "overall"))
    for statistic in ("pearson", "spearman", "kendall"):
        ours = list(getattr(found, statistic).values())
        assert ours == pytest.approx(golden.loc[statistic].to_list(), abs=1e-6)


# METHOD.md, section 5: 38 of 45 pairs.
@pytest.mark.published
def test_published_conclusions_and_workers(replication: Replication, published: Path) -> None:
    same = replication.same_conclusions
    assert (same.n, same.of, same.alpha) == (38, 45, 0.1)
    workers = [
        {
            one["worker"]
            for one in json.loads((published / "published" / run / "hits_data.json").read_text())["data"]
        }
        for run in ("free_run1", "free_run2")
    ]
    assert replication.shared_workers == len(workers[0] & workers[1])


@pytest.mark.published
def test_the_second_run_first_correlates_the_same(
    runs: tuple[Sample, Sample], replication: Replication
) -> None:
    turned = replicate(runs[1], runs[0])
    assert turned.z.pearson == pytest.approx(replication.z.pearson, abs=1e-12)
    assert turned.same_conclusions == replication.same_conclusions
    assert turned.shared_workers == replication.shared_workers
    assert set(turned.systems) == set(replication.systems)


def test_what_a_sample_was_made_from_is_not_changed(sampled: Build) -> None:
    run = sampled(rated(SCORES))
    before = replace(run)
    replicate(run, run)
    pd.testing.assert_frame_equal(run.screening.workers, before.screening.workers)
    assert run.screening.workers["passed"].all()
