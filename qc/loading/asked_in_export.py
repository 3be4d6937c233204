"""Read answers, ratings of replies, scenarios and quizzes from both forms of our export."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from qc.formats.export import GivenAnswer, Header, Quiz, TurnRating, Writing
from qc.loading.asked import GIVEN_COLUMNS, QUESTION_COLUMNS, QUIZ_COLUMNS, TURN_COLUMNS, WRITING_COLUMNS
from qc.loading.raw_run import RawRun
from qc.run import Answers


@dataclass(frozen=True)
class AskedOf:
    """What one conversation, or one assignment, of an export holds beyond ratings.

    `row` is that of the conversation; None of an assignment.
    """

    assignment: str
    conversation: str | None
    row: int | None
    answers: Sequence[GivenAnswer]
    turn_ratings: Sequence[TurnRating] = ()
    quiz: Quiz | None = None
    writing: Writing | None = None


def add_asked(raw: RawRun, declared: Header, held: Sequence[AskedOf], scenarios: pd.Series | None) -> RawRun:
    """Return the run of an export with what its study asked beyond ratings, as far as its header has any."""
    given = [
        (one.assignment, one.conversation, answer.part, answer.label, answer.text, answer.number)
        for one in held
        for answer in one.answers
    ]
    rated = [(one.row, rating.turn, rating.value) for one in held for rating in one.turn_ratings]
    quizzes = [
        (
            one.row,
            one.quiz.choices,
            one.quiz.why_not,
            np.nan if one.quiz.is_right is None else one.quiz.is_right,
        )
        for one in held
        if one.quiz is not None
    ]
    writing = [
        {"conversation": one.row, **one.writing.model_dump()} for one in held if one.writing is not None
    ]
    answers = None
    if declared.questions is not None:
        questions = [{**one.model_dump(), "choices": tuple(one.choices)} for one in declared.questions]
        answers = Answers(
            pd.DataFrame(questions, columns=QUESTION_COLUMNS),
            pd.DataFrame(given, columns=[name for name in GIVEN_COLUMNS if name != "system"]),
        )
    return replace(
        raw,
        answers=answers,
        scenarios=scenarios if declared.scenarios else None,
        turn_ratings=pd.DataFrame(rated, columns=TURN_COLUMNS) if declared.turn_ratings else None,
        quizzes=pd.DataFrame(quizzes, columns=QUIZ_COLUMNS) if declared.quizzes else None,
        writing=pd.DataFrame(writing, columns=WRITING_COLUMNS) if declared.writing else None,
    )
