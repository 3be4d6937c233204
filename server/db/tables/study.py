"""Tables of studies, and of registered bots."""

from datetime import datetime

from sqlalchemy import UniqueConstraint
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
