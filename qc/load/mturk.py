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
from qc.load import mturk_speech
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
    run_name,
)
from qc.load.speech import Speech
from qc.published import INSTRUMENT, LAST_PERSONA_SEED, MAXIMUM, NO_FEEDBACK, PERSONA_SUFFIX, QC_TASK
from qc.run import LeftOut, Run

LABELS = [label for label, *_ in INSTRUMENT]

ANSWER = "Answer.taskAnswers"
COLUMNS = ("HITId", "AssignmentId", "WorkerId", "WorkTimeInSeconds", ANSWER)
REWARD = "Reward"
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
    """What has been read so far.

    `labels` name the numbers of a `scoreN`, `counts` are how many there were; `speech` is None if not wanted.
    """

    labels: list[str]
    problems: list[Problem]
    speech: Speech | None
    assignments: list[tuple[str, str, str, str, float, float, str | None]] = field(default_factory=list)
    conversations: list[tuple[str, str, str, int, str, None]] = field(default_factory=list)
    ratings: list[list[float]] = field(default_factory=list)
    counts: set[int] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)

    def fault(self, where: str, why: str, remedy: str = REPAIR) -> None:
        self.problems.append(Problem(where, why, remedy))


def read(path: Path, content: bytes, words: bool = True, criteria: pd.DataFrame | None = None) -> Run:
    """Return the run in `content`, the bytes of the file at `path`.

    Args:
        path: the file.
        content: its bytes.
        words: whether what was said is wanted.
        criteria: what the numbers of a `scoreN` are, in their order; None for the published instrument.

    Raises:
        DataError: it is not a CSV table, a column or a part of an answer is missing or is no number, a
            rating is out of range, a task is none of its HIT, an assignment is given twice with
            different content.
        EmptyRunError: no assignment has answers.
    """
    rows, notes = _once(str(path), _rows(str(path), content))
    declared = _published_criteria() if criteria is None else criteria
    problems: list[Problem] = []
    gathered = _Gathered(declared["label"].to_list(), problems, Speech(problems) if words else None)
    for row in rows:
        _gather(row, gathered)
    if criteria is not None and gathered.counts:
        _require_count(str(path), len(criteria), gathered.counts)
    ordered = report_order(declared) if criteria is None else declared
    return finish(_draft(path, gathered, notes, ordered), problems)


def _require_count(source: str, named: int, found: set[int]) -> None:
    """Raise DataError if the criteria that are named are not as many as there are numbers in any `scoreN`."""
    if named not in found:
        numbers = joined([str(count) for count in sorted(found)])
        why = f"names {named}, but a scoreN holds {numbers} numbers."
        raise DataError(source, [Problem("the criteria file", why, "Name each number of scoreN, in order.")])


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
        (
            row.where,
            row.assignment,
            row.cells["HITId"],
            row.cells["WorkerId"],
            seconds,
            _reward(row, gathered),
            _feedback(row.where, answer, gathered),
        )
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
        gathered.conversations.append((where, name, row.assignment, part + 1, system, None))
        gathered.ratings.append(ratings)
        if gathered.speech is not None:
            _gather_speech(where, part, answer, gathered, gathered.speech)


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
    return f"{family}{PERSONA_SUFFIX}" if seed <= LAST_PERSONA_SEED else family


def _ratings(where: str, part: int, answer: dict[str, object], gathered: _Gathered) -> list[float] | None:
    text = _text(where, f"score{part}", answer, gathered)
    if text is None:
        return None
    given = text.removesuffix("#").split("#")
    labels = gathered.labels
    gathered.counts.add(len(given))
    if len(given) != len(labels):
        gathered.fault(where, f"score{part} has {len(given)} ratings where {len(labels)} belong.")
        return None
    numbers = [_number(rating) for rating in given]
    for label, rating, number in zip(labels, given, numbers, strict=True):
        if number is None:
            gathered.fault(
                where, f"the rating of {label!r} in score{part} is {quoted(rating)}, not a number."
            )
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(labels) else None


def _reward(row: _Row, gathered: _Gathered) -> float:
    given = row.cells.get(REWARD, "")
    reward = _number(given.removeprefix("$")) if given else math.nan
    if reward is None or reward < 0:
        gathered.fault(row.where, f"{REWARD} is {quoted(given)}, which is no amount of dollars.")
        return math.nan
    return reward


def _feedback(where: str, answer: dict[str, object], gathered: _Gathered) -> str | None:
    text = _text(where, "feedback", answer, gathered) if "feedback" in answer else None
    given = (text or "").strip()
    return None if given in ("", NO_FEEDBACK) else given


def _gather_speech(
    where: str, part: int, answer: dict[str, object], gathered: _Gathered, speech: Speech
) -> None:
    there = [key for key in mturk_speech.PARTS if f"{key}{part}" in answer]
    texts = {key: _text(where, f"{key}{part}", answer, gathered) for key in there}
    given = {key: text for key, text in texts.items() if text is not None}
    try:
        said = mturk_speech.exchanges(given), mturk_speech.topics(given), mturk_speech.changes(given)
    except ValueError as error:
        gathered.fault(where, f"{error} (conversation {part}).")
        return
    speech.add(len(gathered.conversations) - 1, where, *said)


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


def _published_criteria() -> pd.DataFrame:
    rows = [(label, negative, counts, MAXIMUM) for label, negative, counts in INSTRUMENT]
    return pd.DataFrame(rows, columns=CRITERION_COLUMNS)


def _draft(path: Path, gathered: _Gathered, notes: tuple[str, ...], criteria: pd.DataFrame) -> Draft:
    return Draft(
        name=run_name(path),
        source=str(path),
        criteria=criteria,
        systems=pd.DataFrame(_systems(gathered), columns=SYSTEM_COLUMNS),
        assignments=pd.DataFrame(gathered.assignments, columns=ASSIGNMENT_COLUMNS),
        conversations=pd.DataFrame(gathered.conversations, columns=CONVERSATION_COLUMNS),
        ratings=pd.DataFrame(gathered.ratings, columns=gathered.labels),
        words=gathered.speech.words() if gathered.speech else None,
        left_out=tuple(gathered.left_out),
        notes=notes,
    )


def _systems(gathered: _Gathered) -> Iterator[tuple[str, str, bool, bool]]:
    for system in sorted({system for *_, system, _ in gathered.conversations}):
        persona = system.endswith(PERSONA_SUFFIX)
        yield system, system.removesuffix(PERSONA_SUFFIX), persona, system == QC_TASK
