"""Answers to a study's own questions: from the server's database to counts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.answers import count_answers
from qc.answers.marks import mean_f1
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


def test_marks_are_counted_and_workers_who_read_the_same_text_are_compared(tmp_path: Path) -> None:
    asked = {"label": "odd", "kind": "span", "question": "Mark it.", "text": "The cat sit on the mat."}
    of_replies = asked | {"label": "errors", "text": "output", "categories": ["Form", "Sense"]}
    text = study_text(questionnaires={"after": [asked], "conversation": [of_replies]})
    given = [
        # The first worker marks 8 to 12, the other 10 to 16: 2 characters in common, of 4 and 6. F1 is 4/10.
        ("a1", None, "after", "odd", '{"line": 0, "start": 8, "end": 12}', None),
        ("a2", None, "after", "odd", '{"line": 0, "start": 10, "end": 16}', None),
        *(
            ("a1", "a1-1.1", "conversation", "errors", mark, None)
            for mark in (
                '{"line": 1, "start": 0, "end": 3, "category": "Form"}',
                '{"line": 3, "start": 0, "end": 3, "category": "Sense"}',
            )
        ),
    ]
    found = count_answers(load(*answered_run(tmp_path, text, given)))
    assert found is not None
    spans = found.spans.set_index(["label", "system", "mark"]).sort_index()
    odd = spans.loc[("odd", "", "")]
    assert odd[["n", "answers", "share", "pairs", "f1"]].to_list() == [2, 2, 1.0, 1, pytest.approx(0.4)]
    # Each worker reads a conversation of their own: nobody can be compared.
    errors = spans.loc[("errors", "quokka_plain")][["n", "answers", "share", "pairs"]]
    assert errors.to_dict("index") == {
        "": {"n": 2, "answers": 2, "share": 0.5, "pairs": 0},
        "Form": {"n": 1, "answers": 2, "share": 0.5, "pairs": 0},
        "Sense": {"n": 1, "answers": 2, "share": 0.5, "pairs": 0},
    }
    assert spans.loc[("errors", "qc", ""), "n"] == 0


def test_agreement_is_the_mean_over_pairs_of_whom_one_has_marked() -> None:
    marked = [np.array(each, np.int64) for each in ([1, 2, 3], [2, 3, 4, 5], [], [])]
    # The first two: 2 x 2 / (3 + 4). Each of them with each of the others: 0. The last two: left out.
    assert mean_f1(marked) == (5, pytest.approx(4 / 7 / 5))
    assert mean_f1(marked[2:])[0] == 0
    assert np.isnan(mean_f1(marked[2:])[1])


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
