"""The quiz after conversations, beside the worker filter."""

import numpy as np

from qc.method.quiz import QuizResults
from qc.render.table import COUNT, ONE, P_EXACT, Column, Table
from qc.render.tables.answers import OF_A_GROUP, OF_A_WORKER, outcome, share_columns

_COUNTED = (
    Column("asked", "Asked", COUNT),
    Column("answered", "Answered", COUNT),
    Column("right", "Right", COUNT),
    Column("expected", "By chance", ONE),
    *share_columns("Share right"),
)


def groups(found: QuizResults) -> Table:
    """Return how workers who passed, who failed, and all of them answered."""
    columns = (*OF_A_GROUP, *_COUNTED)
    return Table(found.groups, columns)


def workers(found: QuizResults) -> Table:
    """Return how each worker answered; a reader sees who was not above chance first."""
    ordered = found.workers.sort_values(["p", "worker"], ascending=[False, True], na_position="first")
    shown = ordered.assign(
        outcome=outcome(ordered),
        above=np.where(ordered["above_chance"], "yes", "no"),
    )
    columns = (
        *OF_A_WORKER,
        *_COUNTED,
        Column("p", "p of guessing", P_EXACT),
        Column("above", "Above chance"),
    )
    return Table(found.workers, columns, shown)


def agreement(found: QuizResults) -> Table:
    """Return how many workers passed the filter, and how many were above chance."""
    columns = (
        Column("filter", "Workers who"),
        Column("above", "Above chance", COUNT),
        Column("not_above", "Not above", COUNT),
    )
    return Table(found.agreement, columns)


def not_asked(found: QuizResults) -> Table:
    """Return after how many conversations nothing was asked, and why."""
    columns = (Column("why", "Why"), Column("conversations", "Conversations", COUNT))
    reasons = {
        "few_lines": "too few lines said to others",
        "few_replies": "no reply from the middle to ask about",
    }
    return Table(found.not_asked, columns, found.not_asked.assign(why=found.not_asked["why"].map(reasons)))
