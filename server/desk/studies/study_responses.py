"""Responses of the researcher's API about studies. `/api/openapi.json` is made from these models."""

from typing import Any, Literal

from pydantic import BaseModel

from bots import Finding
from server.clock import ShownTime
from server.db.runs.runs import RunStatus


class StudyRun(BaseModel):
    """A run of a study, and the number of the version that it was opened with."""

    run: str
    status: RunStatus
    version: int | None


class StudySummary(BaseModel):
    """A study in the list. `mistakes`: how many its newest version has; with none it can be opened."""

    name: str
    title: str
    archived: bool
    version: int
    saved_at: ShownTime
    saved_by: str
    mistakes: int
    runs: list[StudyRun]


class StudyList(BaseModel):
    """Every study, by name."""

    studies: list[StudySummary]


class VersionRow(BaseModel):
    """A version of a study without its text; what is opened is known by its hash."""

    version: int
    hash: str
    saved_at: ShownTime
    saved_by: str


class StudyDetail(StudySummary):
    """A study with the text of its newest version, and all versions, newest first."""

    yaml: str
    versions: list[VersionRow]


class VersionDetail(VersionRow):
    """A version of a study with its text."""

    name: str
    yaml: str


class ChangedLine(BaseModel):
    """A line of what was changed between two versions; `gap` stands for lines that are the same."""

    kind: Literal["same", "added", "removed", "gap"]
    text: str


class VersionChanges(BaseModel):
    """What was changed from one version to a later one, with the lines around it."""

    name: str
    since: int
    version: int
    saved_by: str
    lines: list[ChangedLine]


class MistakeView(BaseModel):
    """What is wrong with a study. `line`: from 1; `path`: of the setting, empty where it is of the whole."""

    line: int | None
    path: list[int | str]
    reason: str


class CheckedStudy(BaseModel):
    """A study's text with its mistakes, by line. Nothing is stored.

    `notes`: what should be known of a study without mistakes before it is opened. `content`: its settings as
    they are written, whether they are right or not; None where the text is no mapping of settings, or one
    whose parts refer to each other. `rewritten`: the sections whose comments and layout are lost, because a
    change could not be made in the text itself. `shipped`: texts that workers read if the study has none of
    its own, by their paths, such as `criteria.0.statement`.
    """

    yaml: str
    content: dict[str, Any] | None
    mistakes: list[MistakeView]
    notes: list[str]
    rewritten: list[str]
    shipped: dict[str, str]


class QcExamination(BaseModel):
    """What is to be said of a study's qc bot before launch; nothing where it has no published one."""

    findings: list[Finding]


class StudySettings(BaseModel):
    """What a study can say: the JSON Schema of its settings, and the bots that its systems may name."""

    schema_of_study: dict[str, Any]
    builtin_bots: list[str]
    registered_bots: list[str]


class PreviewStep(BaseModel):
    """A page that a worker comes to: its phase, and the message of the wire from which it is drawn."""

    phase: str
    snapshot: dict[str, Any]


class StudyPreview(BaseModel):
    """The pages that a worker comes to, in their order. None where the study has mistakes."""

    steps: list[PreviewStep]
    mistakes: list[MistakeView]
