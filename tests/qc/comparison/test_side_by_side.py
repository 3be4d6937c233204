"""Choices side by side: Davidson scores, intervals, sides, workers; and the report that shows them."""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from typer.testing import CliRunner

from qc.comparison import compare
from qc.comparison.side_by_side import drawn_scores, fit, groups, separate
from qc.errors import DataError, OptionError, SourceError
from qc.loading import LoadOptions, load, open_source
from qc.loading.choices import Choices, read_choices
from qc.render.findings.comparison import comparison_findings
from qc.report.__main__ import app
from qc.run import SIMULATED_NOTE
from qc.signature import comparison_signature, data_hash
from server.db.engine import migrate
from tests.server.support.database import make_run
from tests.server.support.study import pairs_text

TRUE = {"ash": 0.8, "birch": 0.0, "cedar": -0.8}
Row = tuple[str, str, str, str]  # worker, left, right, preference


def drawn(workers: int, seed: int, per_worker: int = 9) -> list[Row]:
    """Return choices of honest workers by the model, nu = 0.5, and each one's five against the qc bot."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    names = list(TRUE)
    for worker in range(workers):
        for _ in range(per_worker):
            left, right = rng.choice(names, 2, replace=False)
            half = (TRUE[left] - TRUE[right]) / 2
            parts = np.array([np.exp(half), 0.5, np.exp(-half)])
            rows.append(
                (
                    f"w{worker:03}",
                    left,
                    right,
                    str(rng.choice(["left", "tie", "right"], p=parts / parts.sum())),
                )
            )
        rows += [(f"w{worker:03}", "qc", names[i % 3], "right") for i in range(5)]
    return rows


def choices(rows: Iterable[Row]) -> Choices:
    frame = pd.DataFrame(list(rows), columns=["worker", "left", "right", "preference"])
    frame = frame.assign(assignment=frame["worker"], pair=frame.groupby("worker").cumcount() + 1, turn=3)
    return Choices("trees", "here", frame, ("ash", "birch", "cedar"), frozenset({"qc"}), False, ())


def test_scores_come_back_and_most_intervals_hold_the_truth() -> None:
    found = compare(choices(drawn(150, 1)), bootstrap=200)
    truth = np.array(list(TRUE.values()))
    np.testing.assert_allclose(found.scores.fit.scores, truth, atol=0.25)
    assert ((found.scores.low < truth) & (truth < found.scores.high)).sum() >= 2
    assert found.scores.low[0] > found.scores.high[2]
    assert found.scores.unusable == 0
    assert found.trusted is None


def test_equal_systems_are_told_apart_in_few_runs_and_intervals_hold() -> None:
    # 60 runs of 12 workers with 4 choices each between three equal systems. Percentiles hold 88 % of the
    # scores, and by them the leader lies above another in 16 % of the runs: `benchmarks/qc_truth.py --runs
    # 300 --part choices`, whose workers have tastes.
    rng = np.random.default_rng(9)
    names, apart, held = list(TRUE), 0, 0
    for _ in range(60):
        rows: list[Row] = []
        for worker in range(12):
            for _ in range(4):
                left, right = rng.choice(names, 2, replace=False)
                rows.append(
                    (
                        f"w{worker:02}",
                        left,
                        right,
                        str(rng.choice(["left", "tie", "right"], p=[0.4, 0.2, 0.4])),
                    )
                )
        scores = compare(choices(rows), bootstrap=100).scores
        apart += scores.above.any()
        held += ((scores.low <= 0) & (scores.high >= 0)).sum()
    assert apart / 60 < 0.09
    assert held / 180 > 0.94


def test_the_leader_is_said_to_lie_above_whom_it_is_told_apart_from() -> None:
    found = compare(choices(drawn(150, 1)), bootstrap=200)
    assert found.scores.above.tolist() == [[False, True, True], [False, False, True], [False] * 3]
    said = comparison_findings(found, None, "").verdict[1]
    assert said == "At 95 % for all pairs of systems together it lies above birch and cedar."


def test_two_workers_say_nothing_of_others() -> None:
    found = compare(choices(drawn(2, 1, 40)), bootstrap=100)
    assert np.isfinite(found.scores.fit.scores).all()
    assert np.isnan([found.scores.low, found.scores.high]).all()
    assert not found.scores.above.any()
    assert "without an interval" in comparison_findings(found, None, "").verdict[0]


@pytest.mark.parametrize(("deciding", "known"), [(4, False), (5, True)])
def test_workers_who_always_tie_count_for_no_interval(deciding: int, known: bool) -> None:
    pairs = [("ash", "birch"), ("birch", "cedar"), ("cedar", "ash")]
    rows = [
        (f"w{worker}", *pair, "left" if worker < deciding and number != worker % 3 else "tie")
        for worker in range(9)
        for number, pair in enumerate(pairs)
    ]
    scores = compare(choices(rows), bootstrap=200).scores
    assert np.isfinite(scores.fit.scores).all()
    assert np.isfinite(scores.low).all() == known


def test_of_choices_that_one_of_many_workers_made_nothing_is_said_to_be_sure() -> None:
    one, others = drawn(1, 1, 400), [(f"x{row[0]}", *row[1:]) for row in drawn(12, 2)]
    found = compare(choices([*one, *others]), bootstrap=100)
    assert found.scores.workers == 13
    assert found.scores.effective_workers < 3
    assert np.isnan([found.scores.low, found.scores.high]).all()
    assert not found.scores.above.any()
    said = comparison_findings(found, None, "").verdict
    assert len(said) == 1
    assert (
        "without an interval: a few of 13 workers made most of the choices, so that they count as" in said[0]
    )
    assert np.isfinite(compare(choices(others), bootstrap=100).scores.low).all()


def test_pairs_with_the_qc_bot_are_in_no_score() -> None:
    rows = drawn(40, 2)
    without = [row for row in rows if "qc" not in row]
    one, other = compare(choices(rows), bootstrap=100), compare(choices(without), bootstrap=100)
    np.testing.assert_array_equal(one.scores.fit.scores, other.scores.fit.scores)


def test_the_same_seed_gives_the_same_and_the_order_of_rows_nothing() -> None:
    rows = drawn(30, 3)
    one, other = compare(choices(rows), bootstrap=100), compare(choices(rows[::-1]), bootstrap=100)
    np.testing.assert_array_equal(one.scores.low, other.scores.low)


def test_a_worker_who_does_not_mind_the_qc_bot_is_suspicious_and_one_with_few_choices_is_not_told() -> None:
    careless: list[Row] = [
        ("zoe", "qc", "ash", side) for side in ("left", "right", "left", "right", "tie", "right")
    ]
    new: list[Row] = [("yan", "qc", "ash", "left")]
    found = compare(
        choices([*drawn(20, 4), *careless, *new, ("zoe", "ash", "birch", "right")]), bootstrap=100
    )
    workers = found.workers.set_index("worker")
    assert workers.loc["w000", "p"] == pytest.approx(1 / 32)  # 5 of 5
    assert not workers.loc["w000", "suspicious"]
    # 3 of 5 that are no ties: P(at least 3 of 5) = 16/32.
    assert workers.loc["zoe", "p"] == pytest.approx(0.5)
    assert workers.loc["zoe", "suspicious"]
    assert np.isnan(workers.loc["yan", "p"])
    assert not workers.loc["yan", "suspicious"]
    assert found.trusted is not None
    assert found.trusted.fit.scores[0] > found.scores.fit.scores[0]  # zoe's choice against ash is left out


def test_a_preference_for_one_side_is_found() -> None:
    rows: list[Row] = [
        (f"w{i}", *pair, "left") for i in range(8) for pair in (("ash", "birch"), ("birch", "ash"))
    ]
    found = compare(choices([*rows, ("w0", "ash", "cedar", "tie")]), bootstrap=100)
    assert found.left_first == (16, 0, 8, 0)
    assert found.side_p == pytest.approx(2 / 2**8)


def test_why_there_are_no_scores_is_said() -> None:
    apart = compare(choices([("w", "ash", "birch", "left"), ("w", "ash", "birch", "right")]), bootstrap=100)
    assert apart.scores.unfixed == (
        "There are no scores: no comparison connects these groups of systems: ash, birch; cedar."
    )
    unbeaten = compare(
        choices([("w", "ash", "birch", "left"), ("w", "birch", "cedar", "tie")]), bootstrap=100
    )
    assert "as good as, ash, so that" in str(unbeaten.scores.unfixed)
    assert np.isnan(unbeaten.scores.low).all()


def written(path: Path, rows: list[Row], **header: object) -> Path:
    """Write choices as `candor data export` does."""
    first = {"format": "candor-choices", "version": 1, "run": "trees", "simulated": True, "criteria": []}
    systems = [{"system": name, "family": name, "is_qc": name == "qc"} for name in (*TRUE, "qc")]
    frame = choices(rows).choices
    lines = [
        {
            "assignment": worker,
            "worker": worker,
            "pairs": [
                {
                    "pair": row.pair,
                    "left": row.left,
                    "right": row.right,
                    "choices": [{"turn": row.turn, "preference": row.preference}],
                }
                for row in of_worker.itertuples()
            ],
        }
        for worker, of_worker in frame.groupby("worker")
    ]
    top = first | {"assignments": len(lines), "systems": systems} | header
    path.write_text("\n".join(json.dumps(line) for line in [top, *lines]) + "\n", encoding="utf-8")
    return path


def test_the_report_of_an_export_has_scores_ties_sides_and_workers(tmp_path: Path) -> None:
    source = written(tmp_path / "choices.jsonl", drawn(40, 5))
    out = tmp_path / "report"
    done = CliRunner().invoke(app, [str(source), "--bootstrap", "100", "--out", str(out)])
    assert done.exit_code == 0, done.output
    found = json.loads((out / "report.json").read_text())
    assert SIMULATED_NOTE in found["notes"]
    assert [row["system"] for row in found["scores"]] == list(TRUE)
    assert found["verdict"][0].startswith("ash was preferred most")
    for row in found["pairs"]:
        assert row["wins"] + row["ties"] + row["losses"] > 0
    assert len(found["workers"]) == 40
    page = (out / "report.html").read_text()
    assert "<h2>Scores</h2>" in page
    assert "Left and right" in page
    assert "Davidson" in page


@pytest.mark.parametrize(
    ("change", "said"),
    [({"assignments": 9}, "announces 9, but the file holds 3"), ({"systems": []}, "is not declared")],
)
def test_a_file_that_does_not_fit_together_is_refused(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    source = written(tmp_path / "choices.jsonl", drawn(3, 6), **change)
    with open_source(str(source)) as opened, pytest.raises(DataError, match=said):
        read_choices(opened, LoadOptions())


def test_what_needs_ratings_says_where_those_of_comparisons_are(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"choices\.jsonl: the workers of this run compared two systems"):
        load(written(tmp_path / "choices.jsonl", drawn(3, 6)))
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    migrate(url)
    make_run(url, pairs_text())
    with pytest.raises(SourceError, match="the workers of this run compared two systems"):
        load(url)


def test_why_ratings_beside_a_comparison_have_no_z_is_said() -> None:
    found = compare(choices(drawn(10, 7)), bootstrap=100)
    shown = comparison_findings(found, None, "", ("The ratings have no z.",))
    assert shown.notes[-1] == "The ratings have no z."


def signed(source: Path, *options: str) -> dict[str, str]:
    out = source.parent / "report"
    given = ["--bootstrap", "100", "--format", "json", "--out", str(out), *options]
    done = CliRunner().invoke(app, [str(source), *given])
    assert done.exit_code == 0, done.output
    line = json.loads((out / "report.json").read_text())["signature"]
    return dict(part.split("=", 1) for part in line.split("|"))


def test_the_signature_tells_data_apart(tmp_path: Path) -> None:
    rows = drawn(10, 8)
    of_one = signed(written(tmp_path / "one.jsonl", rows))
    assert list(of_one) == ["candor", "task", "data", "alpha", "seed", "bootstrap"]
    assert signed(written(tmp_path / "again.jsonl", rows)) == of_one
    turned = [(*row[:3], {"left": "right", "right": "left"}.get(row[3], "tie")) for row in rows]
    assert signed(written(tmp_path / "other.jsonl", turned))["data"] != of_one["data"]
    assert signed(tmp_path / "one.jsonl", "--seed", "1") == of_one | {"seed": "1"}


def test_the_signature_holds_systems_the_qc_bot_and_what_was_rated_beside(
    spoken_database: Any, tmp_path: Path
) -> None:
    frame, names, qc = choices(drawn(3, 8)).choices, ("ash", "birch", "cedar"), frozenset({"qc"})
    sign = partial(comparison_signature, alpha=0.05, seed=0, bootstrap=100)
    plain = sign(frame, names, qc, None)
    assert sign(frame, (*names, "dogwood"), qc, None) != plain
    assert sign(frame, (*names, "qc"), frozenset(), None) != plain
    run = load(spoken_database.url)
    assert f"|ratings=sha256:{data_hash(run)[:16]}|" in sign(frame, names, qc, run)


@pytest.mark.parametrize("alpha", [7.0, float("nan"), 0.0])
def test_a_level_that_is_none_is_refused(alpha: float) -> None:
    with pytest.raises(OptionError, match="--alpha is"):
        compare(choices(drawn(3, 6)), alpha, bootstrap=100)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preregistration", "x.yaml"], "so --preregistration would have no effect"),
        (["--background", "x.csv"], "so --background would"),
        (["--reward", "1", "--fee", "20"], "so --reward and --fee would"),
        (["--only", "significance"], "so --only would"),
        (["--workers"], "so --workers would"),
        (["--criteria-file", "criteria.yaml"], "so --criteria-file would"),
        (["--margins", "margins.csv"], "so --margins would"),
        (
            ["--run", "x", "--simulated", "--include-partial"],
            "--run and --include-partial and --simulated would",
        ),
    ],
)
def test_what_would_have_no_effect_on_a_comparison_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "margins.csv").write_text("field,group,share\nsex,f,0.5\nsex,m,0.5\n")
    (tmp_path / "criteria.yaml").write_text("criteria: [{label: fun}]\n")
    written(tmp_path / "choices.jsonl", drawn(3, 6))
    done = CliRunner().invoke(app, ["choices.jsonl", *options])
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


Counts = NDArray[np.float64]


def both(wins: list[list[int]], ties: list[list[int]] | None = None) -> tuple[Counts, Counts]:
    """Return wins and ties as the model takes them; ties are given above the diagonal."""
    upper = np.array(ties if ties is not None else np.zeros_like(wins), float)
    return np.array(wins, float), upper + upper.T


def loss(values: Counts, wins: Counts, ties: Counts) -> float:
    """Minus the logarithm of the likelihood, written straight from the formula, without any of our code."""
    n = len(wins)
    strength, nu = np.exp(np.concatenate([[0.0], values[: n - 1]])), np.exp(values[n - 1])
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            root = nu * np.sqrt(strength[i] * strength[j])
            whole = strength[i] + strength[j] + root
            for number, part in ((wins[i, j], strength[i]), (wins[j, i], strength[j]), (ties[i, j], root)):
                total -= number * np.log(part / whole)
    return float(total)


@settings(max_examples=25)
@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_the_maximum_is_the_one_that_a_general_optimiser_finds(systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 30, (systems, systems)).astype(float)
    np.fill_diagonal(wins, 0)
    upper = np.triu(rng.integers(0, 20, (systems, systems)), 1).astype(float)
    upper[0, 1] += 1
    ties = upper + upper.T
    best = minimize(loss, np.zeros(systems), args=(wins, ties), method="BFGS", options={"gtol": 1e-7}).x
    expected = np.concatenate([[0.0], best[: systems - 1]])
    found = fit(wins, ties)
    np.testing.assert_allclose(found.scores, expected - expected.mean(), atol=2e-4)
    assert found.nu == pytest.approx(np.exp(best[systems - 1]), rel=1e-3)
    np.testing.assert_allclose(
        found.scores, fit(wins, ties, start=rng.normal(size=systems)).scores, atol=1e-8
    )


def test_two_systems_by_hand() -> None:
    # 30 wins, 10 losses: π1/π2 = 30/10, so the scores differ by log 3. Ties: nu/(√3 + 1/√3 + nu) = 20/60,
    # so nu = (√3 + 1/√3) / 2 = 2/√3.
    found = fit(*both([[0, 30], [10, 0]], [[0, 20], [0, 0]]))
    assert found.scores[0] - found.scores[1] == pytest.approx(np.log(3))
    assert found.nu == pytest.approx(2 / np.sqrt(3))


def test_without_ties_it_is_the_model_of_bradley_and_terry() -> None:
    found = fit(*both([[0, 30], [10, 0]]))
    assert found.scores[0] - found.scores[1] == pytest.approx(np.log(3))
    assert found.nu == 0


def test_an_unbeaten_system_has_no_score_and_a_tie_gives_it_one() -> None:
    wins, ties = both([[0, 5, 5], [0, 0, 3], [0, 2, 0]])
    assert np.isnan(fit(wins, ties).scores).all()
    assert len(set(groups(wins, ties))) == 2
    ties[0, 1] = ties[1, 0] = 1
    assert np.isfinite(fit(wins, ties).scores).all()


@pytest.mark.parametrize(
    ("wins", "ties"),
    [
        ([[0, 3], [0, 0]], [[0, 2], [0, 0]]),
        ([[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[0, 2, 0], [0, 0, 2], [0, 0, 0]]),
    ],
)
def test_wins_one_way_and_ties_the_other_fix_nothing(wins: list[list[int]], ties: list[list[int]]) -> None:
    """Differences d and log nu = d/2 (of neighbours) make every choice more likely the larger d is."""
    assert np.isnan(fit(*both(wins, ties)).scores).all()
    wins[-1][0] = 1  # one loss of the one that only won
    assert np.isfinite(fit(*both(wins, ties)).scores).all()


def test_systems_that_nothing_connects_have_no_scores() -> None:
    wins, ties = both([[0, 5, 0, 0], [4, 0, 0, 0], [0, 0, 0, 3], [0, 0, 2, 0]])
    assert separate(wins, ties).tolist() == [0, 0, 1, 1]
    assert np.isnan(fit(wins, ties).scores).all()


def test_nothing_but_ties_says_nothing() -> None:
    assert np.isnan(fit(*both([[0, 0], [0, 0]], [[0, 9], [0, 0]])).scores).all()


def test_scores_do_not_depend_on_the_order_of_systems() -> None:
    wins, ties = both([[0, 9, 4], [3, 0, 5], [2, 6, 0]], [[0, 3, 1], [0, 0, 2], [0, 0, 0]])
    order = [2, 0, 1]
    turned = fit(wins[np.ix_(order, order)], ties[np.ix_(order, order)])
    np.testing.assert_allclose(turned.scores, fit(wins, ties).scores[order], atol=1e-9)


def test_resamples_have_the_scores_that_each_has_by_itself() -> None:
    rng = np.random.default_rng(2)
    tables = rng.poisson(0.3, (4, 2, 3, 3)) * (1 - np.eye(3))
    tables[:, 1] = np.triu(tables[:, 1])
    start = fit(tables[:, 0].sum(axis=0), tables[:, 1].sum(axis=0) + tables[:, 1].sum(axis=0).T).scores
    drawn, again = drawn_scores(tables, start, 40, np.random.default_rng(3)), np.random.default_rng(3)
    for scores in drawn:
        wins, once = tables[again.integers(4, size=4)].sum(axis=0)
        np.testing.assert_array_equal(scores, fit(wins, once + once.T, start).scores)
    assert 0 < np.isnan(drawn[:, 0]).sum() < 40  # with four workers, some do not determine the scores
