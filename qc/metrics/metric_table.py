"""Read scores that were computed elsewhere (`--scores FILE`), by system or by conversation.

A CSV whose first column is `system` or `conversation`; every other column is a metric. Higher is better,
unless the heading starts with `-`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.loading.tables import CsvText, read_table
from qc.metrics.transcripts import conversation_names
from qc.names import clean
from qc.run import Run
from qc.statistics.groups import group_means


@dataclass(frozen=True)
class MetricScores:
    """The scores of one metric. C conversations and S systems, in the order of the run.

    Attributes:
        name: its name.
        made_of: its input: `replies`, `references`, the name of a model, a judge or a file.
        higher_is_better: whether a higher score is better; if not, the sign is reversed before the comparison
            with people.
        conversations: (C,), NaN for a missing score; None if the metric only scores systems.
        systems: (S,), NaN for a missing score; None if a system's score is the mean over its conversations.
        unrated: (U,), scores of the unrated conversations, which do not count for a system; None if there are
            none.
    """

    name: str
    made_of: str
    higher_is_better: bool
    conversations: NDArray[np.float64] | None
    systems: NDArray[np.float64] | None = None
    unrated: NDArray[np.float64] | None = None

    @property
    def has_scores(self) -> bool:
        """Whether there is a score of any conversation."""
        return self.conversations is not None and bool(np.isfinite(self.conversations).any())

    def split(self, rated: int) -> "MetricScores":
        """Split the scores: the first `rated` are of the run's conversations, the others of unrated ones."""
        if self.conversations is None or len(self.conversations) == rated:
            return self
        return replace(self, conversations=self.conversations[:rated], unrated=self.conversations[rated:])


def require_distinct(found: list[MetricScores]) -> None:
    """Raise DataError if two metrics have one name."""
    names = [metric.name for metric in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        problems = [
            Problem(name, "is the name of two metrics.", "Call a column of --scores otherwise.")
            for name in repeated
        ]
        raise DataError("the metrics", problems)


def mean_by_system(
    scores: NDArray[np.float64], systems: NDArray[np.intp], count: int, taken: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the mean score of each system over its conversations that have a score, (count,).

    Args:
        scores: (C,).
        systems: (C,), codes.
        count: number of systems.
        taken: (C,), whether the conversation counts.
    """
    known = taken & np.isfinite(scores)
    return group_means(scores[known], systems[known], count)


BY_SYSTEM, BY_CONVERSATION = "system", "conversation"
REPAIR = "Correct it or take the line out."
LOWER_IS_BETTER = "-"


def read_metric_table(path: Path, run: Run, notes: list[str]) -> list[MetricScores]:
    """Return the metrics of a run's systems or conversations in the CSV at `path`, as `read_scores`."""
    names = {BY_SYSTEM: run.systems["system"].tolist(), BY_CONVERSATION: conversation_names(run)}
    return read_scores(path, names, notes)


def read_scores(path: Path, names: Mapping[str, list[str]], notes: list[str]) -> list[MetricScores]:
    """Return the metrics in the CSV at `path`, in the order of its columns.

    Args:
        path: the file.
        names: the first column that the file may have, with the names in it: the systems, and what they did.
        notes: notes on the file are added to it.

    Raises:
        SourceError: the file cannot be read, or is not such a table.
        DataError: a name is unknown or repeated, or a score is not a number; the error lists all problems.
    """
    table = read_csv(path, tuple(names))
    notes += table.notes
    heading, lines = table.header, table.rows
    by = heading[0] if heading else ""
    if by not in names or len(heading) < 2:
        firsts = " or ".join(f"`{name}`" for name in names)
        raise SourceError(
            f"{path}: this is not a table of scores. Its first line should be {firsts}, and then the names "
            f"of the metrics; it is {quoted(','.join(heading))}."
        )
    known = names[by]
    problems: list[Problem] = []
    rows = _rows(lines, by, known, problems)
    values = _values(lines, heading, rows, len(known), problems)
    if problems:
        raise DataError(str(path), problems)
    return [
        MetricScores(
            name.removeprefix(LOWER_IS_BETTER),
            path.name,
            not name.startswith(LOWER_IS_BETTER),
            conversations=None if by == BY_SYSTEM else column,
            systems=column if by == BY_SYSTEM else None,
        )
        for name, column in zip(heading[1:], values.T, strict=True)
    ]


def read_csv(path: Path, known: Sequence[str]) -> CsvText:
    """Return the CSV at `path` without its empty lines; `known` are headings with a meaning.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        table = read_table(path, known)
    except OSError as error:
        reason = error.strerror or error
        raise SourceError(f"{path}: the file cannot be read ({reason}). Give a CSV in UTF-8.") from None
    return replace(table, rows=[line for line in table.rows if line])


def _rows(lines: Sequence[list[str]], by: str, known: list[str], problems: list[Problem]) -> list[int | None]:
    """Return the row of the system or conversation in each line; None if it is unknown or repeated."""
    row_of = {clean(name): row for row, name in enumerate(known)}
    seen: set[str] = set()
    rows: list[int | None] = []
    for number, line in enumerate(lines, start=2):
        name = clean(line[0])
        rows.append(row_of.get(name) if name not in seen else None)
        if name not in row_of:
            problems.append(
                Problem(f"line {number}", f"unknown {by} {quoted(name)}.", f"Known are: {joined(known)}.")
            )
        elif name in seen:
            problems.append(Problem(f"line {number}", f"{by} {quoted(name)} was given before.", REPAIR))
        seen.add(name)
    return rows


def _values(
    lines: Sequence[list[str]],
    heading: list[str],
    rows: Sequence[int | None],
    count: int,
    problems: list[Problem],
) -> NDArray[np.float64]:
    """Return the scores, (count, metrics); NaN for an empty cell or a missing line."""
    values = np.full((count, len(heading) - 1), np.nan)
    for number, (line, row) in enumerate(zip(lines, rows, strict=True), start=2):
        if len(line) != len(heading):
            why = f"{len(line)} cells under {len(heading)} headings."
            problems.append(Problem(f"line {number}", why, REPAIR))
            continue
        for column, text in enumerate(line[1:]):
            value = _number(text)
            if value is None:
                where = f"line {number}, {heading[column + 1]}"
                problems.append(Problem(where, f"{quoted(text)} is no number.", REPAIR))
            elif row is not None:
                values[row, column] = value
    return values


def _number(text: str) -> float | None:
    """Return `text` as a number, NaN if empty; None if it is not a number."""
    if not text.strip():
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
