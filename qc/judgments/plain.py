"""Read judgments from a plain CSV (one judgment or one output per row), and metrics from a separate file."""

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, joined, quoted
from qc.judgments.assembly import (
    BETWEEN_SYSTEMS,
    CRITERION,
    ITEM,
    NUMBER,
    OUTPUT,
    POSITION,
    PROBABILITY,
    SYSTEM,
    VALUE,
    WORKER,
    CsvTable,
    Rows,
    assemble,
    with_output_names,
)
from qc.judgments.judgments import Judgments
from qc.table import counted

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
    notes = (*table.notes, *(() if metrics is None else metrics.notes))
    return assemble(table.path, outputs, found, rows, notes)


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
        workers=cells.get(WORKER, nothing),
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
        for name in (ITEM, SYSTEM, PROBABILITY, *own)
        if name in differs and differs[name].any() and name != NUMBER
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


def metric_outputs(
    file: CsvTable, outputs: pd.DataFrame, metrics: pd.DataFrame, judged: NDArray[np.bool_] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return outputs and metrics, extended by those in `file`.

    A file by output may have unjudged outputs: they join the pool. Unjudged outputs in `outputs` that are
    missing in the file leave the pool. A file by system gives every output of a system the same value.

    Args:
        file: has `output`, or `system` and `item`, or only `system`, and metrics.
        outputs: the outputs of the judgments: `output`, `item`, `system` and other text.
        metrics: float, a row for each of `outputs`; metrics of the same name in `file` replace them.
        judged: (outputs,), whether an output was judged; None if all were.

    Raises:
        DataError: the file has no metric, names an output twice, lacks a judged output, names systems without
            judgments, or contradicts the judgments on the system of an output.
    """
    names = file.numeric_columns()
    if not names:
        raise DataError(
            file.path,
            [Problem("the file", "has no column of numbers that could be a metric.", "Add one.")],
        )
    values = pd.DataFrame({name: file.numbers(name, empty=True) for name in names})
    kept = metrics.drop(columns=[name for name in names if name in metrics])
    if OUTPUT in file.cells or ITEM in file.cells:
        if OUTPUT not in file.cells:
            file.require([SYSTEM, ITEM])
        required = np.ones(len(outputs), bool) if judged is None else judged
        return _by_output(file, values, outputs, kept, required)
    file.require([SYSTEM])
    return outputs, kept.join(_by_system(file, values, outputs))


def _by_system(file: CsvTable, values: pd.DataFrame, outputs: pd.DataFrame) -> pd.DataFrame:
    at = pd.Index(file.cells[SYSTEM])
    problems = _repeated(at)
    judged = pd.Index(outputs[SYSTEM]).unique()
    unknown, missing = at.difference(judged).tolist(), judged.difference(at).tolist()
    if unknown:
        problems.append(
            Problem(f"systems {joined(unknown)}", "are not among the judgments.", "Correct the names.")
        )
    if missing:
        problems.append(Problem(f"systems {joined(missing)}", "were judged, but are not here.", "Add them."))
    if problems:
        raise DataError(file.path, problems)
    found: pd.DataFrame = values.iloc[at.get_indexer(pd.Index(outputs[SYSTEM]))]
    return found.reset_index(drop=True)


def _by_output(
    file: CsvTable,
    values: pd.DataFrame,
    outputs: pd.DataFrame,
    metrics: pd.DataFrame,
    required: NDArray[np.bool_],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    cells = _with_systems(file, with_output_names(file.cells), outputs)
    at = pd.Index(cells[OUTPUT])
    problems = _repeated(at)
    missing = pd.Index(outputs.loc[required, OUTPUT]).difference(at, sort=False).tolist()
    if missing:
        problems.append(
            Problem(
                counted(len(missing), "judged output"),
                f"without metrics: {joined(missing)}.",
                "Add their metrics, empty where unknown.",
            )
        )
    if problems:
        raise DataError(file.path, problems)
    judged = pd.Index(outputs[OUTPUT]).get_indexer(at)
    texts = cells.drop(columns=list(values.columns))
    own = [name for name in outputs if name not in texts]
    texts = texts.reset_index(drop=True).join(_aligned(outputs[own], judged).fillna(""))
    return texts, _aligned(metrics, judged).join(values)


def _with_systems(file: CsvTable, cells: pd.DataFrame, outputs: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the system of each output, taken from the judgments if the file has no systems.

    Raises:
        DataError: the file contradicts the judgments, names a system without judgments, or does not name the
            system of an unjudged output.
    """
    known = outputs.set_index(OUTPUT)[SYSTEM]
    of_judgments = cells[OUTPUT].map(known)
    if SYSTEM not in cells:
        bad = of_judgments.isna().to_numpy(bool)
        problems = file.rows_where(bad, "is of an output that nobody judged.", "Add a column `system`.")
        cells = cells.assign(**{SYSTEM: of_judgments})
    else:
        differs = (of_judgments.notna() & (of_judgments != cells[SYSTEM])).to_numpy(bool)
        problems = file.rows_where(
            differs, "names another system than the judgments of the same output.", "Correct one of them."
        )
        unknown = sorted(_names(cells[SYSTEM]) - _names(outputs[SYSTEM]))
        if unknown:
            problems.append(
                Problem(f"systems {joined(unknown)}", "are not among the judgments.", "Correct the names.")
            )
    if problems:
        raise DataError(file.path, problems)
    return cells


def _names(cells: pd.Series) -> set[str]:
    """Return all system names; a cell may contain several."""
    return {name.strip() for cell in cells.unique() for name in cell.split(BETWEEN_SYSTEMS)}


def _aligned(frame: pd.DataFrame, at: NDArray[np.intp]) -> pd.DataFrame:
    """Return the rows `at` of `frame`; NaN for −1."""
    return frame.reset_index(drop=True).reindex(at).reset_index(drop=True)


def _repeated(names: pd.Index) -> list[Problem]:
    repeated = names[names.duplicated()].unique()
    return [Problem(f"{quoted(name)}", "has more than one row.", "Keep one.") for name in repeated]
