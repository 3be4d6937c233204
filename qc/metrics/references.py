"""Read references of the replies in conversations (`--references FILE`).

A CSV or JSON Lines with `conversation`, `reference` and, if a reference is for one reply, `turn`: the number
of the person's message that the reply answers, from 1. A reference without a turn is for all replies of the
system in the conversation together. Several lines for one turn are several references for one reply.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic_core import from_json

from candor.common.files import read_file
from qc.errors import DataError, Problem, SourceError, quoted
from qc.loading.validation import repeated_keys
from qc.metrics.metric_table import REPAIR, read_csv
from qc.metrics.overlap.words import ReferencedReply
from qc.metrics.transcripts import Transcript, conversation_names
from qc.run import Run

_TURN = re.compile(r"\d{1,9}")
_FIELDS = {"conversation", "turn", "reference"}
# Location in the file, conversation, turn (None: all replies), reference.
_Line = tuple[str, str, int | None, str]


def read_references(
    path: Path, run: Run, spoken: Sequence[Transcript], notes: list[str]
) -> tuple[tuple[ReferencedReply, ...], ...]:
    """Return, for each conversation of `run`, the replies with references in the file at `path`.

    Args:
        path: the file; a CSV if its suffix is `.csv`, else JSON Lines.
        run: the run of the conversations.
        spoken: their transcripts.
        notes: notes on the file are added to it.

    Raises:
        SourceError: the file cannot be read.
        DataError: a line is invalid; the error lists all problems.
    """
    problems: list[Problem] = []
    lines = list(
        _csv(path, problems, notes) if path.suffix.lower() == ".csv" else _json_lines(path, problems)
    )
    row_of = {name: row for row, name in enumerate(conversation_names(run))}
    gathered: dict[tuple[int, str], list[str]] = defaultdict(list)
    for where, name, turn, reference in lines:
        row = row_of.get(name)
        if row is None:
            problems.append(Problem(where, f"unknown conversation {quoted(name)}.", REPAIR))
            continue
        reply = _reply(spoken[row], turn)
        if reply is None:
            problems.append(Problem(where, f"{name!r} has no reply of turn {turn}.", REPAIR))
        else:
            gathered[row, reply].append(reference)
    if problems:
        raise DataError(str(path), problems)
    if not gathered:
        raise SourceError(f"{path}: the file holds no reference. Give one a line, or leave --references out.")
    found: list[list[ReferencedReply]] = [[] for _ in spoken]
    for (row, reply), references in gathered.items():
        found[row].append(ReferencedReply(reply, tuple(references)))
    return tuple(map(tuple, found))


def _reply(spoken: Transcript, turn: int | None) -> str | None:
    """Return the system's reply to message `turn`, or all its replies in the conversation."""
    if turn is None:
        return "\n".join(spoken.replies) or None
    return next((each.reply for each in spoken.exchanges if each.round == turn), None)


def _csv(path: Path, problems: list[Problem], notes: list[str]) -> Iterator[_Line]:
    table = read_csv(path, ("conversation", "reference", "turn"))
    notes += table.notes
    heading, lines = table.header, table.rows
    if set(heading) - {"turn"} != {"conversation", "reference"}:
        raise SourceError(
            f"{path}: the columns should be `conversation`, `reference` and, if wanted, `turn`; they are "
            f"{quoted(','.join(heading))}."
        )
    for number, line in enumerate(lines, start=2):
        cells = dict(zip(heading, line, strict=False))
        turn = cells.get("turn") or None
        given = {**cells, "turn": int(turn) if turn and _TURN.fullmatch(turn) else turn}
        yield from _checked(f"line {number}", given, problems)


def _json_lines(path: Path, problems: list[Problem]) -> Iterator[_Line]:
    for where, given in json_lines(path, problems):
        yield from _checked(where, given, problems)


def json_lines(path: Path, problems: list[Problem]) -> Iterator[tuple[str, object]]:
    """Yield the value in each line of JSON Lines that is not empty, with its location.

    Raises:
        SourceError: the file cannot be read.
    """
    try:
        text = read_file(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"{path}: the file cannot be read ({reason}). Give JSON Lines in UTF-8.") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            given = from_json(line)
        except ValueError:
            problems.append(Problem(f"line {number}", "this is no JSON.", REPAIR))
            continue
        problems += repeated_keys(line, f"line {number}")
        yield f"line {number}", given


def _checked(where: str, given: object, problems: list[Problem]) -> Iterator[_Line]:
    """Yield the line if it is valid; else add a problem."""
    fields = given if isinstance(given, dict) else {}
    name, reference, turn = (fields.get(field) for field in ("conversation", "reference", "turn"))
    if unknown := sorted(fields.keys() - _FIELDS):
        problems.append(Problem(where, f"the field {unknown[0]!r} is not known here.", REPAIR))
    elif not isinstance(name, str) or not isinstance(reference, str) or not reference.strip():
        problems.append(Problem(where, "`conversation` and `reference` should both be texts.", REPAIR))
    elif turn is not None and (not isinstance(turn, int) or turn < 1):
        problems.append(Problem(where, f"the turn is {quoted(turn)}, not a whole number from 1.", REPAIR))
    else:
        yield where, name, turn, reference
