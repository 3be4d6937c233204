"""Responses of the researcher's API about studies. `/api/openapi.json` is generated from these models."""

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
    """A study in the list. `mistakes`: their number in its newest version; without any, it can be opened."""

    name: str
    title: str
    archived: bool
    version: int
    saved_at: ShownTime
    saved_by: str
    mistakes: int
    runs: list[StudyRun]


class StudyList(BaseModel):
    """All studies, by name."""

    studies: list[StudySummary]


class VersionRow(BaseModel):
    """A version of a study without its text. `hash` identifies the text that a run was opened with."""

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
    """A line of the difference between two versions; `gap` stands for omitted unchanged lines."""

    kind: Literal["same", "added", "removed", "gap"]
    text: str


class VersionChanges(BaseModel):
    """The difference between two versions, with the lines around each change."""

    name: str
    since: int
    version: int
    saved_by: str
    lines: list[ChangedLine]


class MistakeView(BaseModel):
    """A mistake in a study. `line`: from 1; `path`: of the setting, empty if it concerns the whole study."""

    line: int | None
    path: list[int | str]
    reason: str


class CheckedStudy(BaseModel):
    """A study's text with its mistakes, by line. Nothing is stored.

    `notes`: advice for a valid study before it is opened. `content`: the settings as written, valid or not;
    None if the text is not a mapping of settings, or uses YAML aliases. `rewritten`: the sections that lost
    comments and layout, because a change could not be made in the text itself. `shipped`: the default texts
    that workers read if the study has none, by path, such as `criteria.0.statement`.
    """

    yaml: str
    content: dict[str, Any] | None
    mistakes: list[MistakeView]
    notes: list[str]
    rewritten: list[str]
    shipped: dict[str, str]


class QcExamination(BaseModel):
    """Findings about a study's QC bot before launch; none if it does not use the published one."""

    findings: list[Finding]


class StudySettings(BaseModel):
    """The JSON Schema of a study's settings, and the bots that its systems may use."""

    schema_of_study: dict[str, Any]
    builtin_bots: list[str]
    registered_bots: list[str]


class PreviewStep(BaseModel):
    """A page that a worker sees: its phase, and the protocol message from which it is drawn."""

    phase: str
    snapshot: dict[str, Any]


class StudyPreview(BaseModel):
    """The pages that a worker sees, in order. Without pages if the study has mistakes."""

    steps: list[PreviewStep]
    mistakes: list[MistakeView]
