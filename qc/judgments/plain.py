"""Read judgments from a plain CSV: one judgment per row (long), or one output per row (wide)."""

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, joined
from qc.judgments.assembly import (
    CRITERION,
    ITEM,
    NUMBER,
    OUTPUT,
    POSITION,
    SYSTEM,
    VALUE,
    WORKER,
    CsvTable,
    Rows,
    assemble,
    with_output_names,
)
from qc.judgments.judgments import Judgments
from qc.judgments.metric_file import metric_outputs

ONLY_CRITERION = "value"
_OF_JUDGMENTS = {WORKER, CRITERION, VALUE, POSITION}
_NUMBERED = re.compile(r"(.+)_(\d+)")


def from_tables(table: CsvTable, metrics: CsvTable | None) -> Judgments:
    """Return the judgments in `table`, with its own metrics or those in `metrics`.

    Raises:
        DataError: columns are missing, a cell is invalid, or the two files contradict each other.
    """
    if OUTPUT not in table.cells:
        table.require([SYSTEM, ITEM])
    table.require([SYSTEM])
    series = _series(table) if VALUE not in table.cells else {}
    if VALUE not in table.cells and not series:
        table.require([VALUE])
    cells = with_output_names(table.cells)
    rows = _wide(table, cells, series) if series else _long(table, cells)
    sides = {column for columns in series.values() for column in columns}
    own = [name for name in table.numeric_columns() if name not in sides]
    outputs, found = _outputs(table, cells.drop(columns=list(sides)), own)
    if metrics is not None:
        outputs, found = metric_outputs(metrics, outputs, found)
    return assemble(table.path, outputs, found, rows)


def _series(table: CsvTable) -> dict[str, list[str]]:
    """Return criterion → its columns, if the judgments of an output are side by side in its row.

    These are columns NAME_1, NAME_2, …, with the same number for each criterion. Shorter series are metrics,
    such as rouge_1 and rouge_2 beside five judgments of each criterion.
    """
    found: dict[str, dict[int, str]] = {}
    for column in table.numeric_columns():
        if match := _NUMBERED.fullmatch(column):
            found.setdefault(match[1], {})[int(match[2])] = column
    complete = {
        name: columns for name, columns in found.items() if set(columns) == set(range(1, len(columns) + 1))
    }
    longest = max(map(len, complete.values()), default=0)
    return {
        name: [columns[number] for number in sorted(columns)]
        for name, columns in complete.items()
        if len(columns) == longest > 1
    }


def _long(table: CsvTable, cells: pd.DataFrame) -> Rows:
    nothing = pd.Series("", index=cells.index)
    return Rows(
        outputs=cells[OUTPUT],
        workers=cells.get(WORKER, nothing).str.strip(),
        criteria=cells.get(CRITERION, pd.Series(ONLY_CRITERION, index=cells.index)),
        values=table.numbers(VALUE, empty=False),
        positions=table.numbers(POSITION, empty=True) if POSITION in cells else np.full(len(cells), np.nan),
    )


def _wide(table: CsvTable, cells: pd.DataFrame, series: dict[str, list[str]]) -> Rows:
    """Return the judgments that are side by side; an empty cell is no judgment."""
    parts = [
        pd.DataFrame({OUTPUT: cells[OUTPUT], CRITERION: criterion, VALUE: table.numbers(column, empty=True)})
        for criterion, columns in series.items()
        for column in columns
    ]
    rows = pd.concat(parts, ignore_index=True).dropna(subset=[VALUE]).reset_index(drop=True)
    return Rows(
        outputs=rows[OUTPUT],
        workers=pd.Series("", index=rows.index),
        criteria=rows[CRITERION],
        values=rows[VALUE].to_numpy(np.float64),
        positions=np.full(len(rows), np.nan),
    )


def _outputs(table: CsvTable, cells: pd.DataFrame, own: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the outputs in the rows, and the metrics in the same rows.

    A column that differs between the rows of an output belongs to its judgments, and is left out.

    Raises:
        DataError: rows of one output name two systems or items, or differ in a metric.
    """
    names, first = np.unique(cells[OUTPUT].to_numpy(object), return_index=True)
    of_row = first[np.searchsorted(names, cells[OUTPUT].to_numpy(object))]
    metrics = pd.DataFrame({name: table.numbers(name, empty=True) for name in own}, index=cells.index)
    facts = cells.drop(columns=own).join(metrics)
    differs = {str(name): _differs(facts[name], of_row) for name in facts}
    problems = [
        Problem(
            f"column {name!r}",
            f"differs between rows of the same output: {joined(sorted(set(cells[OUTPUT][differs[name]])))}.",
            "It belongs to the output, so write the same in all of them, or add a column `output` that tells "
            "the outputs apart.",
        )
        for name in (ITEM, SYSTEM, *own)
        if differs[name].any() and name != NUMBER
    ]
    if problems:
        raise DataError(table.path, problems)
    kept = [name for name, different in differs.items() if not different.any()]
    order = np.sort(first)
    texts = cells.loc[order, [name for name in kept if name not in {*own, *_OF_JUDGMENTS}]]
    found = metrics.loc[order, [name for name in own if name in kept]]
    return texts.reset_index(drop=True), found.reset_index(drop=True)


def _differs(column: pd.Series, first: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return, (rows,), whether a row's value differs from the row `first` of the same output."""
    values = column.to_numpy(object)
    return np.asarray((values != values[first]) & ~(pd.isna(values) & pd.isna(values[first])), bool)
