"""Read the header of our export, the same in both its forms."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.errors import DataError, Problem, SourceError
from qc.formats.export import FORMAT, VERSION, Header
from qc.formats.strict_model import StrictModel
from qc.loading.json_header import parsed_header, require_readable
from qc.loading.raw_run import CRITERION_COLUMNS, SYSTEM_COLUMNS, RawRun
from qc.loading.validation import validated
from qc.run import INCIDENT_COLUMNS, SERVED_COLUMNS, SIMULATED_NOTE, LeftOut, Words

EXPORT_AGAIN = "Export the run again, or repair the file."


def parse(source: str, where: str, content: bytes) -> Header:
    """Return the header in `content`, which stands at `where` in `source`.

    Raises:
        SourceError: it is of a newer version than this program reads, or no header of ours.
        DataError: a field is missing or of the wrong type.
    """
    given = parsed_header(source, where, content, EXPORT_AGAIN)
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise SourceError(
            f'{source}: {where} does not say "format": "{FORMAT}", so this is no export of Candor. '
            "Check the path."
        )
    require_readable(source, given, VERSION)
    problems: list[Problem] = []
    header = validated(Header, given, where, EXPORT_AGAIN, problems)
    if header is None or header.version < 1:
        raise DataError(
            source,
            problems or [Problem(f"{where}.version", f"{given.get('version')} is below 1.", EXPORT_AGAIN)],
        )
    return header


def count_problems(header: Header, where: str, assignments: int, conversations: int) -> list[Problem]:
    """Return a problem for each count of the header that the content does not keep."""
    return [
        Problem(
            f"{where}.{name}",
            f"announces {announced}, but the file holds {found}.",
            "It was cut short or added to. " + EXPORT_AGAIN,
        )
        for name, announced, found in (
            ("assignments", header.assignments, assignments),
            ("conversations", header.conversations, conversations),
        )
        if announced != found
    ]


def raw_run(
    source: str,
    header: Header,
    assignments: pd.DataFrame,
    conversations: pd.DataFrame,
    ratings: pd.DataFrame,
    words: Words | None,
) -> RawRun:
    """Return what the header says of the run, and what the rest of the file does."""
    unsaid = header.simulated and SIMULATED_NOTE not in header.notes
    return RawRun(
        name=header.name,
        source=source,
        criteria=_frame(header.criteria, CRITERION_COLUMNS),
        systems=_frame(header.systems, SYSTEM_COLUMNS),
        assignments=assignments,
        conversations=conversations,
        ratings=ratings,
        words=words,
        incidents=None if header.incidents is None else _frame(header.incidents, INCIDENT_COLUMNS),
        served=None if header.served is None else _typed_served(header.served),
        people=frozenset(header.people),
        left_out=tuple(LeftOut(**out.model_dump()) for out in header.left_out),
        notes=(SIMULATED_NOTE, *header.notes) if unsaid else tuple(header.notes),
        partial=header.partial,
    )


def _typed_served(rows: Sequence[StrictModel]) -> pd.DataFrame:
    amounts = ("tokens_in", "tokens_out", "cost", "queued_ms", "computed_ms")
    typed: pd.DataFrame = _frame(rows, SERVED_COLUMNS).astype(dict.fromkeys(amounts, np.float64))
    return typed


def _frame(rows: Sequence[StrictModel], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame([row.model_dump() for row in rows], columns=columns)
