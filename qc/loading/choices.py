"""Read preferences of workers who compared two systems side by side, from a database or its export."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from qc.errors import DataError, EmptyRunError, Problem
from qc.formats.published import beginning
from qc.loading.database.details import WORKER
from qc.loading.database.participation import exclusions, taking_part
from qc.loading.database.views import (
    ASSIGNMENT,
    CHOICE,
    SYSTEM,
    TURN,
    Views,
    flags,
    located,
    numbers,
    task_of,
    times,
)
from qc.loading.source import RunFile, Source
from qc.loading.validation import parsed_header, require_readable, validated
from qc.options import LoadOptions
from qc.run import REHEARSAL_NOTE, SIMULATED_NOTE

FORMAT = "candor-choices"
VERSION = 1
PREFERENCES = ("left", "tie", "right")
_SIDES = ("left", "right")
_BEGINNING = beginning(FORMAT)
_EXPORT_AGAIN = "Export the run again, or repair the file."
_COLUMNS = ["assignment", "worker", "pair", "left", "right", "turn", "preference"]


@dataclass(frozen=True)
class Choices:
    """The preferences of the workers of a run.

    Attributes:
        name: name of the run.
        source: where it was read from.
        choices: a row for each choice: `assignment`, `worker`, `pair` (int, from 1), `left`, `right` (names
            of systems), `turn` (int: line after which the worker chose), `preference` (one of PREFERENCES);
            by assignment, pair, then turn. If texts were asked for, also `left_said` and `right_said` (the
            lines until the choice: tuples of author, `worker` or `bot`, and text) and `time` (float: seconds
            since 1970, NaN if unknown).
        systems: the names of the compared systems, in order, without the QC bot.
        qc: the names of QC bots.
        rated: whether the run has ratings too.
        notes: sentences that a reader must see.
    """

    name: str
    source: str
    choices: pd.DataFrame
    systems: tuple[str, ...]
    qc: frozenset[str]
    rated: bool
    notes: tuple[str, ...]


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _System(_Given):
    system: str
    is_qc: bool


class _Header(_Given):
    version: int
    run: str
    assignments: int
    simulated: bool
    criteria: list[dict[str, Any]]
    systems: list[_System]


class _Choice(_Given):
    turn: int
    preference: str


class _Line(_Given):
    turn: int
    author: str
    text: str | None = None
    left: str | None = None
    right: str | None = None

    def said(self, side: str) -> tuple[str, str | None]:
        """Return author and text of the line on one side; a message of the worker is on both."""
        return self.author, self.text if self.author == WORKER else getattr(self, side)


class _Pair(_Given):
    pair: int
    left: str
    right: str
    choices: list[_Choice]
    lines: list[_Line] = []

    def said(self, side: str, turn: int) -> tuple[tuple[str, str | None], ...]:
        """Return the lines of one side until `turn`."""
        lines = [line.said(side) for line in self.lines if line.turn <= turn]
        return tuple(line for line in lines if line[1] is not None)


class _Assignment(_Given):
    assignment: str
    worker: str
    pairs: list[_Pair]


def is_choices(content: bytes) -> bool:
    """Return whether `content` begins like an export of a run of comparisons."""
    return _BEGINNING.match(content) is not None


def read_choices(source: Source, options: LoadOptions, texts: bool = False) -> Choices | None:
    """Return the preferences in the run that `options` select; None if it is not a run of comparisons.

    Args:
        source: the source.
        options: the run.
        texts: whether the lines of the conversations are read, too.

    Raises:
        SourceError, RunChoiceError: as `read_run`.
        DataError: a value is invalid.
        EmptyRunError: the run holds no choice.
    """
    found = _of_file(source, texts) if isinstance(source, RunFile) else _of_database(source, options, texts)
    if found is None:
        return None
    unknown = sorted(set(found.choices["preference"]) - set(PREFERENCES))
    named = set(found.choices["left"]) | set(found.choices["right"])
    strangers = sorted(named - set(found.systems) - found.qc)
    problems = [
        Problem("a choice", f"the preference {value!r} is none of {', '.join(PREFERENCES)}.", _EXPORT_AGAIN)
        for value in unknown
    ]
    problems += [
        Problem("a choice", f"the system {name!r} is not declared.", _EXPORT_AGAIN) for name in strangers
    ]
    if problems:
        raise DataError(found.source, problems)
    if found.choices.empty:
        raise EmptyRunError(f"{found.source}: no completed assignment holds a choice between two systems.")
    return found


def _of_file(source: RunFile, texts: bool) -> Choices | None:
    if not is_choices(source.file.peek(200)):
        return None
    from qc.loading.validation import parsed_lines  # noqa: PLC0415  # as everything that only one kind of file needs

    first, *lines = source.file.read().split(b"\n")
    name, problems = str(source.path), list[Problem]()
    header = _header(name, first, problems)
    held = [assignment for _, assignment in parsed_lines(lines, _Assignment, _EXPORT_AGAIN, problems)]
    if not problems and len(held) != header.assignments:
        reason = f"announces {header.assignments}, but the file holds {len(held)}."
        problems.append(Problem("line 1.assignments", reason, _EXPORT_AGAIN))
    if problems:
        raise DataError(name, problems)
    made = [(one, pair, choice) for one in held for pair in one.pairs for choice in pair.choices]
    rows = pd.DataFrame(
        [
            (one.assignment, one.worker, pair.pair, pair.left, pair.right, choice.turn, choice.preference)
            for one, pair, choice in made
        ],
        columns=_COLUMNS,
    )
    if texts:
        said = {
            side: pd.Series([pair.said(side, choice.turn) for _, pair, choice in made], dtype=object)
            for side in _SIDES
        }
        rows = rows.assign(left_said=said["left"], right_said=said["right"], time=np.nan)
    return Choices(
        name=header.run,
        source=name,
        choices=_ordered(rows),
        systems=tuple(sorted(each.system for each in header.systems if not each.is_qc)),
        qc=frozenset(each.system for each in header.systems if each.is_qc),
        rated=bool(header.criteria),
        notes=(SIMULATED_NOTE,) if header.simulated else (),
    )


def _header(name: str, content: bytes, problems: list[Problem]) -> _Header:
    given = parsed_header(name, "line 1", content, _EXPORT_AGAIN)
    require_readable(name, given, VERSION)
    header = validated(_Header, given, "line 1", _EXPORT_AGAIN, problems)
    if header is None:
        raise DataError(name, problems)
    return header


def _of_database(views: Any, options: LoadOptions, texts: bool) -> Choices | None:
    from qc.loading.choices import preferences  # noqa: PLC0415
    from qc.loading.database.engine import choose, is_rehearsal  # noqa: PLC0415  # SQLAlchemy takes long to start

    run_id, name = choose(views, options.run, options.option)
    found = preferences(views, run_id, options)
    if found is None:
        return None
    rows, systems, rated, notes = found
    kept = rows[_COLUMNS]
    if texts:
        kept = kept.join(_said(views, run_id, rows))
    return Choices(
        name=name,
        source=views.source,
        choices=_ordered(kept),
        systems=tuple(sorted(systems.loc[~systems["is_qc"], "system"])),
        qc=frozenset(systems.loc[systems["is_qc"], "system"]),
        rated=rated,
        notes=((REHEARSAL_NOTE,) if is_rehearsal(views, run_id) else ()) + tuple(notes),
    )


def _said(views: Views, run_id: object, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of texts and times of the choices `rows`."""
    lines: dict[str, list[tuple[int, str, str]]] = {}
    for name, turn, author, text in views.rows("v1_turn", TURN, run_id)[list(TURN)].itertuples(index=False):
        lines.setdefault(name, []).append((int(turn), author, text))
    said = {
        f"{side}_said": pd.Series(
            [
                tuple(line[1:] for line in sorted(lines.get(name, ())) if line[0] <= turn)
                for name, turn in zip(rows[f"{side}_conversation_id"], rows["turn"], strict=True)
            ],
            rows.index,
            object,
        )
        for side in _SIDES
    }
    problems: list[Problem] = []
    chosen = times(rows["chosen_at"], rows["where"], problems)
    if problems:
        raise DataError(views.source, problems)
    return pd.DataFrame(said | {"time": (chosen - pd.Timestamp(0, tz="UTC")).dt.total_seconds()})


def _ordered(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["assignment", "pair", "turn"], kind="stable", ignore_index=True)


def preferences(
    views: Views, run_id: object, options: LoadOptions
) -> tuple[pd.DataFrame, pd.DataFrame, bool, list[str]] | None:
    """Return the choices of a run, its systems, whether it has ratings too, and notes.

    Return None if its workers did not compare; older databases have no such runs.

    Raises:
        SourceError: a view cannot be read.
        DataError: a value is invalid.
    """
    if task_of(views, run_id) != "side_by_side":
        return None
    problems: list[Problem] = []
    rows = views.rows("v1_choice", CHOICE, run_id)
    where = located("assignment", rows["assignment_id"])
    rows = rows.assign(
        where=where,
        pair=numbers(rows["pair"], where, "the pair", problems),
        turn=numbers(rows["turn_index"], where, "the turn", problems),
    )
    assignments = views.rows("v1_assignment", ASSIGNMENT, run_id)
    whose = located("assignment", assignments["assignment_id"])
    assignments = assignments.assign(
        where=whose,
        simulated=flags(assignments["simulated"], whose, problems),
        excluded=exclusions(views, run_id, assignments["assignment_id"]),
    )
    kept, _, notes = taking_part(assignments, rows, options.include_partial, only_simulated=options.simulated)
    systems = views.rows("v1_system", SYSTEM, run_id)
    systems = systems.assign(is_qc=flags(systems["is_qc"], located("system", systems["system"]), problems))
    rated = not views.rows("v1_criterion", ("label",), run_id).empty
    if problems:
        raise DataError(views.source, problems)
    rows = rows[rows["assignment_id"].isin(kept["assignment_id"])]
    names = {"assignment_id": "assignment", "left_system": "left", "right_system": "right"}
    rows = rows.rename(columns=names).astype({"pair": int, "turn": int})
    return rows, systems.astype({"is_qc": bool}), rated, list(notes)
