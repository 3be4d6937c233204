"""The small data set of support/small.py, worked out by hand.

anna is the only worker who passes. She rated the qc bot 10 and 20 on the two criteria that count and the
three systems 30 to 80: the qc ratings are the two lowest of eight different numbers, which happens in one
of C(8, 2) = 28 orders, so p = 1/28.

Her twelve scores are 10, 20, …, 80 and four times robotic, 100 - 55 = 45. Their mean is
(360 + 180) / 12 = 45, the sum of squared deviations 2 · (35² + 25² + 15² + 5²) = 4200, sd = √(4200 / 11).
"""

import json
from collections.abc import Callable
from math import nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.loading import load
from qc.method.filter import NO_QC, NO_SYSTEMS, NO_VARIANCE, worker_p_values
from qc.method.sample import standardise
from qc.statistics.groups import group_means

SD = sqrt(4200 / 11)


@pytest.fixture
def analysis(small_hits: dict[str, Any], hits_file: Callable[[object], Path]) -> Analysis:
    return analyse(load(str(hits_file(small_hits))))


def test_p_values_and_reasons(analysis: Analysis) -> None:
    found = {
        row["worker"]: (row["p"], row["reason"])
        for row in analysis.sample.screening.workers.to_dict("records")
    }
    assert found["anna"] == (pytest.approx(1 / 28, abs=1e-15), "")
    # ben rated the qc bot highest: every order of the ratings is at least as extreme.
    assert found["ben"] == (1.0, "rates the quality-control bot not clearly lower (p ≥ 0.05)")
    assert found["cleo"] == (1.0, NO_VARIANCE)
    assert found["dan"] == (pytest.approx(nan, nan_ok=True), NO_QC)
    assert found["eve"] == (pytest.approx(nan, nan_ok=True), NO_SYSTEMS)


def test_a_worker_passes_only_below_alpha(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    run = load(str(hits_file(small_hits)))
    p = analyse(run).sample.screening.workers["p"].iloc[0]
    assert not analyse(run, AnalysisOptions(alpha=p)).sample.screening.workers["passed"].iloc[0]
    assert analyse(run, AnalysisOptions(alpha=np.nextafter(p, 1))).sample.screening.workers["passed"].iloc[0]


def test_no_level_lets_a_worker_without_variance_pass(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    for conversation in small_hits["data"][2]["result"]:
        conversation["score"] = {"robotic": 60, "fun": 10, "clear": 90}
    workers = analyse(
        load(str(hits_file(small_hits))), AnalysisOptions(alpha=0.99)
    ).sample.screening.workers.set_index("worker")
    # The qc bot's ratings and the systems' are distributed alike, so p is near a half and below the level.
    assert workers.loc["cleo", "p"] < 0.99
    assert not workers.loc["cleo", "passed"]
    assert workers.loc["cleo", "reason"] == NO_VARIANCE


def test_scores(analysis: Analysis) -> None:
    z, raw = analysis.scores.z, analysis.scores.raw
    assert list(z.columns) == list(raw.columns) == ["system", "n", "overall", "fun", "clear", "robotic"]
    assert list(z["system"]) == list(raw["system"]) == ["alpha_p", "beta", "alpha"]
    assert list(z["n"]) == [3, 3, 3]
    # fun, clear and robotic less the mean 45, over the sd; overall is their mean.
    assert z["fun"].to_numpy() == pytest.approx(np.array([25, 5, -15]) / SD, abs=1e-12)
    assert z["clear"].to_numpy() == pytest.approx(np.array([35, 15, -5]) / SD, abs=1e-12)
    assert z["robotic"].to_numpy() == pytest.approx([0, 0, 0], abs=1e-12)
    assert z["overall"].to_numpy() == pytest.approx(np.array([60, 20, -20]) / 3 / SD, abs=1e-12)
    # alpha_p: (70 + 80 + 45) / 3, beta: (50 + 60 + 45) / 3, alpha: (30 + 40 + 45) / 3.
    assert raw["overall"].to_numpy() == pytest.approx([65, 155 / 3, 115 / 3], abs=1e-12)
    assert list(raw["robotic"]) == [45, 45, 45]


def test_counts_and_minutes(analysis: Analysis) -> None:
    rates, minutes = analysis.rates, analysis.minutes
    assert (rates.workers.passed, rates.workers.total) == (1, 5)
    assert (rates.assignments.passed, rates.assignments.total) == (1, 5)
    # With systems: 3 + 3 + 3 + 2 + 0.
    assert (rates.conversations.passed, rates.conversations.total) == (3, 11)
    # Seconds / 60 / conversations: anna 2400 / 4, ben 960 / 4, cleo 480 / 4, dan 600 / 2, eve 300 / 1.
    assert minutes.passed == pytest.approx(10)
    assert minutes.failed == pytest.approx((4 + 2 + 5 + 5) / 4)
    assert minutes.all == pytest.approx((10 + 4 + 2 + 5 + 5) / 5)


def test_hits_are_counted_in_each_group(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    for assignment in small_hits["data"][:3]:
        assignment["hit"] = "shared"
    rates = analyse(load(str(hits_file(small_hits)))).rates
    # anna passed, ben and cleo did not, all on one HIT: it counts once in each group; dan and eve not.
    assert (rates.hits.passed, rates.hits.total) == (1, 4)


def test_report_json(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    tmp_path: Path,
    report: Callable[..., Result],
) -> None:
    small_hits["data"].append(
        {**small_hits["data"][0], "assignment": "A-void", "worker": "fay", "result": []}
    )
    assert report(hits_file(small_hits), "--out", tmp_path / "out").exit_code == 0
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    assert content["schema_version"] == 2
    assert content["workers"]["total"] == 5
    assert content["workers"]["passed"] == 1
    assert [failed["worker"] for failed in content["workers"]["failed"]] == ["ben", "cleo", "dan", "eve"]
    assert content["workers"]["failed"][2] == {"worker": "dan", "p": None, "reason": NO_QC}
    assert content["conversations"] == {"total": 11, "passed": 3}
    assert content["minutes_per_conversation"] == pytest.approx({"passed": 10, "failed": 4, "all": 5.2})
    best = content["systems"][0]
    assert (best["system"], best["n"], best["raw"]) == ("alpha_p", 3, pytest.approx(65))
    assert best["z"] == pytest.approx(20 / SD)
    assert best["criteria"]["fun"]["z"] == pytest.approx(25 / SD)
    assert best["criteria"]["fun"]["raw"] == 70
    # One worker does not tell how much workers differ.
    assert best["interval"] == {"low": None, "high": None}
    assert best["rank"] == {"low": 1, "high": 3}
    assert content["left_out"] == [{"assignment": "A-void", "worker": "fay", "reason": "no answers"}]
    assert content["signature"].startswith("candor=")


def test_nobody_passes(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    tmp_path: Path,
    report: Callable[..., Result],
) -> None:
    # p of anna is 1/28 = 0.036, so at 0.01 nobody is left and no system has a score.
    result = report(hits_file(small_hits), "--alpha", "0.01", "--out", tmp_path / "out")
    assert result.exit_code == 0
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    assert content["workers"]["passed"] == 0
    assert [(system["system"], system["n"], system["z"]) for system in content["systems"]] == [
        ("alpha", 0, None),
        ("alpha_p", 0, None),
        ("beta", 0, None),
    ]
    assert content["minutes_per_conversation"]["passed"] is None
    (note,) = content["notes"]
    assert note.startswith("No worker passed, so no system has a score.")
    assert "the smallest possible p is 0.036, and α is 0.01" in note
    assert "No worker passed" in result.stdout


def test_a_system_without_a_kept_conversation_comes_last(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    small_hits["metadata"]["model"].append("unused")
    analysis = analyse(load(str(hits_file(small_hits))))
    last = analysis.scores.z.iloc[-1]
    assert (last["system"], last["n"]) == ("unused", 0)
    assert np.isnan(last["overall"])
    assert analysis.notes[0] == "Without a kept conversation, so without a score: unused."
    assert "alpha_p (1), beta (1) and alpha (1)" in analysis.notes[1]  # who were rated by few


def test_workers_with_different_numbers_of_conversations_are_tested_each_on_their_own() -> None:
    # Worker 0: one qc conversation below three others; worker 1: one below one, two orders, p = 1/2.
    tested = np.array([[1.0], [9.0], [8.0], [2.0], [7.0], [6.0]])
    workers = np.array([0, 1, 0, 1, 0, 0])
    is_qc = np.array([True, False, False, True, False, False])
    assert worker_p_values(tested, workers, is_qc, 2) == pytest.approx([1 / 4, 1 / 2], abs=1e-15)


def test_standardise_by_hand() -> None:
    # Worker 0 gave 1, 2, 3: mean 2, sd 1. Worker 1 gave a third of a point everywhere: no z.
    z = standardise(
        np.array([[1.0], [1 / 3], [2.0], [1 / 3], [3.0], [1 / 3]]), np.array([0, 1, 0, 1, 0, 1]), 2
    )
    assert z.ravel() == pytest.approx([-1, nan, 0, nan, 1, nan], nan_ok=True, abs=1e-15)


def test_group_means_of_an_empty_group() -> None:
    assert group_means(np.array([1.0, 3.0]), np.array([2, 2]), 3) == pytest.approx([nan, nan, 2], nan_ok=True)
