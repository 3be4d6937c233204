"""Our export of a run, with all ratings: the common part of its two forms, JSON Lines and Parquet.

Both have the same header, a JSON object. In JSON Lines it is the first line, and each further line is an
assignment. In Parquet it is in the metadata of the schema, and each row is a conversation.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import pandas as pd
import pyarrow as pa
from pydantic import Field

from qc.formats.published import StrictModel
from qc.run import SIMULATED_NOTE, WRITING_NUMBERS, AskedPart, Run

FORMAT = "candor-run"
VERSION = 1

# In Parquet: the key of the header in the metadata, and the prefix of columns of criteria.
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
NULLABLE = frozenset({"seconds", "reward", "feedback", "persona", "scenario", "quiz", "writing"})
# Columns for studies that ask for more than ratings; the header says which of them exist.
_ANSWER = pa.struct({"part": TEXT, "label": TEXT, "text": TEXT, "number": pa.float64()})
ASKED_COLUMNS = {
    "scenario": TEXT,
    "turn_ratings": pa.large_list(pa.struct({"turn": pa.int32(), "value": pa.float64()})),
    "quiz": pa.struct({"choices": pa.int32(), "why_not": TEXT, "is_right": pa.bool_()}),
    "writing": pa.struct(dict.fromkeys(WRITING_NUMBERS, pa.int64())),
    "answers": pa.large_list(_ANSWER),
    "assignment_answers": pa.large_list(_ANSWER),
}
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
    offensive: int = 0
    inputs: int = 0
    offensive_inputs: int = 0
    judged: int = 0
    flagged: int = 0
    judged_inputs: int = 0
    flagged_inputs: int = 0
    reported: int = 0
    timed_out: int = 0
    busy: int = 0
    gone: int = 0
    refused: int = 0
    declined: int = 0
    budget_spent: int = 0
    broken_off: int = 0
    empty: int = 0
    thoughts_only: int = 0
    too_long: int = 0
    other_errors: int = 0


class ServedModel(StrictModel):
    """A row of `Run.served`."""

    system: str
    model: str
    revision: str
    prompt_hash: str
    sampling: str
    calls: int
    failed: int
    replicas: int
    tokens_in: float | None
    tokens_out: float | None
    cost: float | None
    queued_ms: float | None
    computed_ms: float | None
    first: str
    last: str


class DeclaredQuestion(StrictModel):
    """A row of the questions of `qc.run.Answers`."""

    part: AskedPart
    label: str
    kind: str
    question: str
    choices: list[str]
    points: int


class GivenAnswer(StrictModel):
    """An answer: `text` for a text, `number` for a number; its place in the file gives the conversation."""

    part: AskedPart
    label: str
    text: str | None
    number: float | None


class TurnRating(StrictModel):
    """A worker's rating of the reply in line `turn`."""

    turn: Annotated[int, Field(ge=0, lt=2**31)]
    value: Annotated[float, Field(ge=0, le=100)]


class Quiz(StrictModel):
    """The quiz after a conversation; `choices` is 0 if nothing was asked, and `why_not` says why."""

    choices: Annotated[int, Field(ge=0, lt=2**31)]
    why_not: str | None
    is_right: bool | None


_Count = Annotated[int, Field(ge=0, lt=2**50)]  # so that sums stay exact


class Writing(StrictModel):
    """A row of `Run.writing`."""

    inputs: _Count
    typed: _Count
    composed: _Count
    pasted: _Count
    pastes: _Count
    writing_ms: _Count
    longest_pause_ms: _Count
    away: _Count
    away_ms: _Count


class LeftOutAssignment(StrictModel):
    """A `qc.run.LeftOut`."""

    assignment: str
    worker: str
    reason: str


class Header(StrictModel):
    """All data of a run except its assignments.

    Attributes:
        format: FORMAT; the first field, so that the beginning of a file identifies it.
        version: version of the export. A reader refuses a version newer than its own.
        name: `Run.name`.
        partial: `Run.partial`.
        simulated: whether all workers were simulated. A reader adds the note that says so, if it is missing.
        words: whether the file holds the texts, even if there are none.
        criteria: in the order of reports.
        systems: by name, the QC bot last.
        incidents: incidents of each system; None if they were not counted.
        served: models that answered for the systems; None if no bot reported them.
        scenarios: whether conversations have scenarios.
        turn_ratings: whether single replies were rated.
        quizzes: whether conversations have a quiz.
        writing: whether it was recorded how inputs were written.
        questions: the study's own questions; None if it asked none.
        people: systems that are people, by name; empty if the file does not say.
        left_out: assignments that are not analysed.
        notes: `Run.notes`.
        assignments: number of assignments, which detects a file that was cut short.
        conversations: number of conversations.
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
    served: list[ServedModel] | None = None
    scenarios: bool = False
    turn_ratings: bool = False
    quizzes: bool = False
    writing: bool = False
    questions: list[DeclaredQuestion] | None = None
    people: list[str] = Field(default_factory=list)
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
            served=None if run.served is None else _served(run.served),
            scenarios=run.scenarios is not None,
            turn_ratings=run.turn_ratings is not None,
            quizzes=run.quizzes is not None,
            writing=run.writing is not None,
            questions=None if run.answers is None else _questions(run.answers.questions),
            people=sorted(run.people),
            left_out=[LeftOutAssignment(**asdict(out)) for out in run.left_out],
            notes=list(run.notes),
            assignments=len(run.assignments),
            conversations=len(run.conversations),
        )


def _incidents(rows: pd.DataFrame) -> list[SystemIncidents]:
    known = rows.astype({"overran": object}).where(rows.notna(), None)
    return [SystemIncidents.model_validate(row) for row in known.to_dict("records")]


def _served(rows: pd.DataFrame) -> list[ServedModel]:
    known = rows.astype(object).where(rows.notna(), None)
    return [ServedModel.model_validate(row) for row in known.to_dict("records")]


def _questions(rows: pd.DataFrame) -> list[DeclaredQuestion]:
    return [
        DeclaredQuestion.model_validate(
            {**row, "choices": list(row["choices"]), "points": int(row["points"])}
        )
        for row in rows.to_dict("records")
    ]


def asked_columns(header: Header) -> list[str]:
    """Return the names of the ASKED_COLUMNS in a file with this header."""
    answers = ["answers", "assignment_answers"] if header.questions is not None else []
    own = [
        ("scenario", header.scenarios),
        ("turn_ratings", header.turn_ratings),
        ("quiz", header.quizzes),
        ("writing", header.writing),
    ]
    return [*(name for name, there in own if there), *answers]


def parquet_schema(labels: list[str], words: bool, asked: Sequence[str] = ()) -> pa.Schema:
    """Return the columns of the Parquet form: one row per conversation, ordered by assignment and position.

    Data of an assignment are repeated in each of its rows. `inputs`, `replies` and `rounds` have the same
    length. Values that may be unknown are nullable. `asked` names the additional ASKED_COLUMNS.
    """
    always = [pa.field(name, kind, nullable=name in NULLABLE) for name, kind in _COLUMNS.items()]
    ratings = [pa.field(RATING_PREFIX + label, pa.float64(), nullable=False) for label in labels]
    said = [pa.field(name, kind, nullable=False) for name, kind in WORD_COLUMNS.items()] if words else []
    more = [pa.field(name, ASKED_COLUMNS[name], nullable=name in NULLABLE) for name in asked]
    return pa.schema([*always, *ratings, *said, *more])
