"""An MTurk batch that is in order: which systems are in it, and what is taken or left out."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from qc.loading import load

Rows = list[dict[str, str]]


def test_the_seed_tells_whether_there_was_a_persona(batch: Rows, batch_file: Callable[[Rows], Path]) -> None:
    # Seed 500 is the last with a persona, 501 the first without.
    run = load(str(batch_file(batch)))
    assert list(run.conversations["system"]) == ["kv_p", "qc", "kv", "qc"]
    assert run.systems.to_dict("records") == [
        {"system": "kv", "family": "kv", "has_persona": False, "is_qc": False},
        {"system": "kv_p", "family": "kv", "has_persona": True, "is_qc": False},
        {"system": "qc", "family": "qc", "has_persona": False, "is_qc": True},
    ]


def test_the_seven_numbers_are_in_the_order_of_the_instrument(
    batch: Rows, batch_file: Callable[[Rows], Path]
) -> None:
    first = load(str(batch_file(batch))).ratings.iloc[0]
    # 90#60#70#80#85#40#75# in the order robotic, interesting, fun, consistent, fluent, repetitive, topic.
    assert first.to_dict() == {
        "interesting": 60,
        "fun": 70,
        "consistent": 80,
        "fluent": 85,
        "topic": 75,
        "robotic": 90,
        "repetitive": 40,
    }


@pytest.mark.parametrize(
    "answer", ['[{"feedback": "x"}]', "[{}]", "{}", "[]", "", '[{"error-message": "x"}]']
)
def test_an_assignment_without_answers_is_left_out_and_named(
    answer: str, batch: Rows, batch_file: Callable[[Rows], Path], report: Callable[..., Result]
) -> None:
    batch[2]["Answer.taskAnswers"] = answer
    path = batch_file(batch)
    (left,) = load(str(path)).left_out
    assert (left.assignment, left.worker, left.reason) == ("A3", "W3", "no answers")
    assert "Left out, no answers: 1 assignment (A3)" in report(path).stdout


def test_a_row_given_twice_is_taken_once_and_noted(batch: Rows, batch_file: Callable[[Rows], Path]) -> None:
    # The status may have changed between two downloads; nothing that is analysed has.
    run = load(str(batch_file([*batch, {**batch[1], "AssignmentStatus": "Approved"}])))
    assert list(run.assignments["assignment"]) == ["A1", "A2"]
    assert run.notes == ("Rows given twice with the same content, taken once: A2.",)


def test_rejected_assignments_are_analysed_all_the_same(
    batch: Rows, batch_file: Callable[[Rows], Path]
) -> None:
    batch[0]["AssignmentStatus"] = "Rejected"
    assert len(load(str(batch_file(batch))).assignments) == 2


def test_a_byte_order_mark_is_no_obstacle(batch: Rows, batch_file: Callable[[Rows], Path]) -> None:
    path = batch_file(batch)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert np.array_equal(load(str(path)).assignments["seconds"], [600, 600])
