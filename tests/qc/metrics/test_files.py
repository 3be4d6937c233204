"""Tests of files that an analyst adds to a run: scores from elsewhere, and references."""

import json
from pathlib import Path

import numpy as np
import pytest

from qc.errors import DataError, SourceError
from qc.metrics.metric_table import read_metric_table
from qc.metrics.references import ReferencedReply, read_references
from qc.metrics.transcripts import transcripts
from qc.run import Run
from tests.qc.support.spoken import REPLIES, spoken_run


@pytest.fixture
def run() -> Run:
    return spoken_run(workers=2)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_scores_by_system(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "scores.csv", "system,bleu,-ter\nplain,2,0.5\nchatty,1,\necho,3,0.25\n")
    bleu, ter = read_metric_table(file, run, [])
    # Systems of the run: chatty, echo, plain, qc.
    assert bleu.systems is not None
    np.testing.assert_array_equal(bleu.systems, [1, 3, 2, np.nan])
    assert ter.systems is not None
    np.testing.assert_array_equal(ter.systems, [np.nan, 0.25, 0.5, np.nan])
    assert (bleu.name, bleu.higher_is_better) == ("bleu", True)
    assert (ter.name, ter.higher_is_better) == ("ter", False)


def test_scores_by_conversation(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "scores.csv", "conversation,mine\nv00002,7\nv00000,-1.5\n")
    (mine,) = read_metric_table(file, run, [])
    assert mine.conversations is not None
    np.testing.assert_array_equal(mine.conversations, [-1.5, np.nan, 7, *[np.nan] * 5])
    assert mine.systems is None


def test_every_mistake_in_scores_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    lines = "system,bleu\nplain,2\nplane,3\nplain,4\nchatty,high\necho,1,2\necho,inf\n"
    with pytest.raises(DataError) as caught:
        read_metric_table(written(tmp_path / "scores.csv", lines), run, [])
    text = str(caught.value)
    assert "line 3: unknown system 'plane'. Known are: chatty, echo, plain, qc." in text
    assert "line 4: system 'plain' was given before." in text
    assert "line 5, bleu: 'high' is no number." in text
    assert "line 6: 3 cells under 2 headings." in text
    assert "'inf' is no number." in text


@pytest.mark.parametrize("text", ["", "model,bleu\na,1\n", "system\nplain\n"])
def test_what_is_no_table_of_scores_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError, match="this is not a table of scores"):
        read_metric_table(written(tmp_path / "scores.csv", text), run, [])


def test_scores_that_are_not_there(run: Run, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the file cannot be read"):
        read_metric_table(tmp_path / "none.csv", run, [])


def test_references_from_a_csv(run: Run, tmp_path: Path) -> None:
    text = 'conversation,turn,reference\nv00000,1,"Me too, and you?"\nv00000,1,Yes.\nv00002,2,Cats.\n'
    found = read_references(written(tmp_path / "r.csv", text), run, transcripts(run), [])
    # Each assignment has chatty, qc, plain, echo.
    assert found[0] == (ReferencedReply(REPLIES["chatty"][0], ("Me too, and you?", "Yes.")),)
    assert found[2] == (ReferencedReply(REPLIES["plain"][1], ("Cats.",)),)
    assert found[1] == ()


def test_references_from_json_lines(run: Run, tmp_path: Path) -> None:
    lines = [
        {"conversation": "v00000", "turn": 2, "reference": "I like bread."},
        {"conversation": "v00001", "reference": "All of it."},
    ]
    file = written(tmp_path / "r.jsonl", "\n".join(map(json.dumps, lines)))
    found = read_references(file, run, transcripts(run), [])
    assert found[0] == (ReferencedReply(REPLIES["chatty"][1], ("I like bread.",)),)
    # Without a turn a reference is for all that the system said.
    assert found[1] == (ReferencedReply("\n".join(REPLIES["qc"]), ("All of it.",)),)


def test_every_mistake_in_references_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    lines = [
        '{"conversation": "v00000", "turn": 9, "reference": "x"}',
        '{"conversation": "nobody", "reference": "x"}',
        '{"conversation": "v00000", "reference": " "}',
        '{"conversation": "v00000", "turn": "one", "reference": "x"}',
        '{"conversation": "v00000", "text": "x"}',
        "[]",
        "not json",
        "[" * 100_000,
        '{"turn": ' + "9" * 5_000 + "}",
    ]
    with pytest.raises(DataError) as caught:
        read_references(written(tmp_path / "r.jsonl", "\n".join(lines)), run, transcripts(run), [])
    text = str(caught.value)
    for expected in (
        "line 1: 'v00000' has no reply of turn 9.",
        "line 2: unknown conversation 'nobody'.",
        "line 3: `conversation` and `reference` should both be texts.",
        "line 4: the turn is 'one', not a whole number from 1.",
        "line 5: the field 'text' is not known here.",
        "line 6: `conversation` and `reference` should both be texts.",
        "line 7: this is no JSON.",
        "line 8: this is no JSON.",
        "line 9: this is no JSON.",
    ):
        assert expected in text


@pytest.mark.parametrize("turn", ["9" * 5_000, "²"])
def test_a_turn_that_is_no_number_is_told(run: Run, tmp_path: Path, turn: str) -> None:
    file = written(tmp_path / "r.csv", f"conversation,turn,reference\nv00000,{turn},Yes.\n")
    with pytest.raises(DataError, match=r"line 2: the turn is .*, not a whole number from 1"):
        read_references(file, run, transcripts(run), [])


@pytest.mark.parametrize("name", ["r.csv", "r.jsonl"])
def test_a_file_without_a_reference(run: Run, tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError):
        read_references(written(tmp_path / name, ""), run, transcripts(run), [])
