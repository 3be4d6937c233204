"""Correctness of answers: the computed criteria, and what contradicts itself."""

import json

import pytest

from server.bots.lineup import study_card
from server.errors import AnswersUnfit
from server.session.correctness import correctness_values
from server.study import parse_study
from tests.server.support.items import items_text


def mark(line: int, category: str, start: int = 0) -> tuple[str, str]:
    return "evidence", json.dumps({"line": line, "start": start, "end": start + 3, "category": category})


YES, CONFIRMED = ("plausible", "yes"), ("confirmed", "yes")


@pytest.mark.parametrize(
    ("answers", "any_correct", "avg_correct"),
    [
        ([("plausible", "no")], 0, 0),
        ([YES], 0, 0),  # no paragraph decides
        ([YES, mark(0, "incorrect"), CONFIRMED], 0, 0),
        # Two paragraphs of three say so; the second has two marks, and counts once. 200 / 3 is 67.
        (
            [
                YES,
                mark(0, "correct"),
                mark(1, "correct"),
                mark(1, "correct", 5),
                mark(4, "incorrect"),
                CONFIRMED,
            ],
            100,
            67,
        ),
    ],
)
def test_the_criteria_are_computed_from_the_paragraphs_that_decide(
    answers: list[tuple[str, float | str]], any_correct: int, avg_correct: int
) -> None:
    assert correctness_values(answers) == {"any_correct": any_correct, "avg_correct": avg_correct}


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([("plausible", "no"), mark(0, "correct"), CONFIRMED], "Only a plausible answer has evidence"),
        ([YES, mark(0, "correct"), mark(0, "incorrect", 5), CONFIRMED], "not both"),
        ([YES, mark(0, "correct")], "not confirmed"),
        ([YES, mark(0, "correct"), ("confirmed", "no")], "not confirmed"),
    ],
)
def test_contradictions_are_refused(answers: list[tuple[str, float | str]], why: str) -> None:
    with pytest.raises(AnswersUnfit, match=why):
        correctness_values(answers)


def test_workers_do_not_see_what_is_computed() -> None:
    study = parse_study(items_text(correctness=True))
    assert [one.label for one in study.criteria] == ["clear", "dull", "any_correct", "avg_correct"]
    assert [one.label for one in study_card(study).criteria] == ["clear", "dull"]
    assert [one.label for one in study.asked.conversation] == ["plausible", "evidence", "confirmed"]
