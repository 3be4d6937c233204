"""The tables of workers and their assignments."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field

from server.db.tables.table import TableBase, index_where


class WorkerTable(TableBase, table=True):
    """A real or simulated worker, as their platform names them. Exports show only the pseudonym."""

    __table_args__ = (UniqueConstraint("platform", "external_id"),)
    id: int | None = Field(default=None, primary_key=True)
    platform: str
    external_id: str
    pseudonym: str = Field(unique=True)


class AssignmentTable(TableBase, table=True):
    """One worker's assignment in a run. `place` is its slot's number in the balanced design; a later
    assignment may fill the same slot once this one has expired or was returned.

    `consent_ticked` has the labels of the ticked boxes, separated by commas.

    `released`: it has expired because a researcher ended it, so the worker did not drop out.

    `fence` counts how often a process has taken the session over. Each write names the number under which its
    process took over, so a process that has lost the session cannot write to it. Before the first take-over
    it is 0, and the session belongs to the process that stored the assignment.
    """

    __table_args__ = (
        UniqueConstraint("run_id", "worker_id"),
        index_where(
            "status IN ('active', 'completed')",
            "one_holder_of_a_place",
            "run_id",
            "simulated",
            "place",
            unique=True,
        ),
        Index("place_of_a_run", "run_id", "simulated", "place"),
        # Find workers who are silent, or take too long, when a slot is needed.
        index_where("status = 'active'", "silent_since", "run_id", "simulated", "active_at"),
        index_where("status = 'active'", "under_way_since", "run_id", "simulated", "created_at"),
        # Few rows, counted at each arrival.
        index_where("released", "released_of_a_run", "run_id", "simulated"),
    )
    id: str = Field(primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    worker_id: int = Field(foreign_key="worker.id")
    place: int
    simulated: bool
    reply_pace: float
    status: str
    created_at: datetime
    active_at: datetime
    agreed_at: datetime | None = None
    agreed_by: str | None = None
    consent_version: str | None = None
    consent_ticked: str | None = None
    ended_at: datetime | None = None
    feedback: str | None = None
    feedback_by: str | None = None
    simulated_as: str | None = None
    released: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
    fence: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class VisitTable(TableBase, table=True):
    """A visit of an assignment's worker, by their platform's id of it: for Prolific, a submission."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    visit: str = Field(primary_key=True)
    at: datetime


class TutorialAnswerTable(TableBase, table=True):
    """An answer to a test question, right or wrong."""

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id", index=True)
    question: int
    answer: int
    is_right: bool
    created_at: datetime
    client_id: str


class QuestionnaireTable(TableBase, table=True):
    """A worker has submitted the questionnaire before, or after, all conversations."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    part: str = Field(primary_key=True)
    created_at: datetime
    client_id: str


class AnswerTable(TableBase, table=True):
    """An answer to a question: a text or a number. Each of several choices is a row.

    `conversation_id`: the conversation that it is about; null before and after all of them.
    """

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(foreign_key="assignment.id", index=True)
    conversation_id: str | None = Field(default=None, foreign_key="conversation.id", index=True)
    part: str
    label: str
    text: str | None
    number: float | None
    created_at: datetime


class ExclusionTable(TableBase, table=True):
    """An assignment that analyses exclude, and the reason."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    reason: str
    excluded_at: datetime


class RemovalTable(TableBase, table=True):
    """The data removed from an assignment: `removal`. `extent`: `words` or `all`; `cause`: the reason."""

    assignment_id: str = Field(foreign_key="assignment.id", primary_key=True)
    extent: str
    cause: str
    at: datetime
