"""Tables of the quiz after conversations, compared with the worker filter."""

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
    """Return the results for workers who passed, who failed, and all."""
    columns = (*OF_A_GROUP, *_COUNTED)
    return Table(found.groups, columns)


def workers(found: QuizResults) -> Table:
    """Return the results of each worker; a reader sees those not above chance first."""
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
    """Count the workers by result of the filter and by whether they were above chance."""
    columns = (
        Column("filter", "Workers who"),
        Column("above", "Above chance", COUNT),
        Column("not_above", "Not above", COUNT),
    )
    return Table(found.agreement, columns)


def not_asked(found: QuizResults) -> Table:
    """Count the conversations without a quiz, by reason."""
    columns = (Column("why", "Why"), Column("conversations", "Conversations", COUNT))
    reasons = {
        "few_lines": "too few lines said to others",
        "few_replies": "no reply from the middle to ask about",
    }
    return Table(found.not_asked, columns, found.not_asked.assign(why=found.not_asked["why"].map(reasons)))
