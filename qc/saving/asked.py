"""Convert answers, ratings of replies, scenarios, quizzes and writing data to lists of objects."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from qc.run import WRITING_NUMBERS, Run

Json = dict[str, Any]
_ANSWER = ["part", "label", "text", "number"]


@dataclass(frozen=True)
class AskedQuestions:
    """Data besides ratings; a part is None if the study did not ask for it.

    Attributes:
        scenarios: for each conversation of the run, its scenario; None if it has none.
        turn_ratings: for each conversation, its rated replies: `turn`, `value`.
        quizzes: for each conversation, its quiz: `choices`, `why_not`, `is_right`; None if it has none.
        writing: for each conversation, how its inputs were written: WRITING_NUMBERS; None if not recorded.
        answers: for each conversation, the answers about it: `part`, `label`, `text`, `number`.
        assignment_answers: for each assignment of the run, the answers about the whole assignment.
    """

    scenarios: list[str | None] | None
    turn_ratings: list[list[Json]] | None
    quizzes: list[Json | None] | None
    writing: list[Json | None] | None
    answers: list[list[Json]] | None
    assignment_answers: list[list[Json]] | None


def asked(run: Run) -> AskedQuestions:
    """Return the data of `run` besides ratings."""
    turns, answers, of_all = run.turn_ratings, None, None
    conversations, assignments = run.conversations["conversation"], run.assignments["assignment"]
    if run.answers is not None:
        given = run.answers.given
        about = given["conversation"].notna()
        answers = _lists(given[about], given.loc[about, "conversation"], conversations, _ANSWER)
        of_all = _lists(given[~about], given.loc[~about, "assignment"], assignments, _ANSWER)
    return AskedQuestions(
        scenarios=None if run.scenarios is None else _known(run.scenarios),
        turn_ratings=None
        if turns is None
        else _lists(turns, turns["conversation"], np.arange(len(conversations)), ["turn", "value"]),
        quizzes=None if run.quizzes is None else _quizzes(run.quizzes, len(conversations)),
        writing=None if run.writing is None else _writing(run.writing, len(conversations)),
        answers=answers,
        assignment_answers=of_all,
    )


def _quizzes(quizzes: pd.DataFrame, conversations: int) -> list[Json | None]:
    found: list[Json | None] = [None] * conversations
    rows = quizzes["conversation"], quizzes["choices"], quizzes["why_not"], quizzes["is_right"]
    for row, choices, why_not, is_right in zip(*(part.to_list() for part in rows), strict=True):
        answer = None if np.isnan(is_right) else bool(is_right)
        found[row] = {
            "choices": choices,
            "why_not": why_not if isinstance(why_not, str) else None,
            "is_right": answer,
        }
    return found


def _writing(writing: pd.DataFrame, conversations: int) -> list[Json | None]:
    found: list[Json | None] = [None] * conversations
    for row, numbers in zip(
        writing["conversation"].to_list(), writing[[*WRITING_NUMBERS]].to_dict("records"), strict=True
    ):
        found[row] = {str(name): int(value) for name, value in numbers.items()}
    return found


def _known(column: pd.Series) -> list[Any]:
    return column.astype(object).where(column.notna(), None).to_list()


def _lists(
    rows: pd.DataFrame, owners: pd.Series, names: Iterable[Any], columns: list[str]
) -> list[list[Json]]:
    """Return, for each of `names`, its rows as objects."""
    at = {name: row for row, name in enumerate(names)}
    found: list[list[Json]] = [[] for _ in at]
    values = zip(*(_known(rows[column]) for column in columns), strict=True)
    for owner, row in zip(owners, values, strict=True):
        found[at[owner]].append(dict(zip(columns, row, strict=True)))
    return found
