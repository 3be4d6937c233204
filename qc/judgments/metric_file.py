"""Read metrics from a separate file: by output, by item and system, or by system."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, joined, quoted
from qc.judgments.assembly import BETWEEN_SYSTEMS, ITEM, OUTPUT, SYSTEM, CsvTable, with_output_names


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
                f"{len(missing)} judged outputs",
                f"are missing: {joined(missing)}.",
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
