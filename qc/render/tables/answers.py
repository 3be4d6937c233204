"""Answers to a study's own questions, with only the workers who passed quality control."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.answers import AnswerCounts
from qc.render.table import COUNT, SHARE, TWO, Column, Table

OF_A_GROUP = (Column("group", "Workers who"), Column("workers", "Workers", COUNT))
OF_A_WORKER = (Column("worker", "Worker"), Column("outcome", "Filter"))


def outcome(workers: pd.DataFrame) -> NDArray[np.str_]:
    """Return the outcome of each worker, from `passed`."""
    return np.where(workers["passed"], "passed", "failed")


def share_columns(head: str) -> tuple[Column, Column, Column]:
    """Return the columns of `share`, with the heading `head`, and of its interval from `low` to `high`."""
    return (
        Column("share", head, SHARE),
        Column("low", "95 % interval", SHARE, upper="high"),
        Column("high", None, SHARE),
    )


_PARTS = {
    "before": "before the first conversation",
    "conversation": "after a conversation",
    "after": "after the last conversation",
}
_WHERE = (Column("question", "Question"), Column("when", "Asked"), Column("system", "System"))


def counts(found: AnswerCounts) -> Table | None:
    """Return how often each answer was given; None if no question has fixed answers."""
    if found.counts.empty:
        return None
    columns = (*_WHERE, Column("answer", "Answer"), Column("n", "n", COUNT), Column("share", "Share", SHARE))
    return Table(found.counts, columns, found.counts.assign(when=found.counts["part"].map(_PARTS)))


def numbers(found: AnswerCounts) -> Table | None:
    """Return the means of sliders and numbers; None if no question is answered by one."""
    if found.numbers.empty:
        return None
    columns = (
        *_WHERE,
        Column("n", "n", COUNT),
        Column("mean", "Mean", TWO),
        Column("sd", "SD", TWO),
        Column("median", "Median", TWO),
    )
    return Table(found.numbers, columns, found.numbers.assign(when=found.numbers["part"].map(_PARTS)))
