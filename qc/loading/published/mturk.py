"""Read a batch of results as downloaded from MTurk, in the form that Ji et al. (ACL 2022) published.

A row is an assignment. `Answer.taskAnswers` is JSON: a list with one object, which `mturk_answer` parses.
The columns `Input.uN` declare the families of the row's HIT. A row without an answer is left out and
reported. `AssignmentStatus` is not read: ratings count whether the requester paid for them or not.
"""

import csv
import io
import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from candor.common.spreadsheet import restored
from qc.errors import REPAIR, DataError, Problem, SourceError, joined, quoted
from qc.formats.published import ANSWER, INSTRUMENT, MAXIMUM, QC_TASK, systems_named
from qc.loading.frames import Speech
from qc.loading.published.mturk_answer import ConversationAnswer, feedback, number_in, parse, parts
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    RawRun,
    build_run,
    report_order,
    run_name,
)
from qc.options import LoadOptions
from qc.run import LeftOut, Run

COLUMNS = ("HITId", "AssignmentId", "WorkerId", "WorkTimeInSeconds", ANSWER)
REWARD = "Reward"
_INPUT = re.compile(r"Input\.u\d+")


@dataclass
class _Row:
    """One row of the file. `number` is the spreadsheet's row number: the header is row 1."""

    number: int
    cells: dict[str, str]

    @property
    def assignment(self) -> str:
        return self.cells["AssignmentId"]

    @property
    def where(self) -> str:
        return f"row {self.number} (assignment {self.assignment})"

    def families(self) -> set[str]:
        return {cell for column, cell in self.cells.items() if _INPUT.fullmatch(column)}

    def content(self) -> tuple[str, ...]:
        """Return all cells that are read; two rows of an assignment are duplicates if these are equal."""
        return tuple(self.cells[column] for column in COLUMNS)


@dataclass
class _Gathered:
    """Data read so far.

    `labels` are the criteria of the numbers in a `scoreN`; `counts` are the numbers of ratings found in a
    `scoreN`; `miscounted` are the problems of each `scoreN` with another number of ratings than labels.
    `speech` is None if texts are not wanted.
    """

    labels: list[str]
    problems: list[Problem]
    speech: Speech | None
    assignments: list[tuple[str, str, str, str, float, float, str | None]] = field(default_factory=list)
    conversations: list[tuple[str, str, str, int, str, None]] = field(default_factory=list)
    ratings: list[list[float]] = field(default_factory=list)
    counts: set[int] = field(default_factory=set)
    miscounted: list[Problem] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def read(path: Path, content: bytes, options: LoadOptions) -> Run:
    """Return the run in `content`, the bytes of the file at `path`.

    The criteria of `options` name the numbers of a `scoreN`, in order.

    Raises:
        DataError: it is not a CSV table, a column or a part of an answer is missing or is not a number, a
            rating is out of range, a task is not one of its HIT, an assignment is given twice with
            different content.
        EmptyRunError: no assignment has answers.
    """
    problems: list[Problem] = []
    rows, notes = _once(_rows(str(path), content, problems), problems)
    declared = _published_criteria() if options.criteria is None else options.criteria
    gathered = _Gathered(declared["label"].to_list(), problems, Speech(problems) if options.words else None)
    for row in rows:
        _gather(row, gathered)
    problems += gathered.miscounted if options.criteria is None else _miscounted(gathered)
    ordered = report_order(declared) if options.criteria is None else declared
    return build_run(_raw_run(path, gathered, notes, ordered), problems)


def _miscounted(gathered: _Gathered) -> list[Problem]:
    """Return the problems of the counts of ratings; only one if no `scoreN` fits the criteria file."""
    named, found = len(gathered.labels), gathered.counts
    if not found or named in found:
        return gathered.miscounted
    numbers = joined([str(count) for count in sorted(found)])
    why = f"names {named}, but a scoreN holds {numbers} numbers."
    return [Problem("the criteria file", why, "Name each number of scoreN, in order.")]


def _rows(source: str, content: bytes, problems: list[Problem]) -> list[_Row]:
    """Return the rows that have a field for each column; add a problem for every other row."""
    csv.field_size_limit(sys.maxsize)  # an answer holds six whole conversations; the default is 128 KiB
    try:
        table = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        fault = Problem("the file", f"is not a CSV table in UTF-8 ({error}).", "Download the batch again.")
        raise DataError(source, [fault]) from None
    header, *body = table or [[]]
    _require_columns(source, header)
    numbered = [(number, cells) for number, cells in enumerate(body, start=2) if cells]
    problems += [
        Problem(
            f"row {number}",
            f"has {len(cells)} fields where the header has {len(header)}.",
            "Download the batch again.",
        )
        for number, cells in numbered
        if len(cells) != len(header)
    ]
    return [
        _Row(number, dict(zip(header, map(restored, cells), strict=True)))
        for number, cells in numbered
        if len(cells) == len(header)
    ]


def _require_columns(source: str, header: list[str]) -> None:
    missing = [column for column in COLUMNS if column not in header]
    if len(missing) == len(COLUMNS):
        raise SourceError(
            f"{source}: this is neither a hits_data.json, nor an MTurk batch CSV, nor an export of Candor, "
            "nor a database: it has no column of a batch. Check the path."
        )
    if not any(_INPUT.fullmatch(column) for column in header):
        missing.append("Input.u0")
    if missing:
        problems = [
            Problem(
                "row 1", f"the column {column!r} is missing.", "Download the batch results from MTurk again."
            )
            for column in missing
        ]
        raise DataError(source, problems)


def _once(rows: list[_Row], problems: list[Problem]) -> tuple[list[_Row], tuple[str, ...]]:
    """Return the first row of each assignment, and a note on exact repetitions."""
    first: dict[str, _Row] = {}
    again: list[str] = []
    for row in rows:
        earlier = first.setdefault(row.assignment, row)
        if earlier is row:
            continue
        if earlier.content() == row.content():
            again.append(row.assignment)
        else:
            why = f"the same assignment is in row {earlier.number} with different content."
            problems.append(Problem(row.where, why, "Keep the right one of the two."))
    notes = (f"Rows given twice with the same content, taken once: {joined(again)}.",) if again else ()
    return list(first.values()), notes


def _gather(row: _Row, gathered: _Gathered) -> None:
    problems = gathered.problems
    for column in ("HITId", "AssignmentId", "WorkerId"):
        if not row.cells[column]:
            problems.append(Problem(row.where, f"the field {column!r} is empty.", REPAIR))
    answer = parse(row.cells[ANSWER], row.where, problems)
    numbers = parts(answer)
    if not numbers:
        gathered.left_out.append(LeftOut(row.assignment, row.cells["WorkerId"], "no answers"))
        return
    seconds = number_in(row.cells["WorkTimeInSeconds"])
    if seconds is None:
        given = quoted(row.cells["WorkTimeInSeconds"])
        why = f"WorkTimeInSeconds is {given}, which is not a number."
        problems.append(Problem(row.where, why, REPAIR))
        return
    names = row.assignment, row.cells["HITId"], row.cells["WorkerId"]
    remark = feedback(answer, row.where, problems)
    gathered.assignments.append((row.where, *names, seconds, _reward(row, problems), remark))
    families = row.families()
    for number in numbers:
        part = ConversationAnswer(f"{row.where}, conversation {number}", number, answer, problems)
        _gather_conversation(row.assignment, part, families, gathered)


def _gather_conversation(
    assignment: str, part: ConversationAnswer, families: set[str], gathered: _Gathered
) -> None:
    system = part.system(families)
    ratings = _ratings(part, gathered)
    if system is None or ratings is None:
        return
    position = part.number + 1
    name = f"{assignment}/{position}"
    gathered.conversations.append((part.where, name, assignment, position, system, None))
    gathered.ratings.append(ratings)
    said = part.said() if gathered.speech else None
    if gathered.speech and said:
        gathered.speech.add(len(gathered.conversations) - 1, part.where, *said)


def _ratings(part: ConversationAnswer, gathered: _Gathered) -> list[float] | None:
    given, labels = part.scores(), gathered.labels
    if given is None:
        return None
    gathered.counts.add(len(given))
    if len(given) != len(labels):
        why = f"score{part.number} has {len(given)} ratings where {len(labels)} belong."
        gathered.miscounted.append(Problem(part.where, why, REPAIR))
        return None
    return part.ratings(given, labels)


def _reward(row: _Row, problems: list[Problem]) -> float:
    given = row.cells.get(REWARD, "")
    reward = number_in(given.removeprefix("$")) if given else math.nan
    if reward is None or reward < 0:
        why = f"{REWARD} is {quoted(given)}, which is not an amount of dollars."
        problems.append(Problem(row.where, why, REPAIR))
        return math.nan
    return reward


def _published_criteria() -> pd.DataFrame:
    rows = [(label, negative, counts, MAXIMUM) for label, negative, counts in INSTRUMENT]
    return pd.DataFrame(rows, columns=CRITERION_COLUMNS)


def _raw_run(path: Path, gathered: _Gathered, notes: tuple[str, ...], criteria: pd.DataFrame) -> RawRun:
    return RawRun(
        name=run_name(path),
        source=str(path),
        criteria=criteria,
        systems=_systems(gathered),
        assignments=pd.DataFrame(gathered.assignments, columns=ASSIGNMENT_COLUMNS),
        conversations=pd.DataFrame(gathered.conversations, columns=CONVERSATION_COLUMNS),
        ratings=pd.DataFrame(gathered.ratings, columns=gathered.labels),
        words=gathered.speech.words() if gathered.speech else None,
        left_out=tuple(gathered.left_out),
        notes=notes,
    )


def _systems(gathered: _Gathered) -> pd.DataFrame:
    names = pd.Series(sorted({system for *_, system, _ in gathered.conversations}), dtype=str)
    return systems_named(names, (names == QC_TASK).to_numpy(bool))
