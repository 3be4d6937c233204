"""Our export of a run, which holds all of it: what its two forms, JSON Lines and Parquet, have in common.

Both begin with the same header, a JSON object. In JSON Lines it is the first line, and each further line
is an assignment; in Parquet it stands in the metadata of the schema, and each row is a conversation.
"""

from dataclasses import asdict

import pandas as pd
import pyarrow as pa

from qc.formats.strict_model import StrictModel
from qc.run import SIMULATED_NOTE, Run

FORMAT = "candor-run"
VERSION = 1

# In Parquet: the key of the header in the metadata, and what stands before the label of a criterion.
HEADER_KEY = b"candor-run"
RATING_PREFIX = "rating."
TEXT = pa.large_string()  # texts of a large run together exceed 2 GiB
_COLUMNS = {
    "assignment": TEXT,
    "hit": TEXT,
    "worker": TEXT,
    "seconds": pa.float64(),
    "reward": pa.float64(),
    "feedback": TEXT,
    "conversation": TEXT,
    "position": pa.int64(),
    "system": TEXT,
    "persona": TEXT,
}
NULLABLE = frozenset({"seconds", "reward", "feedback", "persona"})
_MARK = {"round": pa.int32()}
WORD_COLUMNS = {
    "inputs": pa.large_list(TEXT),
    "replies": pa.large_list(TEXT),
    "rounds": pa.large_list(pa.int32()),
    "topics": pa.large_list(pa.struct({**_MARK, "topic": TEXT, "opinion": TEXT})),
    "changes": pa.large_list(pa.struct({**_MARK, "how": TEXT, "bot_opinion": TEXT})),
}


class DeclaredCriterion(StrictModel):
    """A row of `Run.criteria`."""

    label: str
    negative: bool
    counts_for_qc: bool
    maximum: float


class DeclaredSystem(StrictModel):
    """A row of `Run.systems`."""

    system: str
    family: str
    has_persona: bool
    is_qc: bool


class SystemIncidents(StrictModel):
    """A row of `Run.incidents`."""

    system: str
    conversations: int
    failed: int
    replies: int
    errors: int
    overran: float | None
    gave_away: int
    timed_out: int = 0
    busy: int = 0
    gone: int = 0
    refused: int = 0
    empty: int = 0
    too_long: int = 0
    other_errors: int = 0


class LeftOutAssignment(StrictModel):
    """A `qc.run.LeftOut`."""

    assignment: str
    worker: str
    reason: str


class Header(StrictModel):
    """Everything of a run but its assignments.

    Attributes:
        format: FORMAT; stands first, so that the beginning of a file tells what it is.
        version: of the export. A reader refuses a version newer than its own.
        name: `Run.name`.
        partial: `Run.partial`.
        simulated: whether programs did all of it. A reader adds the note that says so, if it is missing.
        words: whether the words are here, be there none.
        criteria: in the order of reports.
        systems: by name, the qc bot last.
        incidents: of each system; None if nobody counted them.
        left_out: assignments that take no part.
        notes: `Run.notes`.
        assignments: how many there are; a file that was cut short shows by it.
        conversations: how many there are.
    """

    format: str = FORMAT
    version: int = VERSION
    name: str
    partial: bool
    simulated: bool
    words: bool
    criteria: list[DeclaredCriterion]
    systems: list[DeclaredSystem]
    incidents: list[SystemIncidents] | None = None
    left_out: list[LeftOutAssignment]
    notes: list[str]
    assignments: int
    conversations: int

    @classmethod
    def of(cls, run: Run) -> "Header":
        """Return the header of `run`."""
        return cls(
            name=run.name,
            partial=run.partial,
            simulated=SIMULATED_NOTE in run.notes,
            words=run.words is not None,
            criteria=[DeclaredCriterion.model_validate(row) for row in run.criteria.to_dict("records")],
            systems=[DeclaredSystem.model_validate(row) for row in run.systems.to_dict("records")],
            incidents=None if run.incidents is None else _incidents(run.incidents),
            left_out=[LeftOutAssignment(**asdict(out)) for out in run.left_out],
            notes=list(run.notes),
            assignments=len(run.assignments),
            conversations=len(run.conversations),
        )


def _incidents(rows: pd.DataFrame) -> list[SystemIncidents]:
    known = rows.astype({"overran": object}).where(rows.notna(), None)
    return [SystemIncidents.model_validate(row) for row in known.to_dict("records")]


def parquet_schema(labels: list[str], words: bool) -> pa.Schema:
    """Return the columns of the Parquet form: one row is a conversation, ordered by assignment and position.

    What belongs to an assignment stands in each of its rows. `inputs`, `replies` and `rounds` are of the
    same length. Whatever may be unknown is nullable.
    """
    always = [pa.field(name, kind, nullable=name in NULLABLE) for name, kind in _COLUMNS.items()]
    ratings = [pa.field(RATING_PREFIX + label, pa.float64(), nullable=False) for label in labels]
    said = [pa.field(name, kind, nullable=False) for name, kind in WORD_COLUMNS.items()] if words else []
    return pa.schema([*always, *ratings, *said])
