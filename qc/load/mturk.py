"""Read a batch of results as downloaded from MTurk, in the form that Ji et al. (ACL 2022) published.

A row is an assignment. `Answer.taskAnswers` is JSON: a list with one object, whose `taskN`, `seedN` and
`scoreN` tell the family, the persona and the seven ratings of conversation N. The columns `Input.uN`
declare the families of the row's HIT. A row with no such answer is left out and reported.
"""

import csv
import io
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from pydantic_core import from_json

from qc.errors import DataError, Problem, quoted
from qc.load.draft import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    REPAIR,
    SYSTEM_COLUMNS,
    Draft,
    finish,
    joined,
    report_order,
)
from qc.run import LeftOut, Run

# The instrument of Ji et al. in the order of the numbers in a `scoreN`: label, negative, counts for qc.
INSTRUMENT = (
    ("robotic", True, False),
    ("interesting", False, True),
    ("fun", False, True),
    ("consistent", False, True),
    ("fluent", False, True),
    ("repetitive", True, False),
    ("topic", False, True),
)
LABELS = [label for label, *_ in INSTRUMENT]
MAXIMUM = 100.0

QC_TASK = "qc"
LAST_PERSONA_SEED = 500  # seeds up to this one spoke with a persona

ANSWER = "Answer.taskAnswers"
COLUMNS = ("HITId", "AssignmentId", "WorkerId", "WorkTimeInSeconds", ANSWER)
_INPUT = re.compile(r"Input\.u\d+")
_PART = re.compile(r"(task|seed|score)(\d+)")


@dataclass
class _Row:
    """One row of the file. `number` counts as a spreadsheet does: the header is row 1."""

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
        """Return what makes two rows of one assignment the same: everything that is read of them."""
        return tuple(self.cells[column] for column in COLUMNS)


@dataclass
class _Gathered:
    """What has been read so far."""

    problems: list[Problem] = field(default_factory=list)
    assignments: list[tuple[str, str, str, str, float]] = field(default_factory=list)
    conversations: list[tuple[str, str, str, int, str]] = field(default_factory=list)
    ratings: list[list[float]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def fault(self, where: str, why: str, remedy: str = REPAIR) -> None:
        self.problems.append(Problem(where, why, remedy))


def read(path: Path, content: bytes) -> Run:
    """Return the run in `content`, the bytes of the file at `path`.

    Raises:
        DataError: it is not a CSV table, a column or a part of an answer is missing or is no number, a
            rating is out of range, a task is none of its HIT, an assignment is given twice with
            different content.
        EmptyRunError: no assignment has answers.
    """
    rows, notes = _once(str(path), _rows(str(path), content))
    gathered = _Gathered()
    for row in rows:
        _gather(row, gathered)
    return finish(_draft(path, gathered, notes), gathered.problems)


def _rows(source: str, content: bytes) -> list[_Row]:
    csv.field_size_limit(sys.maxsize)  # an answer holds six whole conversations; the default is 128 KiB
    try:
        table = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        fault = Problem("the file", f"is not a CSV table in UTF-8 ({error}).", "Download the batch again.")
        raise DataError(source, [fault]) from None
    header, *body = table or [[]]
    _require_columns(source, header)
    numbered = [(number, cells) for number, cells in enumerate(body, start=2) if cells]
    ragged = [
        Problem(
            f"row {number}",
            f"has {len(cells)} fields where the header has {len(header)}.",
            "Download the batch again.",
        )
        for number, cells in numbered
        if len(cells) != len(header)
    ]
    if ragged:
        raise DataError(source, ragged)
    return [_Row(number, dict(zip(header, cells, strict=True))) for number, cells in numbered]


def _require_columns(source: str, header: list[str]) -> None:
    missing = [column for column in COLUMNS if column not in header]
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


def _once(source: str, rows: list[_Row]) -> tuple[list[_Row], tuple[str, ...]]:
    first: dict[str, _Row] = {}
    again: list[str] = []
    differing: list[Problem] = []
    for row in rows:
        earlier = first.setdefault(row.assignment, row)
        if earlier is row:
            continue
        if earlier.content() == row.content():
            again.append(row.assignment)
        else:
            why = f"the same assignment stands in row {earlier.number} with different content."
            differing.append(Problem(row.where, why, "Keep the right one of the two."))
    if differing:
        raise DataError(source, differing)
    notes = (f"Rows given twice with the same content, taken once: {joined(again)}.",) if again else ()
    return list(first.values()), notes


def _gather(row: _Row, gathered: _Gathered) -> None:
    for column in ("HITId", "AssignmentId", "WorkerId"):
        if not row.cells[column]:
            gathered.fault(row.where, f"the field {column!r} is empty.")
    answer = _answer(row, gathered)
    parts = sorted({int(found[2]) for key in answer if (found := _PART.fullmatch(key))})
    if not parts:
        gathered.left_out.append(LeftOut(row.assignment, row.cells["WorkerId"], "no answers"))
        return
    seconds = _number(row.cells["WorkTimeInSeconds"])
    if seconds is None:
        given = quoted(row.cells["WorkTimeInSeconds"])
        gathered.fault(row.where, f"WorkTimeInSeconds is {given}, which is not a number.")
        return
    gathered.assignments.append(
        (row.where, row.assignment, row.cells["HITId"], row.cells["WorkerId"], seconds)
    )
    for part in parts:
        _gather_conversation(row, part, answer, gathered)


def _answer(row: _Row, gathered: _Gathered) -> dict[str, object]:
    if not row.cells[ANSWER].strip():
        return {}
    try:
        match from_json(row.cells[ANSWER]):
            case []:
                return {}
            case [dict(answer)] | dict(answer):
                return answer
            case _:
                gathered.fault(row.where, f"{ANSWER} is not a list with one object.")
    except ValueError as error:
        gathered.fault(row.where, f"{ANSWER} is not JSON ({error}).")
    return {}


def _gather_conversation(row: _Row, part: int, answer: dict[str, object], gathered: _Gathered) -> None:
    where = f"{row.where}, conversation {part}"
    system = _system(where, part, answer, row.families(), gathered)
    ratings = _ratings(where, part, answer, gathered)
    if system is not None and ratings is not None:
        name = f"{row.assignment}/{part + 1}"
        gathered.conversations.append((where, name, row.assignment, part + 1, system))
        gathered.ratings.append(ratings)


def _system(
    where: str, part: int, answer: dict[str, object], families: set[str], gathered: _Gathered
) -> str | None:
    family = _text(where, f"task{part}", answer, gathered)
    if family is None or family == QC_TASK:
        return family
    if family not in families:
        known = ", ".join(sorted(families))
        gathered.fault(where, f"unknown system {quoted(family)} in task{part}.", f"The HIT has: {known}.")
        return None
    seed_text = _text(where, f"seed{part}", answer, gathered)
    if seed_text is None:
        return None
    seed = _number(seed_text)
    if seed is None:
        gathered.fault(where, f"seed{part} is {quoted(seed_text)}, which is not a number.")
        return None
    return f"{family}_p" if seed <= LAST_PERSONA_SEED else family


def _ratings(where: str, part: int, answer: dict[str, object], gathered: _Gathered) -> list[float] | None:
    text = _text(where, f"score{part}", answer, gathered)
    if text is None:
        return None
    given = text.removesuffix("#").split("#")
    if len(given) != len(LABELS):
        gathered.fault(where, f"score{part} has {len(given)} ratings where {len(LABELS)} belong.")
        return None
    numbers = [_number(rating) for rating in given]
    for label, rating, number in zip(LABELS, given, numbers, strict=True):
        if number is None:
            gathered.fault(
                where, f"the rating of {label!r} in score{part} is {quoted(rating)}, not a number."
            )
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(LABELS) else None


def _text(where: str, key: str, answer: dict[str, object], gathered: _Gathered) -> str | None:
    value = answer.get(key)
    if isinstance(value, str):
        return value
    why = f"{key} is missing." if key not in answer else f"{key} is {quoted(value)}, which is not a text."
    gathered.fault(where, why)
    return None


def _number(text: str) -> float | None:
    """Return the number written in `text`, or None if it is none; `nan` and `inf` are none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _draft(path: Path, gathered: _Gathered, notes: tuple[str, ...]) -> Draft:
    criteria = [(label, negative, counts, MAXIMUM) for label, negative, counts in INSTRUMENT]
    return Draft(
        name=path.stem,
        source=str(path),
        criteria=report_order(pd.DataFrame(criteria, columns=CRITERION_COLUMNS)),
        systems=pd.DataFrame(_systems(gathered), columns=SYSTEM_COLUMNS),
        assignments=pd.DataFrame(gathered.assignments, columns=ASSIGNMENT_COLUMNS),
        conversations=pd.DataFrame(gathered.conversations, columns=CONVERSATION_COLUMNS),
        ratings=pd.DataFrame(gathered.ratings, columns=LABELS),
        left_out=tuple(gathered.left_out),
        notes=notes,
    )


def _systems(gathered: _Gathered) -> Iterator[tuple[str, str, bool]]:
    for system in sorted({system for *_, system in gathered.conversations}):
        yield system, system.removesuffix("_p"), system == QC_TASK
