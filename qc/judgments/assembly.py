"""Build `Judgments` from the columns of files, with the checks that apply to every kind of file."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, joined, quoted
from qc.judgments.csv_table import BETWEEN_SYSTEMS, ITEM, OUTPUT, SYSTEM
from qc.judgments.judgments import Judgments
from qc.method.standardise import standardise
from qc.run import codes

# z per worker. Source: Ji et al., ACL 2022, the section on scores; here for each criterion separately,
# because the criteria of a plain CSV may be on different scales. With fewer judgments, a worker's sd is too
# uncertain.
FEWEST_JUDGMENTS = 5


def per_worker_z(
    values: NDArray[np.float64], workers: NDArray[np.intp], criteria: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return z = (value - mean) / sd, mean and sd (ddof = 1) over the worker's values on the criterion.

    Args:
        values: (K,).
        workers: (K,), codes from 0, −1 for an unknown worker.
        criteria: (K,), codes from 0.

    Returns:
        (K,); NaN for an unknown worker, for one with fewer than FEWEST_JUDGMENTS values on the criterion, and
        for one whose values on it are all the same.
    """
    cells = workers * (criteria.max(initial=0) + 1) + criteria
    z = np.full(len(values), np.nan)
    known = workers >= 0
    if not known.any():
        return z
    _, groups, sizes = np.unique(cells[known], return_inverse=True, return_counts=True)
    found = standardise(values[known, None], groups, len(sizes))[:, 0]
    z[known] = np.where(sizes[groups] >= FEWEST_JUDGMENTS, found, np.nan)
    return z


@dataclass(frozen=True)
class Rows:
    """Judgments as they are in a file; every column is (K,).

    Attributes:
        outputs: name of the judged output.
        workers: the worker who judged; NaN or None if the file does not say.
        criteria: the judged criterion.
        values: the finite value.
        positions: position of the judgment in its worker's sequence; NaN if unknown.
    """

    outputs: pd.Series
    workers: pd.Series
    criteria: pd.Series
    values: NDArray[np.float64]
    positions: NDArray[np.float64]


def with_output_names(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the name of the output in each row: `output`, or `system` and `item` together."""
    if OUTPUT in cells:
        return cells if ITEM in cells else cells.assign(**{ITEM: cells[OUTPUT]})
    return cells.assign(**{OUTPUT: cells[SYSTEM] + " / " + cells[ITEM]})


def assemble(source: str, outputs: pd.DataFrame, metrics: pd.DataFrame, rows: Rows) -> Judgments:
    """Combine the content of files into one value.

    Args:
        source: name of the source, for messages.
        outputs: `output` (unique), `item`, `system`, and other text.
        metrics: float, a row for each of `outputs`.
        rows: judgments of these outputs.

    Raises:
        DataError: a judgment is of an output that does not exist; a name is empty.
    """
    problems = [
        Problem(f"output {quoted(name)}", f"has no {column}.", "Name it.")
        for column in (SYSTEM, ITEM)
        for name in outputs.loc[outputs[column].str.strip() == "", OUTPUT]
    ]
    at = pd.Index(outputs[OUTPUT]).get_indexer(pd.Index(rows.outputs))
    missing = rows.outputs[at < 0].unique().tolist()
    if missing:
        problems.append(
            Problem(
                f"{len(missing)} judged outputs",
                f"are in the judgments but not among the outputs: {joined(missing)}.",
                "Add them, or correct their names.",
            )
        )
    if problems:
        raise DataError(source, problems)
    workers = pd.Categorical(rows.workers.where(rows.workers != ""))
    criteria = pd.Categorical(rows.criteria, categories=list(dict.fromkeys(rows.criteria)))
    frame = pd.DataFrame(
        {"output": at, "worker": workers, "criterion": criteria, "value": rows.values}
    ).assign(position=rows.positions)
    frame["z"] = per_worker_z(rows.values, codes(frame["worker"]), codes(frame["criterion"]))
    systems, belongs = _systems(outputs[SYSTEM])
    return Judgments(
        source,
        systems,
        outputs.drop(columns=SYSTEM).reset_index(drop=True),
        belongs,
        metrics.reset_index(drop=True),
        frame[["output", "worker", "criterion", "value", "z", "position"]],
    )


def _systems(cells: pd.Series) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """Return the names of all systems, and, (N, S), whether an output belongs to a system."""
    named = [[name.strip() for name in cell.split(BETWEEN_SYSTEMS)] for cell in cells]
    systems = tuple(dict.fromkeys(name for names in named for name in names if name))
    places = {name: number for number, name in enumerate(systems)}
    belongs = np.zeros((len(named), len(systems)), bool)
    for row, names in enumerate(named):
        belongs[row, [places[name] for name in names if name]] = True
    return systems, belongs
