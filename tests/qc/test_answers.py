"""Answers to a study's own questions: from the server's database to counts."""

from pathlib import Path
from typing import Any

import pytest

from qc.answers import count_answers
from qc.errors import DataError, SourceError
from qc.loading import load
from qc.run import Run
from tests.server.support.database import query
from tests.server.support.questions import ASKED, SCALES, answered_run
from tests.server.support.study import study_text


def test_nothing_asked_is_no_section(tmp_path: Path) -> None:
    run = answered(tmp_path, [], asked=False)
    assert run.answers is None
    assert count_answers(run) is None


def test_answers_are_counted_by_system_and_those_nobody_gave_are_there(tmp_path: Path) -> None:
    given = [
        ("a1", None, "before", "often", "Daily", None),
        ("a2", None, "before", "often", "Never", None),
        ("a1", None, "before", "age", None, 31.0),
        ("a2", None, "before", "age", None, 41.0),
        ("a1", "a1-1.1", "conversation", "human", None, 4.0),
        ("a1", "a1-2.1", "conversation", "human", None, 2.0),
        ("a2", "a2-1.1", "conversation", "human", None, 4.0),
        ("a1", "a1-1.1", "conversation", "why", "It knew the sea.", None),
        ("a1", None, "after", "tools", "Phone", None),
        ("a1", None, "after", "tools", "Tablet", None),
        ("a2", None, "after", "tools", "Phone", None),
    ]
    found = count_answers(answered(tmp_path, given))
    assert found is not None
    counts = found.counts.set_index("answer")
    often = counts[counts["label"] == "often"]
    assert often.loc["Daily", ["n", "share"]].to_list() == [1, 0.5]
    # Two answered; one of them chose two of the three.
    tools = counts[counts["label"] == "tools"]
    assert dict(zip(tools.index, tools["n"], strict=True)) == {"Phone": 2, "Laptop": 0, "Tablet": 1}
    assert tools["share"].to_list() == [1.0, 0.0, 0.5]
    human = counts[counts["label"] == "human"]
    assert human[human["system"] == "quokka_plain"]["n"].to_list() == [0, 0, 0, 2, 0]
    assert human[human["system"] == "qc"]["n"].to_list() == [0, 1, 0, 0, 0]
    numbers = found.numbers.set_index("label")
    assert numbers.loc["age", ["n", "mean", "median"]].to_list() == [2, 36.0, 36.0]
    assert numbers.loc["age", "sd"] == pytest.approx(50**0.5)  # both are 5 from their mean
    why = found.texts[found.texts["label"] == "why"].set_index("system")["n"]
    assert (why["quokka_plain"], why["qc"]) == (1, 0)


def test_a_kind_that_is_not_known_is_refused_and_not_counted_as_a_text(tmp_path: Path) -> None:
    url, run = answered_run(tmp_path, study_text(questionnaires=ASKED, criteria=SCALES), [])
    query(url, "UPDATE question SET kind = 'drawing' WHERE label = 'often'")
    with pytest.raises(DataError, match="question 'often': is answered by 'drawing', which this program"):
        load(url, run)


def test_a_task_that_is_not_known_is_refused_and_not_read_as_a_chat(tmp_path: Path) -> None:
    url, run = answered_run(tmp_path, study_text(), [])
    query(url, "UPDATE study SET task = 'interview'")
    with pytest.raises(SourceError, match="does not know the task interview of the run"):
        load(url, run)


def answered(folder: Path, given: list[tuple[Any, ...]], *, asked: bool = True) -> Run:
    """Return a run, read from a database, of two assignments that met a system, then the qc bot."""
    text = study_text(questionnaires=ASKED, criteria=SCALES) if asked else study_text()
    url, run = answered_run(folder, text, given)
    return load(url, run)
