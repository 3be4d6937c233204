"""Read the JSON Lines that `candor data export` writes for a run whose workers rate transcripts.

The first line is a header. Each further line is an assignment with the items that its worker rated.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import Field

from qc.errors import DataError, Problem
from qc.formats.published import FactValue, StrictModel, beginning
from qc.loading.frames import ITEM_COLUMNS
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    RawRun,
    build_run,
    report_order,
)
from qc.loading.validation import parsed_header, parsed_lines, require_readable, validated
from qc.options import LoadOptions
from qc.run import SIMULATED_NOTE, Run

FORMAT = "candor-item-ratings"
VERSION = 1
HEADER = "line 1"
EXPORT_AGAIN = "Export the run again, or repair the file."
_BEGINNING = beginning(FORMAT)


class _Criterion(StrictModel):
    label: str
    negative: bool
    counts_for_qc: bool
    maximum: float


class _System(StrictModel):
    system: str
    family: str


class _Header(StrictModel):
    version: int
    run: str
    assignments: int
    simulated: bool
    criteria: list[_Criterion]
    systems: list[_System]


class _Item(StrictModel):
    position: int = Field(ge=-(2**31), lt=2**31)
    item: str
    source_conversation: str | None
    system: str
    kind: str
    twin_of: int | None
    ratings: dict[str, float]
    edit_share: float | None = None
    facts: dict[str, FactValue] = Field(default_factory=dict)


class _Assignment(StrictModel):
    assignment: str
    worker: str
    duration_seconds: float | None
    feedback: str | None
    items: list[_Item]


def is_item_ratings(content: bytes) -> bool:
    """Return whether `content` begins like such a file."""
    return _BEGINNING.match(content) is not None


def read(path: Path, content: bytes, options: LoadOptions) -> Run:
    """Return the run in `content`, the bytes of the file at `path`.

    Raises:
        SourceError: its version is newer than this program reads.
        DataError: a line is not JSON, a field is missing or of the wrong type, a value is unknown or out of
            range, an assignment is given twice, lines are missing.
        EmptyRunError: it holds no rated item.
    """
    first, *lines = content.split(b"\n")
    problems: list[Problem] = []
    header = _header(str(path), first, problems)
    held = list(parsed_lines(lines, _Assignment, EXPORT_AGAIN, problems))
    if not problems and header.assignments != len(held):
        problems.append(
            Problem(
                f"{HEADER}.assignments",
                f"announces {header.assignments}, but the file holds {len(held)}.",
                "It was cut short or added to. " + EXPORT_AGAIN,
            )
        )
    return build_run(_raw_run(str(path), header, held), problems, options.criteria)


def _header(source: str, content: bytes, problems: list[Problem]) -> _Header:
    given = parsed_header(source, HEADER, content, EXPORT_AGAIN)
    require_readable(source, given, VERSION)
    header = validated(_Header, given, HEADER, EXPORT_AGAIN, problems)
    if header is None:
        raise DataError(source, problems)
    return header


def _raw_run(source: str, header: _Header, held: list[tuple[str, _Assignment]]) -> RawRun:
    shown = [
        (f"{where}, items[{index}]", one.assignment, item)
        for where, one in held
        for index, item in enumerate(one.items)
    ]
    items = [
        (item.item, item.kind, item.twin_of, item.source_conversation or item.item, item.edit_share)
        for *_, item in shown
    ]
    systems = pd.DataFrame([each.model_dump() for each in header.systems], columns=["system", "family"])
    rated = {item.system for *_, item in shown}
    return RawRun(
        name=header.run,
        source=source,
        criteria=report_order(
            pd.DataFrame([each.model_dump() for each in header.criteria], columns=CRITERION_COLUMNS)
        ),
        # A study may declare systems without an item in the run.
        systems=systems[systems["system"].isin(rated)].assign(has_persona=False, is_qc=False),
        assignments=pd.DataFrame(
            [
                (
                    where,
                    one.assignment,
                    one.assignment,
                    one.worker,
                    one.duration_seconds,
                    np.nan,
                    one.feedback,
                )
                for where, one in held
                if one.items
            ],
            columns=ASSIGNMENT_COLUMNS,
        ),
        conversations=pd.DataFrame(
            [
                (where, f"{name}/{item.position}", name, item.position, item.system, None)
                for where, name, item in shown
            ],
            columns=CONVERSATION_COLUMNS,
        ),
        ratings=pd.DataFrame([item.ratings for *_, item in shown], dtype=np.float64),
        items=pd.DataFrame(items, columns=ITEM_COLUMNS),
        facts=pd.DataFrame([item.facts for *_, item in shown]),
        notes=(SIMULATED_NOTE,) if header.simulated else (),
    )
