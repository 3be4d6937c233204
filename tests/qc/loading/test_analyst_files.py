"""Files that say who the workers are, and what the population is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from qc.errors import DataError, SourceError
from qc.loading import load
from qc.loading.analyst_files import read_dialogues, read_margins, with_background
from qc.report.__main__ import app
from tests.qc.support.small import SMALL


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_background_is_taken_of_the_workers_of_the_run(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], written: Callable[[str], Path]
) -> None:
    first, second = list(SMALL)[:2]
    path = written(f"age,worker\n 30 ,{first}\n,{second}\n40,somebody else\n")
    found = with_background(load(hits_file(small_hits)), path).background
    assert found is not None
    assert found["worker"].to_list() == [first, second]
    assert found["age"].to_list()[0] == "30"
    assert found["age"].isna().to_list() == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("worker\nw\n", "the header: lacks a column"),
        ("worker,age\nnobody,3\n", "holds none of the run's workers"),
        ("worker,age\nnobody,3\nnobody,3\n", "row 3: holds worker 'nobody' again"),
        ("worker,age,age\nw,1,2\n", "column 'age': is there twice"),
        ("worker,age\nw\n", "row 2: has 1 cells, but the header has 2"),
        ("worker,age\n", "has no rows under a header"),
    ],
)
def test_a_background_that_cannot_be_used(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    written: Callable[[str], Path],
    text: str,
    said: str,
) -> None:
    with pytest.raises(DataError, match=said):
        with_background(load(hits_file(small_hits)), written(text))


def test_margins_are_divided_by_their_sum(written: Callable[[str], Path]) -> None:
    assert read_margins(written("field,group,share\nage,old,3\nage,young,1\nsex,f,0.5\nsex,m,0.5\n"))[0] == {
        "age": {"old": 0.75, "young": 0.25},
        "sex": {"f": 0.5, "m": 0.5},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("field,share\nage,3\n", "the header: does not have the right columns"),
        ("field,group,share\nage,old,-1\n", "column 'share': holds '-1'"),
        ("field,group,share\nage,old,x\n", "column 'share': holds 'x'"),
        ("field,group,share\nage,old,1\nage,old,2\n", "row 3: holds 'old' of 'age' again"),
    ],
)
def test_margins_that_cannot_be_used(written: Callable[[str], Path], text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_margins(written(text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Check the path"):
        read_margins(tmp_path / "none.csv")


def test_the_command_says_what_is_wrong_with_margins(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], written: Callable[[str], Path]
) -> None:
    margins = written("field,group,share\nage,old,1\nage,young,1\n")
    found = CliRunner().invoke(
        app, [str(hits_file(small_hits)), "--margins", str(margins), "--only", "groups"]
    )
    assert found.exit_code == 2
    assert "this run has these fields of its workers: none" in found.stderr


def test_dialogues_are_read_by_side_without_personas(written: Callable[[str], Path]) -> None:
    found = read_dialogues(
        written("1 your persona: i bake.\n2 hi there !\thello .\t\tx|y\n3 bye .\tsee you .\n1 hey .\tyes ?\n")
    )
    assert found.lines.to_list() == ["hi there !", "hello .", "bye .", "see you .", "hey .", "yes ?"]
    assert found.sides.tolist() == [0, 1, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "said"), [("hi\thello\n", "line 1: has no number"), ("1 hi\n", "has no turn of two people")]
)
def test_dialogues_that_cannot_be_used(written: Callable[[str], Path], text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_dialogues(written(text))
