"""A table of the report, from which its file, its sheet, the page and the terminal are made."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from qc.number_format import MISSING, decimal, percent, probability, whole
from qc.robustness.clusters import ALPHA

SIGNIFICANT = ALPHA
SUGGESTIVE = 0.1


OVERALL = "overall"
GROUPS = ("passed", "failed", "all")
STEPS = 5


# The class that colours a value on a page.
Tone = Callable[[float], str]


def no_tone(_: float) -> str:
    """Return no class: the value is not coloured."""
    return ""


@dataclass(frozen=True, slots=True)
class Form:
    """How the values of a column are written: as `text` for a reader, and as a number format of `excel`."""

    text: Callable[[Any], str]
    excel: str = "0.000"


COUNT = Form(whole, "#,##0")
ONE, TWO, THREE = (Form(partial(decimal, digits=digits)) for digits in (1, 2, 3))
P, P_EXACT = Form(probability, "0.0000"), Form(partial(decimal, digits=4), "0.0000")
SHARE, ROUGH_SHARE = Form(percent, "0.0%"), Form(partial(percent, digits=0), "0.0%")
# Numbers that are text already, such as a range of ranks.
WRITTEN = Form(str)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, and `tone`, the class that colours it on a page."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is written.

    Attributes:
        key: of the column in the rows.
        head: what a reader finds above it; None: no reader sees it, its form is for the workbook.
        form: how its numbers are written; None: it holds text.
        upper: key of the upper ends, if a reader sees intervals whose lower ends are under `key`.
        tone: which class colours a value.
    """

    key: Hashable
    head: str | None = None
    form: Form | None = None
    upper: Hashable | None = None
    tone: Tone = no_tone

    def cells(self, rows: pd.DataFrame) -> list[Cell]:
        """Return the cells of `rows` in this column."""
        values = rows[self.key].tolist()
        text = self.form.text if self.form else str
        if self.upper is not None:
            ends = zip(values, rows[self.upper].tolist(), strict=True)
            return [
                Cell(f"{text(low)} to {text(high)}" if np.isfinite([low, high]).all() else MISSING)
                for low, high in ends
            ]
        return [Cell(text(value), self.tone(value)) for value in values]


INTERVAL = Column("low", "95 % interval", THREE, upper="high")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report.

    Attributes:
        frame: what its file and its sheet hold, every digit of it, under the keys of the file.
        columns: what is known of the columns; those with a head are what a reader sees, in this order.
        rows: what a reader sees, where that is not `frame` itself: put in order, reshaped, or in words.
        form: how the numbers of a column that is not described are written.
    """

    frame: pd.DataFrame
    columns: tuple[Column, ...] = ()
    rows: pd.DataFrame | None = None
    form: Form = THREE

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns that a reader sees."""
        return tuple(column for column in self.columns if column.head is not None)

    @property
    def shown_rows(self) -> pd.DataFrame:
        """The rows that a reader sees."""
        return self.frame if self.rows is None else self.rows

    def cells(self, most: int | None = None) -> list[tuple[Cell, ...]]:
        """Return what a reader sees, row by row; `most` is how many of the rows, None for all."""
        rows = self.shown_rows.iloc[:most]
        return list(zip(*(column.cells(rows) for column in self.shown), strict=True))

    def only(self, *keys: Hashable) -> "Table":
        """Return the table with the columns under `keys`, in their order, as far as it has them."""
        columns = {column.key: column for column in self.columns}
        return replace(self, columns=tuple(columns[key] for key in keys if key in columns))

    def form_of(self, key: Hashable) -> Form:
        """Return how the numbers under a key of the file are written."""
        forms = (column.form for column in self.columns if column.key == key)
        return next((form for form in forms if form), self.form)


def square(names: Sequence[str], values: ArrayLike) -> pd.DataFrame:
    """Return a matrix as the authors write it: its names above, and in a first column without a name."""
    table = pd.DataFrame(np.asarray(values, dtype=np.float64), columns=list(names))
    table.insert(0, "", list(names), allow_duplicates=True)
    return table


def matrix(
    frame: pd.DataFrame,
    corner: str,
    names: Iterable[str],
    heads: Iterable[str],
    values: NDArray[np.float64],
    form: Form,
    tone: Tone = no_tone,
) -> Table:
    """Return a table that a reader sees as numbers with a name before each row and a head above each column.

    Args:
        frame: what the file holds.
        corner: the head above the names.
        names: (n,), of the rows.
        heads: (m,), of the columns; they may come from the data, so that two are alike.
        values: (n, m).
        form: how the numbers are written.
        tone: which class colours a number.
    """
    rows = pd.DataFrame(values)
    rows.insert(0, "name", list(names))
    columns = (Column(number, head, form, tone=tone) for number, head in enumerate(heads))
    return Table(frame, (Column("name", corner), *columns), rows, form)


def shade(share: float) -> str:
    """Return the class that colours a value: its side of 0, and how far from it; 1 and more is farthest."""
    step = min(round(abs(share) * STEPS), STEPS) if np.isfinite(share) else 0
    return f"{'above' if share > 0 else 'below'}-{step}" if step else ""
