"""Read a plain file of texts, or of references and answers for the items of a run.

A CSV or JSON Lines with the columns of `Line`. An empty cell is unknown. In JSON Lines `reference` may be a
list.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, FiniteFloat, ValidationError
from pydantic_core import from_json

from qc.errors import DataError, Problem, SourceError, joined
from qc.metrics.metric_table import REPAIR, read_csv
from qc.metrics.references import json_lines

_LONGEST_LINE = 1_000_000  # bytes
_SEPARATORS = re.compile(r"[,;\t]")


def _listed(given: object) -> object:
    return [given] if isinstance(given, str) else given


class Line(BaseModel):
    """A line of the file.

    Attributes:
        system: the system that wrote the text.
        item: what the text is about; systems with the same one did the same task.
        text: the text.
        reference: texts to compare it with.
        passage: the passage that it is about.
        question: the question that it answers.
        answer: the answer to it, if it is a question.
        fact: what the system was given to write from.
        people: people's score of it, higher is better.
    """

    model_config = ConfigDict(extra="forbid")

    system: str | None = None
    item: str | None = None
    text: str | None = None
    reference: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    passage: str = ""
    question: str = ""
    answer: str = ""
    fact: str = ""
    people: FiniteFloat | None = None


FIELDS = tuple(Line.model_fields)


def holds_texts(name: str) -> bool:
    """Return whether the file at `name` begins like texts: with `system`, and `text` or `people`."""
    path = Path(name)
    if "://" in name or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE).decode("utf-8-sig", "replace").strip()
    if path.suffix.lower() == ".csv":
        named = {each.strip().strip('"').lower() for each in _SEPARATORS.split(first)}
    else:
        try:
            fields = from_json(first)
        except ValueError:
            return False
        named = set(fields) if isinstance(fields, dict) else set()
    # Judgments of workers, which `candor estimate` takes, have a worker in each line.
    return "system" in named and bool(named & {"text", "people"}) and "worker" not in named


def read_lines(path: Path, notes: list[str]) -> list[tuple[str, Line]]:
    """Return the lines of the file at `path` with their locations; a CSV if its suffix is `.csv`.

    Raises:
        SourceError: the file cannot be read, has a column that is not known, or no line.
        DataError: a line is invalid; the error lists all problems.
    """
    problems: list[Problem] = []
    given = _csv(path, notes) if path.suffix.lower() == ".csv" else json_lines(path, problems)
    found = []
    for where, fields in given:
        try:
            found.append((where, Line.model_validate(fields)))
        except ValidationError as error:
            problems += [
                Problem(f"{where}, {'.'.join(map(str, each['loc']))}", f"{each['msg']}.", REPAIR)
                for each in error.errors()
            ]
    if problems:
        raise DataError(str(path), problems)
    if not found:
        raise SourceError(f"{path}: the file holds no line. Give a text a line.")
    return found


def _csv(path: Path, notes: list[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    table = read_csv(path, FIELDS)
    notes += table.notes
    if unknown := [name for name in table.header if name not in FIELDS]:
        raise SourceError(
            f"{path}: the columns {joined(unknown)} are not known here. Known are {joined(FIELDS)}; give "
            "other metrics by --scores."
        )
    for number, cells in enumerate(table.rows, start=2):
        yield f"line {number}", {name: cell for name, cell in zip(table.header, cells, strict=False) if cell}
