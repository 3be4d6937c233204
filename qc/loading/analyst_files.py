"""Read files that an analyst adds: criteria, background, margins, references, dialogues of other people.

`--background FILE`, a CSV: `worker` (as in the run; in reports of a server's database this is the pseudonym),
then a column for each field. An empty cell means unknown.

    worker,age,country
    5d41402abc4b2a76,18–34,IE

`--margins FILE`, a CSV: shares of the population, or counts, which are divided by their sum.

    field,group,share
    age,18–34,0.31
    age,35 and over,0.69

`--references FILE`, JSON Lines: the items of the study, as they were uploaded. `item`, `system` and
`reference` are read; a line without `reference` has none.

    {"item": "q17", "system": "bert", "text": "In 1912.", "reference": "1912"}

`--dialogues FILE`, ParlAI's text format: the turns of a dialogue are numbered from 1, and have a line of each
of two people. Lines of personas, and other columns, are skipped.

    1 hi there ! <tab> hello , how are you ?
    2 fine . do you like tea ? <tab> very much .

`--criteria-file FILE`, YAML:

    criteria:
      - label: fun
      - label: robotic
        negative: true          # default: false
        counts_for_qc: false    # default: true
        maximum: 5              # default: 100, the upper end of the scale
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import yaml
from pydantic import Field

from candor.common.files import read_file, read_yaml
from qc.errors import DataError, OptionError, Problem, SourceError, joined, quoted
from qc.formats.published import MAXIMUM, StrictModel
from qc.loading.raw_run import CRITERION_COLUMNS, RENAME, RESERVED
from qc.loading.tables import CsvText, read_table
from qc.loading.validation import parsed_lines, validated
from qc.names import clean
from qc.options import Dialogues
from qc.run import RESERVED_LABELS, Run
from qc.statistics.text import written_lengths

WORKER = "worker"
MARGIN_COLUMNS = ("field", "group", "share")


def with_background(run: Run, path: Path) -> Run:
    """Return `run` with the data about its workers in the file at `path`.

    Raises:
        SourceError: the file cannot be read.
        DataError: a column is missing, a worker has two rows, or none of its workers is in the run.
    """
    given = _table(path, [WORKER])
    header, rows = given.header, given.rows
    fields = [name for name in header if name != WORKER]
    if WORKER not in header or not fields:
        there = f"The file has {joined([repr(name) for name in header])}."
        what = f"{there} Give `worker`, and a column for each field."
        raise DataError(str(path), [Problem("the header", "lacks a column.", what)])
    table = pd.DataFrame(rows, columns=header, dtype=object).replace("", None)
    problems = [
        Problem(
            f"row {row + 2}",
            f"holds worker {quoted(table[WORKER].iloc[row])} again.",
            "Keep one row of each.",
        )
        for row in table[WORKER].duplicated().to_numpy().nonzero()[0]
    ]
    known = run.assignments[WORKER].cat.categories
    if not problems and not table[WORKER].isin(known).any():
        why = f"holds none of the run's workers; the first of the run is {quoted(known[0])}."
        problems.append(
            Problem("column 'worker'", why, "Take the ids from worker_pvalues.csv of its report.")
        )
    if problems:
        raise DataError(str(path), problems)
    background = table[[WORKER, *fields]][table[WORKER].isin(known)].reset_index(drop=True)
    return replace(run, background=background, notes=(*run.notes, *given.notes))


class _Line(StrictModel):
    item: str
    system: str
    reference: str | None = None


def with_references(run: Run, path: Path) -> Run:
    """Return `run`, of transcripts, with the number of words of its items' references in the file at `path`.

    Raises:
        SourceError: the file cannot be read.
        OptionError: the workers of the run chatted.
        DataError: a line is not such an object, or no item of the run has a reference in the file.
    """
    if run.items is None:
        raise OptionError("--references is given, but workers chatted in this run, so there are no items.")
    lines = _bytes(path).split(b"\n")
    problems: list[Problem] = []
    shape = "Give the items of the study, one JSON object a line."
    given = [line for _, line in parsed_lines(lines, _Line, shape, problems, first=1)]
    # A server calls an item by its name and its system.
    known = {f"{clean(each.item)} {clean(each.system)}": each.reference for each in given if each.reference}
    if not problems and not run.items["item"].isin(known).any():
        why = "has no reference of any item of the run."
        problems.append(Problem("the file", why, shape))
    if problems:
        raise DataError(str(path), problems)
    texts = run.items["item"].astype(str).map(known).astype("str")
    words = pd.Series(written_lengths(texts).words, texts.index).where(texts.notna()).astype("float64")
    return replace(run, reference_words=words)


def _bytes(path: Path) -> bytes:
    """Return the content of a file. Raises SourceError."""
    try:
        return read_file(path)
    except OSError as error:
        why = error.strerror or error
        raise SourceError(f"{path}: the file cannot be read ({why}). Check the path.") from None


_TURN = re.compile(r"(\d+) (.*)")
_PERSONA = re.compile(r"(?:your|partner's) persona: ")


def read_dialogues(path: Path) -> Dialogues:
    """Return the lines of the dialogues of a file.

    Raises:
        SourceError: the file cannot be read, or is too large.
        DataError: a line has no number, or there is no turn of two people.
    """
    texts: list[str] = []
    sides: list[int] = []
    dialogue = -1
    for number, line in enumerate(_bytes(path).decode("utf-8-sig", "replace").splitlines(), start=1):
        turn = _TURN.fullmatch(line)
        if turn is None:
            what = "Begin each line with the number of the turn, as ParlAI does."
            raise DataError(str(path), [Problem(f"line {number}", "has no number.", what)])
        dialogue += turn[1] == "1"
        said = [] if _PERSONA.match(turn[2]) else turn[2].split("\t")[:2]
        for side, text in enumerate(said if len(said) == 2 else []):
            texts.append(text)
            sides.append(2 * dialogue + side)
    if not texts:
        what = "Write both lines of a turn in one line of the file, with a tab between them."
        raise DataError(str(path), [Problem("the file", "has no turn of two people.", what)])
    return Dialogues(path.name, pd.Series(texts, dtype="str"), np.unique(sides, return_inverse=True)[1])


def read_margins(path: Path) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Return field → group → share of the population, and notes; the shares of a field add up to 1.

    Raises:
        SourceError: the file cannot be read.
        DataError: a column is missing, a share is not above 0, or a group has two rows.
    """
    table = _table(path, MARGIN_COLUMNS)
    header, rows = table.header, table.rows
    if set(header) != set(MARGIN_COLUMNS):
        what = f"The file has {joined([repr(name) for name in header])}. Give field, group and share."
        raise DataError(str(path), [Problem("the header", "does not have the right columns.", what)])
    found: dict[str, dict[str, float]] = {}
    problems = []
    for number, cells in enumerate(rows, start=2):
        field, group, text = (cells[header.index(name)] for name in MARGIN_COLUMNS)
        share = _number(text)
        if not 0 < share < float("inf"):
            problems.append(
                Problem(f"row {number}, column 'share'", f"holds {quoted(text)}.", "Write a number above 0.")
            )
        if group in found.setdefault(field, {}):
            problems.append(
                Problem(
                    f"row {number}",
                    f"holds {quoted(group)} of {quoted(field)} again.",
                    "Keep one of the two.",
                )
            )
        found[field][group] = share
    if problems:
        raise DataError(str(path), problems)
    shares_of = {
        field: {group: share / sum(shares.values()) for group, share in shares.items()}
        for field, shares in found.items()
    }
    return shares_of, table.notes


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return float("nan")
    return value if isfinite(value) else float("nan")


def _table(path: Path, known: Sequence[str]) -> CsvText:
    """Return a CSV file with clean cells and without empty rows."""
    try:
        table = read_table(path, known)
    except OSError as error:
        raise SourceError(
            f"{path}: the file cannot be read ({error.strerror or error}). Check the path."
        ) from None
    rows = [[clean(cell) for cell in row] for row in table.rows if any(map(clean, row))]
    if not rows:
        raise DataError(str(path), [Problem("the file", "has no rows under a header.", "Export it again.")])
    problems = misshapen(table.header, rows)
    if problems:
        raise DataError(str(path), problems)
    return replace(table, rows=rows)


SHAPE = "Give a list `criteria` of objects with label, negative, counts_for_qc and maximum."


class _Criterion(StrictModel, extra="forbid"):
    label: Annotated[str, Field(min_length=1)]
    negative: bool = False
    counts_for_qc: bool = True
    maximum: Annotated[float, Field(gt=0)] = MAXIMUM


class _File(StrictModel, extra="forbid"):
    criteria: Annotated[list[_Criterion], Field(min_length=1)]


def read(path: Path) -> pd.DataFrame:
    """Return the criteria in the file at `path`, in its order, with the columns of `Run.criteria`.

    Raises:
        SourceError: the file cannot be read.
        DataError: it is not YAML, a field is unknown, missing or of the wrong type, a label is repeated or
            is one of RESERVED_LABELS.
    """
    problems: list[Problem] = []
    declared = validated(_File, _content(path), "the file", SHAPE, problems)
    if declared is not None:
        labels = [criterion.label for criterion in declared.criteria]
        problems += [*_repeated(labels), *_reserved(labels)]
    if declared is None or problems:
        raise DataError(str(path), problems)
    return pd.DataFrame([one.model_dump() for one in declared.criteria], columns=CRITERION_COLUMNS)


def _content(path: Path) -> object:
    try:
        return read_yaml(read_file(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path}: the criteria file cannot be read ({reason}). Check the path.") from None
    except yaml.YAMLError as error:
        raise DataError(str(path), [Problem("the file", f"is not YAML ({error}).", SHAPE)]) from None


def _repeated(labels: list[str]) -> list[Problem]:
    return [
        Problem(
            f"criteria[{index}].label",
            f"{label!r} is already given at criteria[{labels.index(label)}].",
            "Keep one of the two.",
        )
        for index, label in enumerate(labels)
        if labels.index(label) < index
    ]


def _reserved(labels: list[str]) -> list[Problem]:
    return [
        Problem(f"criteria[{index}].label", f"{label!r} {RESERVED}", RENAME)
        for index, label in enumerate(labels)
        if label in RESERVED_LABELS
    ]


def misshapen(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Problem]:
    """Return a problem for each repeated column name, and for each row with a wrong number of cells.

    `rows` are the rows below the header; the header is row 1, as in a spreadsheet.
    """
    twice = sorted({name for name in header if header.count(name) > 1})
    problems = [Problem(f"column {name!r}", "is there twice.", "Rename one of them.") for name in twice]
    return problems + [
        Problem(f"row {number}", f"has {len(row)} cells, but the header has {len(header)}.", "Correct it.")
        for number, row in enumerate(rows, start=2)
        if len(row) != len(header)
    ]
