"""Read the answers to a study's own questions from the views of questions and answers."""

import pandas as pd

from qc.loading.database.views import ANSWER, QUESTION, Views
from qc.run import Answers

_OPTIONAL = ("conversation_id", "system", "text", "number", "points")


def answers(views: Views, run_id: object, assignments: pd.Series) -> Answers | None:
    """Return the questions of a run and what `assignments` have answered; None where none were asked.

    Databases of older servers have no such views, and asked nothing.
    """
    if not views.has("v1_question"):
        return None
    questions = views.rows("v1_question", QUESTION, run_id, _OPTIONAL)
    if questions.empty:
        return None
    given = views.rows("v1_answer", ANSWER, run_id, _OPTIONAL)
    given = given[given["assignment_id"].isin(assignments)].sort_values("ordinal", ignore_index=True)
    questions = questions.assign(
        choices=questions["choices"].map(lambda text: tuple(text.split("\n")) if text else ()),
        points=questions["points"].fillna(0).astype("int64"),
        part=pd.Categorical(questions["part"], ["before", "conversation", "after"]),
    )
    return Answers(
        questions=questions.sort_values(["part", "position"], ignore_index=True)
        .drop(columns="position")
        .astype({"part": str}),
        given=given.rename(columns={"assignment_id": "assignment", "conversation_id": "conversation"})
        .drop(columns="ordinal")
        .astype({"number": "float64"}),
    )
