"""Arrange the frames of a run as nested objects, one assignment at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.run import WORD_COLUMNS, Run, codes


@dataclass(frozen=True, slots=True)
class Loss:
    """One kind of data that is missing or changed in the file.

    Attributes:
        what: a description without full stop and count, such as "left-out assignments".
        count: their number.
        fatal: whether the file would misrepresent the ratings, so that it is not written.
    """

    what: str
    count: int
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.count}"


ASSIGNMENT = ["assignment", "hit", "worker", "seconds", "reward", "feedback"]
CONVERSATION = ["conversation", "position", "system", "persona"]
BLOCK = 2_000  # assignments converted at once; limits the memory

Json = dict[str, Any]


def assignments(run: Run) -> Iterator[Json]:
    """Yield the assignments of `run` in its order, each as nested objects.

    An assignment has the columns ASSIGNMENT and `conversations`, by position. A conversation has the columns
    CONVERSATION, with its persona as a list of sentences; `ratings`, by label; and `exchanges`, `topics` and
    `changes`, if the run has texts. Unknown values are None.
    """
    bounds = _offsets(codes(run.conversations["assignment"]), len(run.assignments))
    for first in range(0, len(run.assignments), BLOCK):
        begins = bounds[first : first + BLOCK + 1]
        held = _conversations(run, int(begins[0]), int(begins[-1]))
        given = records(run.assignments[ASSIGNMENT].iloc[first : first + BLOCK])
        for assignment, (start, end) in zip(given, pairwise((begins - begins[0]).tolist()), strict=True):
            yield {**assignment, "conversations": held[start:end]}


def _offsets(owners: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Return (count + 1,): the start of the rows of each owner 0 … count − 1 in the sorted `owners`."""
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)


def _conversations(run: Run, first: int, last: int) -> list[Json]:
    """Return the conversations from row `first` to before row `last`."""
    held = records(run.conversations[CONVERSATION].iloc[first:last])
    for conversation, ratings in zip(held, records(run.ratings.iloc[first:last]), strict=True):
        if conversation["persona"] is not None:
            conversation["persona"] = conversation["persona"].split("\n")
        conversation["ratings"] = ratings
    if run.words is None:
        return held
    for kind, columns in WORD_COLUMNS.items():
        frame = getattr(run.words, kind)
        begins = frame["conversation"].searchsorted(np.arange(first, last + 1))
        said = records(frame[["round", *columns]].iloc[begins[0] : begins[-1]])
        for conversation, (start, end) in zip(held, pairwise((begins - begins[0]).tolist()), strict=True):
            conversation[kind] = said[start:end]
    return held


def records(frame: pd.DataFrame) -> list[Json]:
    """Return the rows of `frame` in Python types, None for missing values; numbers as by `number`."""
    names, columns = frame.columns.to_list(), [_values(column) for _, column in frame.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pd.Series) -> list[Any]:
    known = column.astype(object).where(column.notna(), None).to_list()
    if column.dtype.kind != "f":
        return known
    return [None if value is None else number(value) for value in known]


def number(value: float) -> float:
    """Return a whole number as int; other numbers (and −0.0) unchanged."""
    whole = int(value)
    return whole if repr(value) == f"{whole}.0" else value
