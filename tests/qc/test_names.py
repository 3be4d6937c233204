"""Names with spaces, or that differ in case only, in every kind of source."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from qc.errors import DataError
from qc.judgments import read_judgments
from qc.loading import load
from qc.loading.analyst_files import with_background
from qc.metrics.metric_table import read_metric_table
from qc.names import case_note, change_note, changes, clean, cleaned
from tests.qc.support.spoken import spoken_run

# The composed é, and e with a combining accent.
COMPOSED, COMBINED = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("biencoder ", "biencoder"),
        ("\u00a0W1\t", "W1"),
        ("\ufeffa\u200b  b", "a b"),
        (COMBINED, COMPOSED),
        ("Ab", "Ab"),
    ],
)
def test_what_is_taken_out(given: str, kept: str) -> None:
    assert clean(given) == kept
    assert clean(kept) == kept


def test_a_column_keeps_what_is_no_text() -> None:
    column = pd.Series(["a ", None, "b"], dtype=object)
    assert cleaned(column).tolist() == ["a", None, "b"]
    assert changes(column) == {"a ": "a"}


def test_what_is_said() -> None:
    (changed,) = change_note("systems", {"b ": "b"})
    assert "'b '" in changed
    assert change_note("systems", {}) == []
    (alike,) = case_note("groups of sex", ["F", "f", "M"])
    assert "'F' and 'f'" in alike
    assert case_note("groups of sex", ["F", "M"]) == []


def test_a_run_with_spaces_in_its_names(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    """A system, a worker and a criterion with a space at the end are no further ones."""
    plain = load(hits_file(small_hits))
    first, second, *_ = small_hits["data"]
    small_hits["metadata"]["model"].append("beta ")
    next(one for one in first["result"] if one["model"] == "beta")["model"] = "beta "
    second["worker"] += "\u00a0"
    for one in first["result"]:
        one["score"]["fun "] = one["score"].pop("fun")
    small_hits["metadata"]["score"]["fun "] = small_hits["metadata"]["score"]["fun"]
    small_hits["metadata"]["sorted_scores"].append("fun ")
    run = load(hits_file(small_hits))
    pd.testing.assert_frame_equal(run.systems, plain.systems)
    pd.testing.assert_frame_equal(run.criteria, plain.criteria)
    pd.testing.assert_frame_equal(run.assignments, plain.assignments)
    pd.testing.assert_frame_equal(run.conversations, plain.conversations)
    pd.testing.assert_frame_equal(run.ratings, plain.ratings)
    said = [note for note in run.notes if note not in plain.notes]
    assert [name in note for name, note in zip(("beta ", "ben", "fun "), said, strict=True)] == [True] * 3


def test_systems_that_differ_in_case(small_hits: dict[str, Any], hits_file: Callable[[object], Path]) -> None:
    small_hits["metadata"]["model"].append("Beta")
    next(one for one in small_hits["data"][0]["result"] if one["model"] == "beta")["model"] = "Beta"
    run = load(hits_file(small_hits))
    assert {"beta", "Beta"} <= set(run.systems["system"])
    assert any("'Beta' and 'beta'" in note for note in run.notes)


def test_judgments_in_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("item , system,worker,value\ni1,a ,w1,1\ni1,a,w2,3\ni2,A,w1 ,5\n", encoding="utf-8")
    judgments = read_judgments(str(path))
    assert judgments.systems == ("a", "A")
    assert judgments.of("value", "a").values.tolist() == [1, 3]
    assert judgments.rows["worker"].nunique() == 2
    said = "\n".join(judgments.notes)
    assert "systems: 'a '" in said
    assert "workers: 'w1 '" in said
    assert "'A' and 'a'" in said


def test_scores_and_background_by_names_with_spaces(tmp_path: Path) -> None:
    run = spoken_run(workers=2)
    scores, background = tmp_path / "scores.csv", tmp_path / "background.csv"
    scores.write_text("system,bleu\n plain ,2\nchatty,1\n", encoding="utf-8")
    (bleu,) = read_metric_table(scores, run, [])
    assert bleu.systems is not None
    assert bleu.systems[:3].tolist()[0::2] == [1, 2]
    worker = run.assignments["worker"].iloc[0]
    background.write_text(f"worker,age\n{worker}\u200b,30\n", encoding="utf-8")
    found = with_background(run, background).background
    assert found is not None
    assert found["worker"].tolist() == [worker]


def test_ids_that_a_spreadsheet_has_shortened(
    tmp_path: Path, small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("item,system,worker,value\ni1,a,1.23E+12,1\ni1,b,1.24E+12,2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"worker '1.23E\+12': is a number that a spreadsheet has shortened"):
        read_judgments(str(path))
    small_hits["data"][0]["worker"] = "5E+09"
    with pytest.raises(DataError, match=r"worker '5E\+09'"):
        load(hits_file(small_hits))


def test_a_judgment_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    rows = "item,system,worker,value{}\ni1,a,w1,1{}\ni2,a,w1,2{}\ni1,a,w1,4{}\ni1,a,w2,5{}\n"
    path.write_text(rows.format("", "", "", "", ""), encoding="utf-8")
    with pytest.raises(DataError, match=r"row 4: worker 'w1' judges 'a / i1' on 'value' again"):
        read_judgments(str(path))
    path.write_text(rows.format(",position", ",1", ",2", ",3", ",1"), encoding="utf-8")
    judgments = read_judgments(str(path))
    assert judgments.of("value").values.tolist() == [2.5, 2, 5]
    assert any("criterion: 1." in note for note in judgments.notes)
