"""What a study asked beyond ratings, as both forms of our export hold it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from qc.formats.export import GivenAnswer, Header, TurnRating
from qc.loading.asked import GIVEN_COLUMNS, QUESTION_COLUMNS, TURN_COLUMNS
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


def add_asked(raw: RawRun, declared: Header, held: Sequence[AskedOf], scenarios: pd.Series | None) -> RawRun:
    """Return the run of an export with what its study asked beyond ratings, as far as its header has any."""
    given = [
        (one.assignment, one.conversation, answer.part, answer.label, answer.text, answer.number)
        for one in held
        for answer in one.answers
    ]
    rated = [(one.row, rating.turn, rating.value) for one in held for rating in one.turn_ratings]
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
    )
