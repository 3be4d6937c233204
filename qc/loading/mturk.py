"""Read a batch of results as downloaded from MTurk, in the form that Ji et al. (ACL 2022) published.

A row is an assignment. `Answer.taskAnswers` is JSON: a list with one object. The columns `Input.uN` declare
the families of the row's HIT. A row without an answer is left out and reported. `AssignmentStatus` is not
read: ratings count whether the requester paid for them or not.

An answer is an object of texts. `taskN`, `seedN` and `scoreN` are the family, the persona and the ratings of
conversation N; ratings are written as `90#60#70#`.

`dialogueN` is `u: …###b: …###u: …`: the worker's inputs and the bot's replies alternate. The other parts are
marks such as `#0@cooking#4@my dog`: the number of inputs before the mark, then its content.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from pydantic_core import from_json

from candor.common.spreadsheet import restored
from qc.errors import REPAIR, DataError, Problem, SourceError, joined, quoted
from qc.formats.published import (
    ANSWER,
    INSTRUMENT,
    LAST_PERSONA_SEED,
    MAXIMUM,
    NO_FEEDBACK,
    PERSONA_SUFFIX,
    QC_TASK,
    systems_named,
)
from qc.loading.frames import Speech, Spoken
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    RawRun,
    build_run,
    report_order,
    run_name,
)
from qc.loading.tables import CsvText, parse_table
from qc.loading.validation import repeated_keys
from qc.options import LoadOptions
from qc.run import LeftOut, Run
from qc.table import counted

DIALOGUE, TOPIC, OPINION = "dialogue", "topic", "topic_opinion"
CHANGE, BOT_OPINION = "topic_change_opinion", "topic_chatbot_opinion"
PARTS = (DIALOGUE, TOPIC, OPINION, CHANGE, BOT_OPINION)

_TURN = re.compile(r"###(?=[ub]: |$)")
_MARK = re.compile(r"#(?=\d{1,9}@)")  # a topic may contain # and @

Mark = tuple[int, str]
Said = tuple[list[Spoken], list[Spoken], list[Spoken]]


def spoken(given: Mapping[str, str]) -> Said:
    """Return the exchanges, the topics and the changes of topic from the parts in `given`.

    Raises:
        ValueError: inputs and replies of the dialogue do not alternate, another part does not consist of
            marks, or two related parts have different rounds; the message says so.
    """
    return (
        _exchanges(given.get(DIALOGUE, "")),
        _paired(given, TOPIC, OPINION),
        _paired(given, CHANGE, BOT_OPINION),
    )


def _exchanges(dialogue: str) -> list[Spoken]:
    found: list[Spoken] = []
    for turn in _TURN.split(dialogue.removesuffix("###")):
        author, text = turn[:3], turn[3:]
        if author == "u: ":
            found.append((len(found) + 1, text, None))
        elif author == "b: " and found and found[-1][2] is None:
            found[-1] = (*found[-1][:2], text)
        elif turn:
            raise ValueError(f"{DIALOGUE}: inputs (u:) and replies (b:) do not take turns")
    return found


def _paired(given: Mapping[str, str], one: str, other: str) -> list[Spoken]:
    marks, opinions = (_marks(part, given.get(part, "")) for part in (one, other))
    if [round_ for round_, _ in marks] != [round_ for round_, _ in opinions]:
        raise ValueError(f"{one} and {other} are not of the same rounds")
    pairs = zip(marks, opinions, strict=True)
    return [(round_, what, opinion or None) for (round_, what), (_, opinion) in pairs]


def _marks(part: str, text: str) -> list[Mark]:
    before, *marks = _MARK.split(text)
    if before:
        raise ValueError(f"{part}: does not begin with a mark such as #0@…")
    return [(int(round_), what) for round_, _, what in (mark.partition("@") for mark in marks)]


_PART = re.compile(r"(task|seed|score)(\d+)")


@dataclass(frozen=True)
class ConversationAnswer:
    """One conversation in an answer. Its methods return None for an invalid value, and add a problem."""

    where: str
    number: int
    answer: dict[str, object]
    problems: list[Problem]

    def fault(self, why: str, remedy: str = REPAIR) -> None:
        """Add a problem of this conversation."""
        self.problems.append(Problem(self.where, why, remedy))

    def text(self, key: str) -> str | None:
        """Return the text whose key is `key` followed by the number of the conversation."""
        return text_of(self.answer, f"{key}{self.number}", self.where, self.problems)

    def system(self, families: set[str]) -> str | None:
        """Return the system; its family must be one of `families`, unless it is the QC bot."""
        family = self.text("task")
        if family is None or family == QC_TASK:
            return family
        if family not in families:
            known = ", ".join(sorted(families))
            self.fault(f"unknown system {quoted(family)} in task{self.number}.", f"The HIT has: {known}.")
            return None
        given = self.text("seed")
        if given is None:
            return None
        seed = number_in(given)
        if seed is None:
            self.fault(f"seed{self.number} is {quoted(given)}, which is not a number.")
            return None
        return f"{family}{PERSONA_SUFFIX}" if seed <= LAST_PERSONA_SEED else family

    def scores(self) -> list[str] | None:
        """Return the ratings as texts."""
        text = self.text("score")
        return None if text is None else text.removesuffix("#").split("#")

    def ratings(self, given: list[str], labels: list[str]) -> list[float] | None:
        """Return the ratings in `given` as numbers, one for each of `labels`."""
        numbers = [number_in(rating) for rating in given]
        for label, rating, number in zip(labels, given, numbers, strict=True):
            if number is None:
                why = f"the rating of {label!r} in score{self.number} is {quoted(rating)}, not a number."
                self.fault(why)
        known = [number for number in numbers if number is not None]
        return known if len(known) == len(labels) else None

    def said(self) -> Said | None:
        """Return the texts of the conversation."""
        there = [key for key in PARTS if f"{key}{self.number}" in self.answer]
        texts = {key: self.text(key) for key in there}
        given = {key: text for key, text in texts.items() if text is not None}
        try:
            return spoken(given)
        except ValueError as error:
            self.fault(f"{error} (conversation {self.number}).")
            return None


def parse(text: str, where: str, problems: list[Problem]) -> dict[str, object]:
    """Return the answer in the cell `text` of the row at `where`; empty if it is invalid."""
    if not text.strip():
        return {}
    try:
        match from_json(text):
            case []:
                return {}
            case [dict(answer)] | dict(answer):
                problems += repeated_keys(text, f"{where}, {ANSWER}", len(answer))
                return answer
            case _:
                problems.append(Problem(where, f"{ANSWER} is not a list with one object.", REPAIR))
    except ValueError as error:
        problems.append(Problem(where, f"{ANSWER} is not JSON ({error}).", REPAIR))
    return {}


def parts(answer: dict[str, object]) -> list[int]:
    """Return the numbers of the conversations, in order."""
    return sorted({int(found[2]) for key in answer if (found := _PART.fullmatch(key))})


def feedback(answer: dict[str, object], where: str, problems: list[Problem]) -> str | None:
    """Return the worker's feedback; None if there is none."""
    text = text_of(answer, "feedback", where, problems) if "feedback" in answer else None
    given = (text or "").strip()
    return None if given in ("", NO_FEEDBACK) else given


def text_of(answer: dict[str, object], key: str, where: str, problems: list[Problem]) -> str | None:
    """Return the text with the key `key`; if there is none, add a problem and return None."""
    value = answer.get(key)
    if isinstance(value, str):
        return value
    why = f"{key} is missing." if key not in answer else f"{key} is {quoted(value)}, which is not a text."
    problems.append(Problem(where, why, REPAIR))
    return None


def number_in(text: str) -> float | None:
    """Return the number in `text`; None if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


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
    table = parse_table(str(path), content, {name: name for name in (*COLUMNS, REWARD)}, strict=True)
    rows, repeated = _once(_rows(str(path), table, problems), problems)
    declared = _published_criteria() if options.criteria is None else options.criteria
    gathered = _Gathered(declared["label"].to_list(), problems, Speech(problems) if options.words else None)
    for row in rows:
        _gather(row, gathered)
    problems += gathered.miscounted if options.criteria is None else _miscounted(gathered)
    ordered = report_order(declared) if options.criteria is None else declared
    return build_run(_raw_run(path, gathered, (*table.notes, *repeated), ordered), problems)


def _miscounted(gathered: _Gathered) -> list[Problem]:
    """Return the problems of the counts of ratings; only one if no `scoreN` fits the criteria file."""
    named, found = len(gathered.labels), gathered.counts
    if not found or named in found:
        return gathered.miscounted
    numbers = joined([str(count) for count in sorted(found)])
    why = f"names {named}, but a scoreN holds {numbers} numbers."
    return [Problem("the criteria file", why, "Name each number of scoreN, in order.")]


def _rows(source: str, table: CsvText, problems: list[Problem]) -> list[_Row]:
    """Return the rows that have a field for each column; add a problem for every other row."""
    header = table.header
    _require_columns(source, header)
    numbered = [(number, cells) for number, cells in enumerate(table.rows, start=2) if cells]
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
            "nor a database: it has no column of a batch. Check the path. A plain CSV of judgments is for "
            "`candor estimate` and `candor plan power`."
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
        why = f"score{part.number} has {counted(len(given), 'rating')} where {len(labels)} belong."
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
