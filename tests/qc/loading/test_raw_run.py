"""The checks that hold for every source, and the order of what comes out."""

from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.errors import DataError
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    SYSTEM_COLUMNS,
    RawRun,
    build_run,
)

# Two assignments, the second first; of its two conversations, the second first.
RAW = RawRun(
    name="drafted",
    source="a source",
    criteria=pd.DataFrame([("fun", False, True, 100.0)], columns=CRITERION_COLUMNS),
    systems=pd.DataFrame([("qc", "qc", False, True), ("a", "a", False, False)], columns=SYSTEM_COLUMNS),
    assignments=pd.DataFrame(
        [("line 2", "B", "H", "zoe", 60.0, 0.99, None), ("line 3", "A", "H", "amy", 60.0, 0.99, "Fun!")],
        columns=ASSIGNMENT_COLUMNS,
    ),
    conversations=pd.DataFrame(
        [
            ("line 2, second", "B/2", "B", 2, "qc", None),
            ("line 2, first", "B/1", "B", 1, "a", None),
            ("line 3", "A/1", "A", 1, "a", "I cook."),
        ],
        columns=CONVERSATION_COLUMNS,
    ),
    ratings=pd.DataFrame({"fun": [1.0, 2.0, 3.0]}),
)


def changed(part: str, column: str, row: int, value: Any) -> RawRun:
    frame = getattr(RAW, part).astype({column: object})
    frame.loc[row, column] = value
    return replace(RAW, **{part: frame})


def test_rows_are_ordered_by_assignment_and_position() -> None:
    run = build_run(RAW)
    assert list(run.assignments["assignment"]) == ["A", "B"]
    assert list(run.assignments["worker"]) == ["amy", "zoe"]
    assert list(run.conversations["conversation"]) == ["A/1", "B/1", "B/2"]
    assert list(run.ratings["fun"]) == [3, 2, 1]
    assert list(run.systems["system"]) == ["a", "qc"]


def test_names_decide_where_two_conversations_have_one_place() -> None:
    conversations = RAW.conversations.assign(position=1)
    run = build_run(replace(RAW, conversations=conversations))
    assert list(run.conversations["conversation"]) == ["A/1", "B/1", "B/2"]


def test_an_assignment_without_a_conversation_takes_no_part() -> None:
    run = build_run(replace(RAW, conversations=RAW.conversations[:2], ratings=RAW.ratings[:2]))
    assert list(run.assignments["assignment"]) == ["B"]
    assert list(run.assignments["worker"].cat.categories) == ["zoe"]


@pytest.mark.parametrize(
    ("part", "column", "row", "value", "expected"),
    [
        ("assignments", "seconds", 1, -3, "line 3: the working time is negative (-3 s)"),
        ("assignments", "seconds", 1, inf, "line 3: the working time is infinite (inf s)"),
        ("assignments", "reward", 0, -0.5, "line 2: the reward is negative (-0.5 dollars)"),
        ("assignments", "assignment", 1, "B", "line 3: assignment 'B' was already given at line 2"),
        ("conversations", "position", 2, 0, "line 3: the position is 0, not a whole number from 1"),
        ("conversations", "position", 2, 1.5, "line 3: the position is 1.5, not a whole number from 1"),
        ("conversations", "system", 1, "b", "line 2, first: unknown system 'b'. Known are: qc, a"),
        ("ratings", "fun", 0, nan, "line 2, second: 'fun' is not rated"),
        ("ratings", "fun", 0, inf, "line 2, second: 'fun' is rated inf, not within 0 to 100"),
        ("ratings", "fun", 0, -1, "line 2, second: 'fun' is rated -1, not within 0 to 100"),
    ],
)
def test_each_fault_is_told_with_its_place(
    part: str, column: str, row: int, value: Any, expected: str
) -> None:
    with pytest.raises(DataError) as caught:
        build_run(changed(part, column, row, value))
    assert len(caught.value.problems) == 1
    assert str(caught.value.problems[0]).startswith(expected)


def called(label: str) -> RawRun:
    criteria, ratings = RAW.criteria.assign(label=label), RAW.ratings.set_axis([label], axis=1)
    return replace(RAW, criteria=criteria, ratings=ratings)


@pytest.mark.parametrize("label", ["overall", "system", "n", "model", "N", "z", "raw"])
def test_a_criterion_is_not_called_as_a_column_of_the_results(label: str) -> None:
    with pytest.raises(DataError) as caught:
        build_run(called(label))
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"criterion '{label}': is the name of a column of the results")
    assert list(build_run(called(label * 2)).ratings) == [label * 2]


@pytest.mark.parametrize("column", ["seconds", "reward", "feedback"])
def test_what_is_not_known_is_missing(column: str) -> None:
    frame = RAW.assignments.assign(**{column: [None, None]})
    found = build_run(replace(RAW, assignments=frame)).assignments[column]
    assert found.isna().all()
    assert found.dtype == (np.float64 if column != "feedback" else "str")
