"""The tables of runs: their settings, their items, and their interim analyses."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint, text
from sqlmodel import Field

from server.db.tables.table import Table


class Run(Table, table=True):
    """One run of a study; a second one is its replication.

    `kind`: `study`, or `rehearsal`, in which simulated workers try the study out.
    `cause` and `reason` explain its `status`: what changed it, for programs, and a sentence for people.
    `rules`: its `RunRules` as JSON, without the excluded workers and runs.
    """

    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="study.id")
    slug: str = Field(unique=True)
    seed: int = Field(sa_type=BigInteger)
    status: str
    created_at: datetime
    kind: str = Field(default="study", sa_column_kwargs={"server_default": "study"})
    cause: str = Field(default="researcher", sa_column_kwargs={"server_default": "researcher"})
    reason: str = Field(default="", sa_column_kwargs={"server_default": text("''")})
    rules: str = Field(default="{}", sa_column_kwargs={"server_default": "{}"})
    closed_at: datetime | None = None


class ExcludedRun(Table, table=True):
    """A run whose workers are excluded from the run `run_id`."""

    __tablename__ = "excluded_run"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    other_id: int = Field(foreign_key="run.id", primary_key=True)


class ExcludedWorker(Table, table=True):
    """A worker, by the id in their link, who is excluded from a run."""

    __tablename__ = "excluded_worker"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    external_id: str = Field(primary_key=True)


class Item(Table, table=True):
    """An item of a run of a transcript study, fixed when the run is opened.

    `form`: the item itself (`ordinary`), its distorted twin (`bad`), or its `reference`; all have one `name`.
    `content` is JSON, an `ItemContent`. `source` is `conversation` or `text`.
    """

    __table_args__ = (UniqueConstraint("run_id", "name", "form"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    name: str = Field(index=True)
    form: str
    system_id: int = Field(foreign_key="system.id")
    source: str
    source_conversation_id: str | None = Field(default=None, foreign_key="conversation.id", index=True)
    content: str


class StudyNotice(Table, table=True):
    """A researchers' notice to one worker of a run; `assignment_id` null: to all active workers."""

    __tablename__ = "notice"
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    assignment_id: str | None = Field(default=None, foreign_key="assignment.id")
    text: str
    created_at: datetime


class Rehearsal(Table, table=True):
    """A run that is a rehearsal. `quality`: JSON, its simulated workers' opinion of each system, 0 to 1."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    quality: str


class Analysis(Table, table=True):
    """A run's latest interim analysis: the output of `python -m qc.watch`, as JSON.

    `basis`: a summary of the data; as long as it is the same, so is the analysis.
    """

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    at: datetime
    basis: str
    content: str


class AnalysisPoint(Table, table=True):
    """A run's scores at a number of ratings, so that the desk can show how their intervals narrow.

    `scores`: JSON, as in `Analysis.content`.
    """

    __tablename__ = "analysis_point"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    ratings: int = Field(primary_key=True)
    scores: str
