"""The quiz after conversations, beside the worker filter."""

import numpy as np

from qc.method.quiz import QuizResults
from qc.render.table import COUNT, ONE, P_EXACT, SHARE, Column, Table

_COUNTED = (
    Column("asked", "Asked", COUNT),
    Column("answered", "Answered", COUNT),
    Column("right", "Right", COUNT),
    Column("expected", "By chance", ONE),
    Column("share", "Share right", SHARE),
    Column("low", "95 % interval", SHARE, upper="high"),
    Column("high", None, SHARE),
)


def groups(found: QuizResults) -> Table:
    """Return how workers who passed, who failed, and all of them answered."""
    columns = (Column("group", "Workers who"), Column("workers", "Workers", COUNT), *_COUNTED)
    return Table(found.groups, columns)


def workers(found: QuizResults) -> Table:
    """Return how each worker answered; a reader sees who was not above chance first."""
    ordered = found.workers.sort_values(["p", "worker"], ascending=[False, True], na_position="first")
    shown = ordered.assign(
        outcome=np.where(ordered["passed"], "passed", "failed"),
        above=np.where(ordered["above_chance"], "yes", "no"),
    )
    columns = (
        Column("worker", "Worker"),
        Column("outcome", "Filter"),
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
