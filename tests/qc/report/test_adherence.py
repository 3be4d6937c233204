"""Tests of comparing a run with its preregistration: each point, the hypotheses, and invalid files."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import Result

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.errors import DataError, SourceError
from qc.loading.registration import Followed, Point, read_registration
from qc.render import tables
from qc.render.document import as_json
from qc.render.page import page
from qc.run import LeftOut, RunState
from qc.sections.course.adherence import follow
from tests.qc.render.test_document import SCHEMA
from tests.qc.support.analyses import SYSTEMS, awkward_run
from tests.qc.support.database import Database
from tests.qc.support.registrations import content, registration
from tests.qc.support.runs import run_of

BARE = AnalysisOptions(bootstrap=100, sections=frozenset())


@cache
def analysed() -> Analysis:
    run = awkward_run(workers=24)
    # The first of the 24 assignments of 600 s began at 08:50.
    ended = pd.Series(pd.date_range("2026-03-01 09:00", periods=len(run.assignments), freq="h"))
    return analyse(replace(run, ended=ended), BARE)


def point(what: str, analysis: Analysis | None = None, **changed: Any) -> Point:
    found = follow(analysis or analysed(), registration(**changed))
    return next(one for one in found.points if one.what == what)


def test_what_was_registered_and_done_is_followed() -> None:
    found = follow(analysed(), registration())
    assert {one.what for one in found.points if one.followed} == {
        "registered before the first assignment", "run", "criteria", "filter", "target", "exclusions",
    }  # fmt: skip
    assert not [one for one in found.points if one.followed is False]


@pytest.mark.parametrize(
    ("what", "changed", "said"),
    [
        ("registered before the first assignment", {"registered": "2026-03-01T08:51:00+00:00"}, "08:50"),
        ("registered before the first assignment", {"begun_before": 3}, "3 assignments had begun by then"),
        ("run", {"run": "other"}, "<b>run</b>"),
        ("criteria", {"criteria": []}, "c0*, c1*, c2*, c3*"),
        ("filter", {"filter": {"alpha": 0.01}}, "α = 0.05"),
        ("target", {"target": {"assignments": 25}}, "24 assignments are analysed"),
        ("target", {"target": {"conversations_per_system": 25}}, "the system with the fewest has 24"),
    ],
)
def test_what_was_not_followed_is_said(what: str, changed: dict[str, Any], said: str) -> None:
    found = point(what, **changed)
    assert found.followed is False
    assert said in found.found


def test_what_the_data_do_not_tell_is_not_called_followed() -> None:
    without = replace(analysed(), run=replace(analysed().run, ended=None))
    assert point("registered before the first assignment", without).followed is None
    assert point("run", without, run="other").followed is None
    assert point("stopping rule").followed is None
    assert point("target", target={"widest_interval": 0.5}).followed is None


STOPPED = RunState("h", "closed", "target", "The run reached its target.", {"assignments": 24})


@pytest.mark.parametrize(
    ("state", "changed", "followed", "said"),
    [
        (STOPPED, {}, True, "it stopped by itself: The run reached its target"),
        (replace(STOPPED, target={"assignments": 30}), {}, False, "it stopped by itself"),
        (replace(STOPPED, status="open"), {}, False, "before its end"),
        (replace(STOPPED, cause="budget", reason="No money."), {}, False, "it stopped by itself: No money."),
        (replace(STOPPED, cause="researcher", reason="Enough"), {}, False, "closed it: Enough"),
        (replace(STOPPED, cause="researcher", reason=""), {}, False, "closed it, without a reason"),
        # Words are for people to judge, beside what is known.
        (STOPPED, {"stopping": "at the end of May"}, None, "it stopped by itself"),
        (STOPPED, {"target": None}, None, "it stopped by itself"),
    ],
)
def test_why_a_run_stopped_is_held_against_the_rule(
    state: RunState, changed: dict[str, Any], followed: bool | None, said: str
) -> None:
    analysis = replace(analysed(), run=replace(analysed().run, state=state))
    found = point("stopping rule", analysis, **changed)
    assert found.followed is followed
    assert said in found.found


def test_an_interval_that_the_server_judged_is_a_target_that_was_met() -> None:
    state = replace(STOPPED, target={"widest_interval": 0.5})
    analysis = replace(analysed(), run=replace(analysed().run, state=state))
    assert point("target", analysis, target={"widest_interval": 0.5}).followed
    assert point("target", analysis, target={"widest_interval": 0.4}).followed is None


def test_the_text_of_the_study_is_compared() -> None:
    analysis = replace(analysed(), run=replace(analysed().run, state=STOPPED))
    assert point("study", analysis).followed is True
    assert point("study", analysis, study_hash="other").followed is False
    assert point("study").followed is None


def test_exclusions_for_other_reasons_are_named() -> None:
    reasons = ("two  windows", "slow", "slow")
    left_out = tuple(
        LeftOut(f"a{n}", "w", f"excluded by the researchers: {r}") for n, r in enumerate(reasons)
    )
    run = replace(analysed().run, left_out=(*left_out, LeftOut("a9", "w", "not completed")))
    found = point("exclusions", replace(analysed(), run=run))
    assert found.found == "3 excluded by hand, for reasons that were not registered: slow"
    assert found.followed is False


def test_a_hypothesis_is_decided_by_workers_and_together_with_the_others() -> None:
    analysis = analyse(analysed().run, replace(BARE, sections=frozenset({"significance"})))
    assert analysis.significance is not None
    best, worst = (analysis.significance.systems[row] for row in (0, -1))
    pairs = [
        {"higher": best, "lower": worst},
        {"higher": worst, "lower": best},
        {"higher": best, "lower": "none"},
    ]
    decided = follow(analysed(), registration(hypotheses=pairs)).decisions
    assert [one.supported for one in decided] == [True, False, None]
    # The very test of the table by worker, which the verdicts go by.
    wanted = analysis.significance.by_worker[0, -1]
    assert decided[0].p == wanted
    assert decided[0].adjusted == pytest.approx(2 * wanted)  # of the two that can be tested
    z = analysis.scores.z.set_index("system")["overall"]
    assert decided[0].difference == z[best] - z[worst]


def test_one_rater_decides_nothing() -> None:
    run = run_of(["w"] * 3, ["a", "b", "qc"], [[90.0, 80], [60, 50], [1, 2]], [1, 2, 3], seconds=1.0)
    run = replace(run, ratings=run.ratings)
    analysis = analyse(run, replace(BARE, alpha=0.5))
    decided = follow(analysis, registration(hypotheses=[{"higher": "a", "lower": "b"}])).decisions
    assert np.isnan(decided[0].p)
    assert decided[0].supported is None


def test_equal_systems_are_seldom_told_apart() -> None:
    # 60 runs of 16 workers, who have 4 conversations with each of two equal systems and tastes of their own:
    # 5 % is 3, and 9 is more than 3 standard deviations above it.
    rng, supported = np.random.default_rng(11), 0
    workers = [f"w{number:02}" for number in range(16) for _ in range(9)]
    systems = ["a", "b", "a", "b", "qc", "a", "b", "a", "b"] * 16
    is_qc = np.array(systems) == "qc"
    for _ in range(60):
        taste = rng.normal(0, 10, (16, 2))
        level = np.where(is_qc, 5.0, 50.0).reshape(16, 9)
        level[:, [0, 2, 5, 7]] += taste[:, :1]
        level[:, [1, 3, 6, 8]] += taste[:, 1:]
        ratings = np.clip(level.reshape(-1, 1) + rng.normal(0, 8, (144, 1)), 0, 100)
        run = run_of(workers, systems, ratings, list(range(1, 10)) * 16, seconds=1.0)
        found = follow(analyse(run, BARE), registration(hypotheses=[{"higher": "a", "lower": "b"}]))
        supported += bool(found.decisions[0].supported)
    assert supported <= 9


def written(path: Path, values: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    assert read_registration(written(tmp_path / "a.yaml", content())) == registration()
    with pytest.raises(DataError, match="changed after it was written"):
        read_registration(written(tmp_path / "b.yaml", content() | {"familywise": 0.1}))
    with pytest.raises(DataError, match="Give the file as"):
        read_registration(written(tmp_path / "c.yaml", {"format": "other"}))
    with pytest.raises(SourceError, match="has version 2"):
        read_registration(written(tmp_path / "d.yaml", content(version=2)))
    with pytest.raises(SourceError, match="cannot be read"):
        read_registration(tmp_path / "none.yaml")
    endless = tmp_path / "e.yaml"
    endless.write_text("registered: 0x" + "f" * 5_000)
    with pytest.raises(SourceError, match="line 1: a number of more than 100 digits"):
        read_registration(endless)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"format": "other"}, "format: Input should be 'candor-preregistration', and "),
        ("criteria: none", "Input should be a valid dictionary"),
        (content() | {"registered": "yesterday"}, "'registered' is no time"),
    ],
)
def test_a_file_that_is_something_else_is_told_its_first_fault(
    given: object, said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as refused:
        read_registration(written(tmp_path / "a.yaml", given))  # type: ignore[arg-type]  # which is tried
    assert said in str(refused.value)
    assert "pydantic" not in str(refused.value)


def test_times_to_the_nanosecond_warn_of_nothing() -> None:
    analysis = analysed()
    assert analysis.run.ended is not None
    seconds = analysis.run.assignments.assign(seconds=600.0000000009)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ended = analysis.run.ended - pd.Timedelta(1, "ns")
        exact = replace(analysis, run=replace(analysis.run, ended=ended, assignments=seconds))
        found = point("registered before the first assignment", exact)
    assert "08:49" in found.found


def test_page_and_document_have_it() -> None:
    nasty = [{"higher": SYSTEMS[0], "lower": SYSTEMS[1]}]
    found: Followed = follow(analysed(), registration(hypotheses=nasty, exclusions=["<script>"]))
    analysis = analysed().having(found)
    told = as_json(analysis)
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    assert [one["what"] for one in told["preregistration"]["points"]] == [one.what for one in found.points]
    html = page(analysis, tables(analysis), {})
    assert "What was registered before" in html
    assert found.hash in html
    assert "<script>" not in html
    assert "What was registered before" not in page(analysed(), tables(analysed()), {})


def test_the_command_says_it(report: Callable[..., Result], database: Database, tmp_path: Path) -> None:
    labels = [("robotic", True, False), ("fun", False, True), ("clear", False, True)]
    keys = ("label", "negative", "counts_for_qc")
    plan = content(
        run="first",
        target=None,
        criteria=[dict(zip(keys, one, strict=True)) for one in labels],
        hypotheses=[{"higher": "alpha_p", "lower": "alpha"}],
    )
    file = written(tmp_path / "p.yaml", plan)
    result = report(database.path, "--preregistration", file, "--only", "significance", "--alpha", "0.5")
    assert result.exit_code == 0, result.output
    assert "Preregistration of 2026-02-28" in result.output
    assert "alpha_p > alpha" in result.output
    rows = {line.split("│")[1].strip(): line for line in result.output.splitlines() if line.count("│") > 4}
    assert "yes" in rows["criteria"]
    assert " no " in rows["filter"]
