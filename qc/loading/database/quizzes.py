"""Read the quizzes after conversations from their view."""

import numpy as np
import pandas as pd

from qc.errors import Problem
from qc.loading.asked import QUIZ_COLUMNS
from qc.loading.database.values import flags, located, numbers
from qc.loading.database.views import QUIZ, Views


def quizzes(
    views: Views, run_id: object, rated: pd.DataFrame, problems: list[Problem]
) -> pd.DataFrame | None:
    """Return the quizzes about the conversations of `rated`; None where the run has none.

    Databases of older servers have no such view, and their studies no quiz.
    """
    rows = views.of_conversations("v1_quiz", QUIZ, run_id, rated)
    if rows is None:
        return None
    where = located("conversation", rows["conversation_id"])
    answered = rows["is_right"].notna()
    right = flags(rows.loc[answered, "is_right"], where[answered], problems).astype(np.float64)
    found: pd.DataFrame = rows.assign(
        choices=numbers(rows["choices"], where, "the number of lines of a quiz", problems).fillna(0),
        is_right=right.reindex(rows.index),
    )
    return found[QUIZ_COLUMNS]
