"""A table of the report: the source of its CSV file, its sheet and its display; numbers for readers."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from qc.statistics.confidence import ALPHA

MISSING = "–"


def decimal(value: float, digits: int = 3) -> str:
    """Return `value` with `digits` decimals and a true minus sign; a dash if it is unknown."""
    if not math.isfinite(value):
        return MISSING
    text = f"{value:,.{digits}f}"
    return f"−{text[1:]}" if text.startswith("-") and text.strip("-0.,") else text.removeprefix("-")


def probability(p: float) -> str:
    """Return a p-value with three decimals, `< 0.001` below that."""
    if not math.isfinite(p):
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def relation(p: float) -> str:
    """Return p with its relation sign, to follow its name: `= 0.012` or `< 0.001`."""
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share of 1 in per cent."""
    return f"{decimal(100 * share, digits)} %" if math.isfinite(share) else MISSING


def chance(share: float) -> str:
    """Return a chance in per cent, never as certain: below 0.5 % it is `< 1 %`, from 99.5 % `> 99 %`."""
    if math.isnan(share):
        return MISSING
    if share < 0.005:
        return "< 1 %"
    return "> 99 %" if share >= 0.995 else percent(share, 0)


def whole(number: float) -> str:
    """Return a count with a separator between thousands."""
    return decimal(number, 0)


def counted(number: float, noun: str, plural: str = "") -> str:
    """Return a count with its noun: `1 vote`, `2 votes`. `plural` is only needed if it is not `noun` + s."""
    return f"{whole(number)} {noun if number == 1 else plural or noun + 's'}"


def between(low: float, high: float, digits: int = 3) -> str:
    """Return an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return MISSING
    return f"{decimal(low, digits)} to {decimal(high, digits)}"


def ranks(low: int, high: int) -> str:
    """Return a range of ranks; a dash for 0, which means no rank."""
    if high == 0:
        return MISSING
    return str(low) if low == high else f"{low}–{high}"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """Return names as a phrase: `a, b and c`; beyond `limit`, only the number of the others."""
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


SIGNIFICANT = ALPHA
SUGGESTIVE = 0.1


OVERALL = "overall"
GROUPS = ("passed", "failed", "all")
STEPS = 5


# Returns the CSS class that colours a value on a page.
Tone = Callable[[float], str]


def no_tone(_: float) -> str:
    """Return no class, so that the value is not coloured."""
    return ""


@dataclass(frozen=True, slots=True)
class Form:
    """Format of a column's values: `text` for readers, and an `excel` number format."""

    text: Callable[[Any], str]
    excel: str = "0.000"


COUNT = Form(whole, "#,##0")
ONE, TWO, THREE = (Form(partial(decimal, digits=digits)) for digits in (1, 2, 3))
P, P_EXACT = Form(probability, "0.0000"), Form(partial(decimal, digits=4), "0.0000")
SHARE, ROUGH_SHARE = Form(percent, "0.0%"), Form(partial(percent, digits=0), "0.0%")
CHANCE = Form(chance, "0.0%")
# For values that are text already, such as a range of ranks.
WRITTEN = Form(str)


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell, and `tone`, the CSS class that colours it on a page."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """Description of a column.

    Attributes:
        key: key of the column in the rows.
        head: heading; None if the column is not displayed, and `form` is only for the workbook.
        form: format of its numbers; None if it holds text.
        upper: key of the upper ends, if the column is displayed as intervals with lower ends under `key`.
        tone: gives the CSS class that colours a value.
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


# Columns that many tables have.
SYSTEM_COLUMN = Column("system", "System")
INTERVAL = Column("low", "95 % interval", THREE, upper="high")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report.

    Attributes:
        frame: content of its file and its sheet, in full precision, with the keys of the file.
        columns: descriptions of columns; those with a head are displayed, in this order.
        rows: rows to display, if they differ from `frame`: sorted, reshaped, or in words.
        form: format of numbers in columns without a description.
    """

    frame: pd.DataFrame
    columns: tuple[Column, ...] = ()
    rows: pd.DataFrame | None = None
    form: Form = THREE

    @property
    def shown(self) -> tuple[Column, ...]:
        """The displayed columns."""
        return tuple(column for column in self.columns if column.head is not None)

    @property
    def shown_rows(self) -> pd.DataFrame:
        """The displayed rows."""
        return self.frame if self.rows is None else self.rows

    def cells(self, most: int | None = None) -> list[tuple[Cell, ...]]:
        """Return the displayed cells, row by row; at most `most` rows, None for all."""
        rows = self.shown_rows.iloc[:most]
        return list(zip(*(column.cells(rows) for column in self.shown), strict=True))

    def only(self, *keys: Hashable) -> "Table":
        """Return the table with only the columns `keys`, in this order; missing ones are skipped."""
        columns = {column.key: column for column in self.columns}
        return replace(self, columns=tuple(columns[key] for key in keys if key in columns))

    def form_of(self, key: Hashable) -> Form:
        """Return the format of the numbers in the column `key` of the file."""
        forms = (column.form for column in self.columns if column.key == key)
        return next((form for form in forms if form), self.form)


def square(names: Sequence[str], values: ArrayLike) -> pd.DataFrame:
    """Return a matrix in the authors' form: names as headings, and in a first column without a heading."""
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
    """Return a table that is displayed as a matrix with row names and column headings.

    Args:
        frame: content of the file.
        corner: heading above the row names.
        names: (n,), names of the rows.
        heads: (m,), headings of the columns; they may come from the data, so two may be equal.
        values: (n, m).
        form: format of the numbers.
        tone: gives the CSS class that colours a number.
    """
    rows = pd.DataFrame(values)
    rows.insert(0, "name", list(names))
    columns = (Column(number, head, form, tone=tone) for number, head in enumerate(heads))
    return Table(frame, (Column("name", corner), *columns), rows, form)


def shade(share: float) -> str:
    """Return the CSS class for a value, by its sign and its distance from 0; 1 or more is the strongest."""
    step = min(round(abs(share) * STEPS), STEPS) if np.isfinite(share) else 0
    return f"{'above' if share > 0 else 'below'}-{step}" if step else ""


def side_by_side(frame: pd.DataFrame, index: str, values: list[str], order: list[str]) -> pd.DataFrame:
    """Return `values` of each of GROUPS in columns such as `count passed`, with rows in the order `order`."""
    wide = frame.pivot(index=index, columns="group", values=values).reindex(order)
    wide.columns = pd.Index([" ".join(pair) for pair in wide.columns])
    return wide.reset_index()
