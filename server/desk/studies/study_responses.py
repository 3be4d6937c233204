"""Responses of the researcher's API about studies, and their content from stored studies."""

import difflib
import json
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import Connection

from bots.serving import Finding
from server.bots import stored_bots
from server.bots.lineup import mistakes_of
from server.clock import ShownTime
from server.db.runs.runs import RunStatus
from server.db.runs.studies import RunOfStudy, StoredStudy, StudyVersion, find_version, runs_of, versions
from server.desk.studies.placeholders import later_mistakes
from server.study import (
    TEMPLATES,
    EditedSetting,
    Mistake,
    TemplateName,
    Unreadable,
    edited,
    language_names,
    parse_study,
    published,
    read_document,
    read_study,
    shipped_statements,
    study_notes,
    template,
)


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
    that workers read if the study has none, by path, such as `criteria.0.statement`. `minutes` and
    `conversations`: the duration that workers are told, and the number of conversations (or items) of each;
    None while the study has mistakes, and `minutes` if it tells none.
    """

    yaml: str
    content: dict[str, Any] | None
    mistakes: list[MistakeView]
    notes: list[str]
    rewritten: list[str]
    shipped: dict[str, str]
    minutes: int | None
    conversations: int | None


class QcExamination(BaseModel):
    """Findings about a study's QC bot before launch; none if it does not use the published one."""

    findings: list[Finding]


class StudySettings(BaseModel):
    """The JSON Schema of a study's settings, and the bots that its systems may use."""

    schema_of_study: dict[str, Any]
    builtin_bots: list[str]
    registered_bots: list[str]


class TemplateView(BaseModel):
    """A template of studies: its title, a sentence about it, and its languages with their names."""

    template: TemplateName
    title: str
    about: str
    languages: dict[str, str]


class StudyTemplates(BaseModel):
    """The templates that a new study can begin with, the most general first."""

    templates: list[TemplateView]


class PreviewStep(BaseModel):
    """A page that a worker sees: its phase, and the protocol message from which it is drawn."""

    phase: str
    snapshot: dict[str, Any]


class StudyPreview(BaseModel):
    """The pages that a worker sees, in order.

    Where the study has `mistakes`, they show an earlier value or a placeholder; without pages if even that is
    impossible.
    """

    steps: list[PreviewStep]
    mistakes: list[MistakeView]


_AROUND = 2  # unchanged lines that are shown around a change


def study_summary(
    study: StoredStudy, runs: Sequence[RunOfStudy], registered: Collection[str]
) -> StudySummary:
    """Return a study with its runs. `registered`: the names of the registered bots."""
    title, mistakes = headline(study.newest.yaml, frozenset(registered))
    return StudySummary(
        name=study.name,
        title=title,
        archived=study.archived_at is not None,
        version=study.newest.number,
        saved_at=study.newest.saved_at,
        saved_by=study.newest.saved_by,
        mistakes=mistakes,
        runs=[StudyRun(run=run.run, status=run.status, version=run.version) for run in runs],
    )


@lru_cache(maxsize=500)
def headline(text: str, registered: frozenset[str]) -> tuple[str, int]:
    """Return a study's title and its number of mistakes. This is slow, so each text is parsed only once."""
    read, _ = read_study(text)
    return (read.title if read is not None else ""), len(_all_mistakes(text, registered))


def _all_mistakes(text: str, registered: Collection[str]) -> list[Mistake]:
    """Return the mistakes in a study, and those that come to light once they are corrected."""
    found = mistakes_of(text, registered)
    return [*found, *later_mistakes(text, found)] if found else []


def study_detail(connection: Connection, study: StoredStudy, *, whole: bool) -> StudyDetail:
    """Return a study with its text, its versions and its runs. `whole`: include secrets in the text."""
    registered = stored_bots.names(connection)
    summary = study_summary(study, runs_of(connection).get(study.name, []), registered)
    rows = [version_row(each) for each in versions(connection, study.name)]
    return StudyDetail(**summary.model_dump(), yaml=shown_text(study.newest.yaml, whole=whole), versions=rows)


def template_views() -> list[TemplateView]:
    """Return all templates."""
    names = language_names()
    return [
        TemplateView(
            template=name,
            title=template(name).title,
            about=template(name).about,
            languages={tag: names[tag] for tag in template(name).languages},
        )
        for name in TEMPLATES
    ]


def version_row(version: StudyVersion) -> VersionRow:
    """Return a version without its text."""
    return VersionRow(
        version=version.number, hash=version.hash, saved_at=version.saved_at, saved_by=version.saved_by
    )


def shown_text(text: str, *, whole: bool) -> str:
    """Return a study's text; unless `whole`, without completion codes and access tokens."""
    if whole:
        return text
    try:
        return published(text)
    except Unreadable:
        return "# The text of this study has a mistake; only those who may change studies see it.\n"


def version_changes(
    connection: Connection, name: str, since: int, number: int, *, whole: bool
) -> VersionChanges:
    """Return the changes between two versions, as shown by `shown_text`. Raises StudyNotFound."""
    before, after = find_version(connection, name, since), find_version(connection, name, number)
    lines = list(
        _changed_lines(*[shown_text(each.yaml, whole=whole).splitlines() for each in (before, after)])
    )
    return VersionChanges(name=name, since=since, version=number, saved_by=after.saved_by, lines=lines)


def checked_study(text: str, changes: Sequence[EditedSetting], registered: Collection[str]) -> CheckedStudy:
    """Return a study's text after `changes`, with its settings and its mistakes.

    Args:
        text: the text before.
        changes: changes of single settings, made one after the other.
        registered: the names of the registered bots.

    Raises:
        Unreadable, NotEditable: the changes cannot be made.
    """
    rewritten: list[str] = []
    for change in changes:
        after = edited(text, change)
        text = after.text
        rewritten += [after.rewritten] if after.rewritten else []
    found = _all_mistakes(text, registered)
    content = _content(text)
    study = None if found else parse_study(text)
    return CheckedStudy(
        yaml=text,
        content=content,
        mistakes=[mistake_view(mistake) for mistake in found],
        notes=[] if study is None else list(study_notes(study)),
        rewritten=list(dict.fromkeys(rewritten)),
        shipped={f"criteria.{i}.statement": text for i, text in shipped_statements(content).items()},
        minutes=None if study is None else study.duration,
        conversations=None if study is None else study.conversations,
    )


def mistake_view(mistake: Mistake) -> MistakeView:
    """Return a mistake as a response."""
    return MistakeView(line=mistake.line, path=list(mistake.path), reason=mistake.reason)


def _content(text: str) -> dict[str, Any] | None:
    try:
        document = read_document(text)
    except Unreadable:
        return None
    if document.has_aliases():
        return None
    # Values that JSON does not have, such as dates and infinity, become text.
    plain: dict[str, Any] = json.loads(json.dumps(document.content, default=str), parse_constant=str)
    return plain


def _changed_lines(before: list[str], after: list[str]) -> Iterator[ChangedLine]:
    kinds = {" ": "same", "+": "added", "-": "removed"}
    for line in difflib.unified_diff(before, after, n=_AROUND, lineterm=""):
        if line.startswith(("---", "+++")) and not line[3:].strip():
            continue
        if line.startswith("@@"):
            yield ChangedLine(kind="gap", text="")
        else:
            yield ChangedLine.model_validate({"kind": kinds[line[0]], "text": line[1:]})
