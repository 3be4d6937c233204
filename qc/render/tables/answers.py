"""Answers to a study's own questions."""

from qc.method.answers import AnswerCounts
from qc.render.table import COUNT, SHARE, TWO, Column, Table

_PARTS = {
    "before": "before the first conversation",
    "conversation": "after a conversation",
    "after": "after the last conversation",
}
_WHERE = (Column("question", "Question"), Column("when", "Asked"), Column("system", "System"))


def counts(found: AnswerCounts) -> Table | None:
    """Return how often each answer was given; None where no question has fixed answers."""
    if found.counts.empty:
        return None
    columns = (*_WHERE, Column("answer", "Answer"), Column("n", "n", COUNT), Column("share", "Share", SHARE))
    return Table(found.counts, columns, found.counts.assign(when=found.counts["part"].map(_PARTS)))


def numbers(found: AnswerCounts) -> Table | None:
    """Return the means of sliders and numbers; None where no question is answered by one."""
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
