"""Read the columns of CSV files, and build `Judgments` from columns with the checks of every source."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.judgments.judgments import Judgments
from qc.loading.analyst_files import misshapen
from qc.loading.tables import CsvText
from qc.method.sample import standardise
from qc.names import case_note, change_note, changes, cleaned, shortened_ids
from qc.run import RATING_PROBABILITY, codes
from qc.table import counted, whole

OUTPUT, ITEM, SYSTEM = "output", "item", "system"
WORKER, CRITERION, VALUE, POSITION = "worker", "criterion", "value", "position"
# With which an output was drawn to be judged.
PROBABILITY = RATING_PROBABILITY
# Other names of the same columns, including those of the two public data sets.
_OTHERS = {
    "conversation": OUTPUT,
    "instance": ITEM,
    "rater": WORKER,
    "annotator": WORKER,
    "prompt": CRITERION,
    "rating": VALUE,
}
# Headings with a meaning, and our names for them.
HEADINGS = {
    name: name for name in (OUTPUT, ITEM, SYSTEM, WORKER, CRITERION, VALUE, POSITION, PROBABILITY)
} | _OTHERS
# The columns of names, and their things in a sentence.
_NAMES = {SYSTEM: "systems", ITEM: "items", OUTPUT: "outputs", WORKER: "workers", CRITERION: "criteria"}
# Numeric columns of outputs that are not metrics.
NO_METRICS = frozenset({"judgments", "published"})
# If this column varies within an output, it numbers the judgments; else it may be a metric (a model as
# judge).
NUMBER = "judge"
# Separates the names of several systems that gave the same output and share a row.
BETWEEN_SYSTEMS = ";"


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: its path as given, its cells as text, with our names for the columns, and notes on them."""

    path: str
    cells: pd.DataFrame
    notes: tuple[str, ...] = ()

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
        known = {*HEADINGS.values(), *NO_METRICS}
        return [str(name) for name in self.cells if name not in known and _is_numeric(self.cells[name])]


def _is_numeric(cells: pd.Series) -> bool:
    filled = cells[cells.str.strip() != ""]
    return len(filled) > 0 and bool(np.isfinite(pd.to_numeric(filled, errors="coerce")).all())


def cleaned_table(path: str, table: CsvText) -> CsvTable:
    """Return a table with text in every cell, and clean the names in it.

    Raises:
        SourceError: it is empty.
        DataError: it has no rows, a row has too few or too many cells, or two columns have the same name.
    """
    if not table.header:
        raise SourceError(f"{path}: the file is empty. Export it again.")
    rows = [row for row in table.rows if row]
    problems = misshapen(table.header, rows)
    if not rows:
        problems.append(Problem("the header", "is not followed by any rows.", "Export the rows too."))
    if problems:
        raise DataError(path, problems)
    cells = pd.DataFrame(rows, columns=table.header, dtype=object).astype("str")
    return _with_clean_names(path, cells, table.notes)


def _with_clean_names(path: str, cells: pd.DataFrame, given: Sequence[str]) -> CsvTable:
    notes = list(given)
    for column in (name for name in _NAMES if name in cells):
        changed = changes(cells[column].unique())
        cells = cells.assign(**{column: cleaned(cells[column])})
        notes += [*change_note(_NAMES[column], changed), *case_note(_NAMES[column], cells[column].unique())]
    return CsvTable(path, cells, tuple(notes))


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


def assemble(
    source: str, outputs: pd.DataFrame, metrics: pd.DataFrame, rows: Rows, notes: Sequence[str] = ()
) -> Judgments:
    """Combine the content of files into one value.

    Args:
        source: name of the source, for messages.
        outputs: `output` (unique), `item`, `system`, and other text.
        metrics: float, a row for each of `outputs`.
        rows: judgments of these outputs.
        notes: notes on the files.

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
                counted(len(missing), "judged output"),
                f"in the judgments, but not among the outputs: {joined(missing)}.",
                "Add them, or correct their names.",
            )
        )
    workers = pd.Categorical(rows.workers.where(rows.workers != ""))
    criteria = pd.Categorical(rows.criteria, categories=list(dict.fromkeys(rows.criteria)))
    every = pd.DataFrame(
        {"output": at, "worker": workers, "criterion": criteria, "value": rows.values}
    ).assign(position=rows.positions)
    problems += [*shortened_ids(rows.workers.unique()), *_given_twice(every, rows.outputs)]
    if problems:
        raise DataError(source, problems)
    frame = _repeats_joined(every)
    repeats = len(every) - len(frame)
    if repeats:
        notes = (
            *notes,
            f"Repeated judgments, of the same worker, output and criterion: {whole(repeats)}. They and the "
            "first count as one judgment, their mean.",
        )
    frame["z"] = per_worker_z(
        frame["value"].to_numpy(np.float64), codes(frame["worker"]), codes(frame["criterion"])
    )
    systems, belongs = _systems(outputs[SYSTEM])
    outputs = outputs.reset_index(drop=True)
    return Judgments(
        source,
        systems,
        outputs.drop(columns=SYSTEM),
        belongs,
        metrics.reset_index(drop=True),
        frame[["output", "worker", "criterion", "value", "z", "position"]],
        tuple(notes),
        probabilities=probabilities_of(source, outputs, frame["output"].to_numpy(np.intp)),
    )


def probabilities_of(
    source: str, outputs: pd.DataFrame, judged: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Return the probability with which each output was drawn to be judged; None if the source has none.

    Args:
        source: name of the source, for messages.
        outputs: N rows; `output`, and, if outputs were drawn by probabilities, PROBABILITY, as text.
        judged: rows of the judged outputs.

    Raises:
        DataError: that of a judged output is missing, or not above 0 and at most 1.
    """
    if PROBABILITY not in outputs:
        return None
    found = pd.to_numeric(outputs[PROBABILITY], errors="coerce").to_numpy(np.float64)
    some = np.unique(judged)
    bad = some[~((found[some] > 0) & (found[some] <= 1))]
    if len(bad):
        raise DataError(
            source,
            [
                Problem(
                    counted(len(bad), "judged output"),
                    f"without {PROBABILITY} above 0 and at most 1: {joined(outputs[OUTPUT][bad].tolist())}.",
                    "Add it: without it, judgments of some outputs cannot be weighed.",
                )
            ],
        )
    return found


_ONCE = ["output", "worker", "criterion"]


def _given_twice(judgments: pd.DataFrame, outputs: pd.Series) -> list[Problem]:
    """Return a problem for each judgment that its worker has given before, at the same or no position."""
    again = judgments["worker"].notna() & judgments.duplicated([*_ONCE, "position"])
    return [
        Problem(
            f"row {row + 2}",
            f"worker {quoted(judgments['worker'].iloc[row])} judges {quoted(outputs.iloc[row])} on "
            f"{quoted(judgments['criterion'].iloc[row])} again.",
            "Keep one row. If the output was shown twice on purpose, number each worker's judgments in a "
            "column `position`.",
        )
        for row in np.flatnonzero(again)
    ]


def _repeats_joined(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one judgment for each worker, output and criterion: the mean, where the first one stood."""
    repeated = judgments["worker"].notna() & judgments.duplicated(_ONCE, keep=False)
    if not repeated.any():
        return judgments
    means = judgments[repeated].groupby(_ONCE, observed=True)["value"].transform("mean")
    once = judgments.assign(value=judgments["value"].where(~repeated, means))
    return once[~(repeated & judgments.duplicated(_ONCE))].reset_index(drop=True)


def _systems(cells: pd.Series) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """Return the names of all systems, and, (N, S), whether an output belongs to a system."""
    named = [[name.strip() for name in cell.split(BETWEEN_SYSTEMS)] for cell in cells]
    systems = tuple(dict.fromkeys(name for names in named for name in names if name))
    places = {name: number for number, name in enumerate(systems)}
    belongs = np.zeros((len(named), len(systems)), bool)
    for row, names in enumerate(named):
        belongs[row, [places[name] for name in names if name]] = True
    return systems, belongs
