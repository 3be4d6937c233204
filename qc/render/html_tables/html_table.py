"""Tables of the page: rows of cells as they are shown, made from tables in full precision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.number_format import between, decimal

SHOWN_ROWS = 200
STEPS = 5

Write = Callable[[float], str]

two, one = partial(decimal, digits=2), partial(decimal, digits=1)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, and `tone`, the class that colours it."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table: `heads` above the columns, of which the first names the rows, and those of numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a frame: its name there, its heading here, and how its numbers are written (None: text)."""

    name: str
    head: str
    write: Write | None = None

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.write is not None

    def cells(self, frame: pd.DataFrame) -> list[Cell]:
        """Return the cells of `frame` in this column."""
        write = self.write or str
        return [Cell(write(value)) for value in frame[self.name].tolist()]


@dataclass(frozen=True, slots=True)
class Span:
    """Two columns of a frame that are the ends of an interval."""

    low: str = "low"
    high: str = "high"
    head: str = "95 % interval"
    numeric: bool = True

    def cells(self, frame: pd.DataFrame) -> list[Cell]:
        """Return the intervals of `frame`."""
        ends = zip(frame[self.low].tolist(), frame[self.high].tolist(), strict=True)
        return [Cell(between(low, high)) for low, high in ends]


Columns = tuple[Column | Span, ...]


def html_table(frame: pd.DataFrame, *columns: Column | Span) -> HtmlTable:
    """Return the `columns` of the first SHOWN_ROWS of `frame`."""
    shown = frame.head(SHOWN_ROWS)
    return HtmlTable(
        heads=tuple(column.head for column in columns),
        rows=tuple(zip(*(column.cells(shown) for column in columns), strict=True)),
        numeric=tuple(column.numeric for column in columns),
    )


def matrix(
    corner: str,
    names: Sequence[str],
    heads: Sequence[str],
    values: NDArray[np.float64],
    write: Write,
    tone: Callable[[float], str] = lambda _: "",
) -> HtmlTable:
    """Return numbers with a name before each row and a head above each column."""
    rows = zip(names, values.tolist(), strict=True)
    return HtmlTable(
        heads=(corner, *heads),
        rows=tuple((Cell(name), *(Cell(write(each), tone(each)) for each in row)) for name, row in rows),
        numeric=(False, *(True for _ in heads)),
    )


def shade(share: float) -> str:
    """Return the class that colours a value: its side of 0, and how far from it; 1 and more is farthest."""
    step = min(round(abs(share) * STEPS), STEPS) if np.isfinite(share) else 0
    return f"{'above' if share > 0 else 'below'}-{step}" if step else ""
