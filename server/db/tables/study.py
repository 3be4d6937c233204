"""Tables of studies and bots, and of runs with their items, counts, jobs and analyses."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import BigInteger, UniqueConstraint, text
from sqlmodel import Field

from server.db.tables.table import TableBase


class BotTable(TableBase, table=True):
    """A bot, by the spec with which it is opened."""

    id: int | None = Field(default=None, primary_key=True)
    spec: str = Field(unique=True)


class RegistrationTable(TableBase, table=True):
    """A bot that is registered with the server. `endpoint`: canonical JSON of where and how it is asked. It
    contains the name of a key's environment variable, never the key.
    """

    name: str = Field(primary_key=True)
    endpoint: str
    enabled: bool
    created_at: datetime


class BotCheckTable(TableBase, table=True):
    """A conformance check of a registered bot, with its whole report as JSON."""

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    at: datetime
    verdict: str
    report: str


CHOICE_SEPARATOR = "\n"  # between the choices of a question


class StudyTable(TableBase, table=True):
    """A study file as it was opened. `turn_points`: the number of points for rating replies, if any."""

    __table_args__ = (UniqueConstraint("name", "hash"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    hash: str
    yaml: str
    created_at: datetime
    task: str = Field(default="chat", sa_column_kwargs={"server_default": "chat"})
    turn_points: int | None = None


class DraftTable(TableBase, table=True):
    """A study as researchers write it, by its name. `archived_at`: since when it is archived."""

    name: str = Field(primary_key=True)
    archived_at: datetime | None = None


class DraftVersionTable(TableBase, table=True):
    """A saved version of a study. A run opened from it has the same hash in `study`."""

    name: str = Field(foreign_key="draft.name", primary_key=True)
    number: int = Field(primary_key=True)
    yaml: str
    hash: str
    saved_at: datetime
    saved_by: str


class CriterionTable(TableBase, table=True):
    """A statement of a study, in the order in which workers see it."""

    study_id: int = Field(foreign_key="study.id", primary_key=True)
    label: str = Field(primary_key=True)
    position: int
    statement: str
    negative: bool
    counts_for_qc: bool


class QuestionTable(TableBase, table=True):
    """A question of a study's questionnaires, or a criterion that is answered instead of rated.

    `part`: `before`, `conversation` or `after`. `choices`: one a line. `points`: the number on a Likert
    scale.
    """

    study_id: int = Field(foreign_key="study.id", primary_key=True)
    part: str = Field(primary_key=True)
    label: str = Field(primary_key=True)
    position: int
    question: str
    kind: str
    choices: str
    points: int | None


class SystemTable(TableBase, table=True):
    """A system that a study evaluates: a bot, its family, its persona policy."""

    __table_args__ = (UniqueConstraint("study_id", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="study.id", index=True)
    bot_id: int = Field(foreign_key="bot.id")
    name: str
    family: str
    persona_policy: str
    is_qc: bool


class JobTable(TableBase, table=True):
    """A background job for a run, such as a report or a rehearsal.

    `options` and `result` are JSON. `step`, `done`, `total`: its progress. `error`: why it failed.
    """

    id: str = Field(primary_key=True)
    kind: str
    run_id: int = Field(foreign_key="run.id", index=True)
    status: str
    options: str
    created_at: datetime
    ended_at: datetime | None = None
    step: str = ""
    done: int = 0
    total: int = 0
    error: str | None = None
    result: str | None = None


class JobLeaseTable(TableBase, table=True):
    """The process that does a task that only one may do at a time. After `until`, another may take it."""

    name: str = Field(primary_key=True)
    holder: str
    until: datetime


class RevisionTable(TableBase, table=True):
    """The number of changes of a subject (bots or runs)."""

    subject: str = Field(primary_key=True)
    number: int


class PlanCountTable(TableBase, table=True):
    """The number of conversations with a system at a position in a run's held slots."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    position: int = Field(primary_key=True)
    number: int


class PairCountTable(TableBase, table=True):
    """The number of pairs of two systems, and the preferences between them."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    left_id: int = Field(foreign_key="system.id", primary_key=True)
    right_id: int = Field(foreign_key="system.id", primary_key=True)
    placed: int
    lefts: int
    ties: int
    rights: int


class AssignmentCountTable(TableBase, table=True):
    """The number of a run's assignments with a status."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    status: str = Field(primary_key=True)
    number: int


class RatedCountTable(TableBase, table=True):
    """The number of rated conversations with a system in a run's completed assignments."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    system_id: int = Field(foreign_key="system.id", primary_key=True)
    number: int


class FreePlaceTable(TableBase, table=True):
    """A slot of a run that was given back and is free."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    simulated: bool = Field(primary_key=True)
    place: int = Field(primary_key=True)


class SpendingTable(TableBase, table=True):
    """The cost of a bot's calls in a run."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    bot_id: int = Field(foreign_key="bot.id", primary_key=True)
    cost: float


class RunTable(TableBase, table=True):
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


class ExcludedRunTable(TableBase, table=True):
    """A run whose workers are excluded from the run `run_id`."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    other_id: int = Field(foreign_key="run.id", primary_key=True)


class ExcludedWorkerTable(TableBase, table=True):
    """A worker, by the encrypted id in their link, who is excluded from a run."""

    removed_with: ClassVar = "id"
    run_id: int = Field(foreign_key="run.id", primary_key=True)
    external_id: str = Field(primary_key=True)


class ItemTable(TableBase, table=True):
    """An item of a run of a transcript study, fixed when the run is opened.

    `form`: the item itself (`ordinary`), its distorted twin (`bad`), or its `reference`; all have one `name`.
    `item_group`: the items about the same passage, document or prompt have the same one.
    `content` is JSON, an `ItemContent`. `source` is `conversation` or `text`. `rating_probability`: with
    which it was drawn to be rated; null if all items of the study were to be.
    """

    removed_with: ClassVar = "words: what `content` says"
    __table_args__ = (UniqueConstraint("run_id", "name", "form"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    name: str = Field(index=True)
    form: str
    item_group: str | None = None
    system_id: int = Field(foreign_key="system.id")
    source: str
    source_conversation_id: str | None = Field(default=None, foreign_key="conversation.id", index=True)
    content: str
    rating_probability: float | None = None


class NoticeTable(TableBase, table=True):
    """A researchers' notice to one worker of a run; `assignment_id` null: to all active workers."""

    removed_with: ClassVar = "words: the row, of one worker"
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    assignment_id: str | None = Field(default=None, foreign_key="assignment.id")
    text: str
    created_at: datetime


class RehearsalTable(TableBase, table=True):
    """A run that is a rehearsal. `quality`: JSON, its simulated workers' opinion of each system, 0 to 1."""

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    quality: str


class AnalysisTable(TableBase, table=True):
    """A run's latest interim analysis: the output of `qc.precision.watch`, as JSON.

    `basis`: a summary of the data; as long as it is the same, so is the analysis.
    """

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    at: datetime
    basis: str
    content: str


class AnalysisPointTable(TableBase, table=True):
    """A run's scores at a number of ratings, so that the desk can show how their intervals narrow.

    `scores`: JSON, as in `AnalysisTable.content`.
    """

    run_id: int = Field(foreign_key="run.id", primary_key=True)
    ratings: int = Field(primary_key=True)
    scores: str
