"""Votes of an arena: how they are read, scores and errors worked out by hand, and alarms."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import candor
from benchmarks.truth.arenas import BOARDS, drawn_votes
from qc.comparison.alarms import (
    DRAWN_MORE,
    PARTIAL_VOTER,
    alarms,
    factors,
    missing_losses,
    partial_p,
    taste_variance,
)
from qc.comparison.votes import analyse_votes, fit_votes
from qc.errors import DataError, EmptyRunError, SourceError
from qc.loading import open_source
from qc.loading.votes import Votes, read_votes, replies, votes_of
from qc.render.findings.arena import arena_findings
from qc.report.__main__ import app


def rows_of(*votes: tuple[str, str, str, str]) -> pd.DataFrame:
    """Return rows in LMArena's columns, of voter, both systems and winner."""
    return pd.DataFrame(votes, columns=["judge", "model_a", "model_b", "winner"])


def votes_from(*votes: tuple[str, str, str, str]) -> Votes:
    return votes_of(rows_of(*votes), "votes", "here")


def forty() -> list[tuple[str, str, str, str]]:
    """Return 40 votes of 40 voters between two systems, 30 of them for "one" on either side."""
    sides = [("one", "two", "model_a"), ("two", "one", "model_b")]
    votes = [(f"v{number:02}", *sides[number % 2]) for number in range(30)]
    return votes + [(f"w{number:02}", "one", "two", "model_b") for number in range(10)]


def test_scores_and_errors_worked_out_by_hand() -> None:
    found = analyse_votes(votes_from(*forty()))
    # 30 of 40 votes: log odds of 3, half of it above 0 and half below.
    assert found.scores == pytest.approx(np.array([np.log(3) / 2, -np.log(3) / 2]))
    # The variance of log odds is 1 / (40 · 3/4 · 1/4) = 2/15; each voter has h = 1/40 of the votes. A score
    # is half of the difference, and Student's t for 39 degrees of freedom is 2.0227.
    half = 2.0227 * np.sqrt(2 / 15) / (1 - 1 / 40) / 2
    assert found.high - found.scores == pytest.approx(half, rel=1e-4)
    assert found.effective_voters == pytest.approx(40)
    assert found.groups == (("one",), ("two",))  # 1.10 is 2.93 errors of 0.375 from 0
    assert found.above.tolist() == [[False, True], [False, False]]


def test_below_thirty_voters_nothing_is_told_apart() -> None:
    found = analyse_votes(
        votes_from(*(("v1" if v < "v20" else v, one, two, winner) for v, one, two, winner in forty()))
    )
    assert found.scores[0] == pytest.approx(np.log(3) / 2)
    assert np.isnan(found.low).all()
    assert found.groups == (("one", "two"),)


def test_the_weight_of_style_worked_out_by_hand() -> None:
    # Equal systems in turn; of 40 votes, the longer reply wins 30. Its whole length is on one side (x = ±1),
    # so the log odds of 3 are the weight.
    votes = votes_from(*((f"v{n}", "one", "two", "model_a" if n % 2 else "model_b") for n in range(40)))
    longer = np.where(np.arange(40) < 30, 1.0, -1.0) * votes.outcome.astype(float)
    balanced = replace(votes, style=longer[:, None])
    fitted = fit_votes(balanced, balanced.style)
    assert fitted.at[2] == pytest.approx(np.log(3), abs=0.01)


def test_fewest_voters_who_decide_the_leader() -> None:
    # "one" leads by 9 to 8 votes. Without v0 and two votes it is 7 to 8; every other voter has one vote.
    votes = [("v0", "one", "two", "model_a")] * 2
    votes += [(f"a{n}", "one", "two", "model_a") for n in range(7)]
    votes += [(f"b{n}", "one", "two", "model_b") for n in range(8)]
    results = analyse_votes(votes_from(*votes))
    found = results.fragility
    assert found is not None
    assert (found.leader, found.successor, found.voters, found.votes) == ("one", "two", 1, 2)
    # 2 of 17 votes.
    assert arena_findings(results, (), "").verdict[-1] == (
        "If 2 votes of 1 voter (11.765 % of all votes) were removed, two would have the highest score."
    )


def test_what_votes_do_not_determine_is_said() -> None:
    found = analyse_votes(votes_from(("v", "one", "two", "model_a"), ("w", "one", "two", "model_a")))
    assert found.unfixed is not None
    assert np.isnan(found.scores).all()
    assert alarms(found) == ()


def test_the_order_of_rows_changes_no_number() -> None:
    rows = rows_of(*forty())
    shuffled = rows.sample(frac=1, random_state=1)
    one, other = (analyse_votes(votes_of(each, "votes", "here")) for each in (rows, shuffled))
    assert np.array_equal(one.low, other.low)
    assert one.votes.frame.equals(other.votes.frame)


def test_parts_of_alarms_worked_out_by_hand() -> None:
    # a = 1, 2, 3: row sums of a_i a_j are 1 · 5, 2 · 4 and 3 · 3.
    assert factors(np.array([5.0, 8.0, 9.0])) == pytest.approx(np.array([1.0, 2.0, 3.0]))
    a = np.array([1.0, 2.0, 3.0, 4.0])
    pairs = np.outer(a, a) * ~np.eye(4, dtype=bool)
    seen, _ = missing_losses(pairs, np.full((4, 4), 0.5))
    assert seen == pytest.approx(np.zeros(4), abs=1e-9)
    # A square of 4, of which chance explains 1: τ² · 1² = 3.
    assert taste_variance(np.array([3.0, 1.0]), np.array([1.0, 3.0]), np.ones(2)) == pytest.approx(3)
    # Five of five at even chances: 1/32. With tastes it is likelier.
    five = np.array([5.0])
    assert partial_p(five, five, five / 2, 0.0) == pytest.approx(1 / 32)
    assert partial_p(five, five, five / 2, 1.0) > 1 / 16


@pytest.mark.parametrize(
    ("board", "kind"),
    [("arena-spread-tastes", None), ("arena-sampled", DRAWN_MORE), ("arena-partial", PARTIAL_VOTER)],
)
def test_planted_defects_are_found_and_a_clean_board_is_silent(board: str, kind: str | None) -> None:
    votes, _ = drawn_votes(BOARDS[board], np.random.default_rng(7))
    found = analyse_votes(votes)
    # Of 2,000 votes on each system, log odds have an error of about 2 / √2000 = 0.045. A voter with very many
    # votes on one system does not widen the intervals of the others.
    assert (found.high - found.low)[1:].max() < 4 * 2 * 0.045
    raised = alarms(found)
    if kind is None:
        assert raised == ()
    else:
        assert {"system 00"} == {each.system for each in raised}
        assert kind in {each.kind for each in raised}


def test_rows_that_are_no_votes_are_left_out_and_counted() -> None:
    rows = rows_of(*forty()).assign(question_id=[f"q{n}" for n in range(40)])
    more = pd.DataFrame(
        [
            ("v1", "one", "two", "model_a", "q0"),  # given twice
            ("v1", "one", "one", "tie", "q90"),
            ("v1", "one", "two", None, "q91"),
            (None, "one", " two", "tie (bothbad)", "q92"),
        ],
        columns=[*rows.columns],
    )
    votes = votes_of(pd.concat([rows, more]), "votes", "here")
    assert len(votes.first) == 41
    assert votes.systems == ("one", "two")
    assert int(votes.voters.max()) + 1 == 41  # the unknown voter is one more
    assert votes.notes == (
        "Left out, given twice: 1 vote.",
        "Left out, without a choice: 1 vote.",
        "Left out, between one system: 1 vote.",
    )


def test_votes_in_the_columns_of_comparia() -> None:
    rows = pd.DataFrame(
        {
            "model_a_name": ["one", "two", "one"],
            "model_b_name": ["two", "one", "two"],
            "chosen_model_name": ["two", None, "one"],
            "both_equal": [False, True, False],
            "visitor_id": ["x", "y", "x"],
        }
    )
    votes = votes_of(rows, "votes", "here")
    assert sorted(zip(votes.voters, votes.first, votes.outcome, strict=True)) == [
        (0, 0, -1),
        (0, 0, 1),
        (1, 1, 0),
    ]
    assert votes.voted_by == "visitor_id"


ONE_HOT = ["winner_model_a", "winner_model_b", "winner_tie"]


def one_hot(*choices: tuple[Any, Any, Any]) -> pd.DataFrame:
    rows = rows_of(*(("v", "one", "two", "tie") for _ in choices)).drop(columns="winner")
    return rows.assign(**dict(zip(ONE_HOT, zip(*choices, strict=True), strict=True)))


def test_votes_in_a_column_for_each_outcome() -> None:
    votes = votes_of(one_hot((1, 0, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)), "votes", "here")
    assert votes.outcome.tolist() == [-1, -1, 0, 1]
    assert votes.notes == ("Left out, without a choice: 1 vote.",)
    assert votes_of(one_hot(("1", "0", ""), (True, False, None)), "votes", "here").outcome.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        (one_hot(("x", 0, 1)), DataError, "'x' is neither 1 nor 0"),
        (one_hot((1, 0, 1), (1, 0, 0)), DataError, "In 1 row more than one is 1"),
        (rows_of(("v", "a", "b", "left")), DataError, "'left' is none of model_a, model_b"),
        (rows_of(("v", "a", "b", "tie")).drop(columns="winner"), DataError, "neither winner nor"),
        (rows_of(("v", "a", "a", "tie")), EmptyRunError, "no row holds a vote"),
    ],
)
def test_rows_that_cannot_be_used(rows: pd.DataFrame, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        votes_of(rows, "votes", "here")


@pytest.mark.parametrize(
    ("conversation", "text"),
    [
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}], "Ho"),
        ('[{"role": "assistant", "content": [{"type": "text", "text": "Ho"}]}]', "Ho"),
        ("just a text", "just a text"),
        (None, ""),
    ],
)
def test_replies_in_every_form(conversation: Any, text: str) -> None:
    assert replies(conversation) == text


def written(folder: Path) -> list[Path]:
    """Write the same votes, with texts, in the three formats."""
    long, short = ([{"role": "assistant", "content": text}] for text in ("# Ho\n" * 3, "Ho"))
    rows = rows_of(*forty())
    of_one = rows["model_a"] == "one"
    rows["conversation_a"] = [json.dumps(long if one else short) for one in of_one]
    rows["conversation_b"] = [json.dumps(short if one else long) for one in of_one]
    paths = [folder / f"votes.{ending}" for ending in ("parquet", "csv", "jsonl")]
    rows.to_parquet(paths[0])
    rows.to_csv(paths[1], index=False)
    rows.to_json(paths[2], orient="records", lines=True)
    return paths


def test_every_format_is_read_alike(tmp_path: Path) -> None:
    read = []
    for path in written(tmp_path):
        with open_source(str(path)) as source:
            votes = read_votes(source)
        assert votes is not None
        read.append(votes)
        with pytest.raises(SourceError, match="votes of an arena"):
            candor.load(path)
    assert read[0].style is not None
    # 15 and 2 characters: 13/17; three headings and none: 1. "two" stands on the other side in 15 votes.
    assert sorted({(round(a, 3), b) for a, b in read[0].style}) == [(-0.765, -1.0), (0.765, 1.0)]
    for other in read[1:]:
        assert other.frame.equals(read[0].frame)


def test_a_report_of_votes(tmp_path: Path) -> None:
    path, out = written(tmp_path)[0], tmp_path / "out"
    result = CliRunner().invoke(app, [str(path), "--out", str(out), "--format", "json,html"])
    assert result.exit_code == 0, result.output
    said = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert said["signature"].startswith("candor=")
    assert "|task=arena|data=sha256:" in said["signature"]
    assert said["verdict"][0] == "40 votes on 2 systems by 40 voters (judge)."
    assert "The best is one." in said["verdict"][1]
    assert [(row["system"], row["group"], row["ranks"]) for row in said["scores"]] == [
        ("one", 1, "1"),
        ("two", 2, "2"),
    ]
    result = CliRunner().invoke(app, [str(path), "--workers", "--run", "x"])
    assert result.exit_code == 2
    assert "would have no effect" in result.output.replace("\n", " ")


@pytest.mark.parametrize("options", [["--alpha", "0.01"], ["--bootstrap", "200"]])
def test_options_without_effect_on_votes_are_refused(tmp_path: Path, options: list[str]) -> None:
    result = CliRunner().invoke(app, [str(written(tmp_path)[0]), *options])
    assert result.exit_code == 2
    assert f"so {options[0]} would have no effect" in result.output.replace("\n", " ")
