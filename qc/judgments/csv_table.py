"""A CSV file as columns of text, with our names for the columns."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.formats.spreadsheet import misshapen

OUTPUT, ITEM, SYSTEM = "output", "item", "system"
WORKER, CRITERION, VALUE, POSITION = "worker", "criterion", "value", "position"
# Other names of the same columns, including those of the two public data sets.
_OURS = {
    "conversation": OUTPUT,
    "instance": ITEM,
    "rater": WORKER,
    "annotator": WORKER,
    "prompt": CRITERION,
    "rating": VALUE,
}
# Numeric columns of outputs that are not metrics.
NO_METRICS = frozenset({"judgments", "published"})
# If this column varies within an output, it numbers the judgments; else it may be a metric (a model as
# judge).
NUMBER = "judge"
# Separates the names of several systems that gave the same output and share a row.
BETWEEN_SYSTEMS = ";"


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: its path as given, and its cells as text, with our names for the columns."""

    path: str
    cells: pd.DataFrame

    def rows_where(self, bad: NDArray[np.bool_], why: str, remedy: str) -> list[Problem]:
        """Return a problem for every row that is `bad`; the header is row 1, as in a spreadsheet."""
        return [Problem(f"row {row + 2}", why, remedy) for row in np.flatnonzero(bad)]

    def require(self, columns: Sequence[str]) -> None:
        """Check that the file has all of `columns`.

        Raises:
            DataError: some are missing.
        """
        missing = [name for name in columns if name not in self.cells]
        if missing:
            raise DataError(
                self.path,
                [
                    Problem(
                        f"column {name!r}",
                        "is missing.",
                        f"The file has {joined([repr(each) for each in self.cells.columns])}. "
                        "Rename the column that holds it, or add it.",
                    )
                    for name in missing
                ],
            )

    def numbers(self, column: str, *, empty: bool) -> NDArray[np.float64]:
        """Return a column as numbers, NaN for an empty cell.

        Args:
            column: its name.
            empty: whether cells may be empty.

        Raises:
            DataError: a cell is not a finite number, or is empty although it must not be.
        """
        cells = self.cells[column].str.strip()
        blank = (cells == "").to_numpy(bool)
        values = pd.to_numeric(cells.where(~blank), errors="coerce").to_numpy(np.float64)
        bad = ~np.isfinite(values) & ~(blank & empty)
        if bad.any():
            raise DataError(
                self.path,
                [
                    Problem(
                        f"row {row + 2}, column {column!r}",
                        f"holds {quoted(self.cells[column].iloc[row])}, which is not a number."
                        if not blank[row]
                        else "is empty.",
                        "Write a number, or take the row out.",
                    )
                    for row in np.flatnonzero(bad)
                ],
            )
        return values

    def numeric_columns(self) -> list[str]:
        """Return the columns, except those with a known meaning, whose cells are all numbers or empty."""
        known = {OUTPUT, ITEM, SYSTEM, WORKER, CRITERION, VALUE, POSITION, *NO_METRICS}
        return [str(name) for name in self.cells if name not in known and _is_numeric(self.cells[name])]


def _is_numeric(cells: pd.Series) -> bool:
    filled = cells[cells.str.strip() != ""]
    return len(filled) > 0 and bool(np.isfinite(pd.to_numeric(filled, errors="coerce")).all())


def read_csv(path: str, file: BinaryIO) -> CsvTable:
    """Read a CSV file in UTF-8.

    Raises:
        SourceError: it is not UTF-8, or empty.
        DataError: it has no rows, a row has too few or too many cells, or two columns have the same name.
    """
    try:
        text = file.read().decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path}: this is not a CSV in UTF-8 ({error}). Save it as one.") from None
    if not rows:
        raise SourceError(f"{path}: the file is empty. Export it again.")
    header = [_OURS.get(name.strip(), name.strip()) for name in rows[0]]
    problems = misshapen(header, rows[1:])
    if len(rows) == 1:
        problems.append(Problem("the header", "is not followed by any rows.", "Export the rows too."))
    if problems:
        raise DataError(path, problems)
    return CsvTable(path, pd.DataFrame(rows[1:], columns=header, dtype=object).astype("str"))
