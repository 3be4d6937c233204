"""Convert stored studies to responses of the researcher's API."""

import difflib
import json
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection

from server.bots.known_bots import mistakes_of
from server.db.runs.studies import RunOfStudy, StoredStudy, StudyVersion, find_version, runs_of, versions
from server.desk.studies.study_responses import (
    ChangedLine,
    CheckedStudy,
    MistakeView,
    StudyDetail,
    StudyRun,
    StudySummary,
    VersionChanges,
    VersionRow,
)
from server.study import (
    EditedSetting,
    Mistake,
    Unreadable,
    edited,
    parse_study,
    published,
    read_document,
    read_study,
    shipped_statements,
    study_notes,
)

_AROUND = 2  # unchanged lines that are shown around a change


def study_summary(study: StoredStudy, runs: Sequence[RunOfStudy]) -> StudySummary:
    """Return a study with its runs."""
    title, mistakes = headline(study.newest.yaml)
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
def headline(text: str) -> tuple[str, int]:
    """Return a study's title and its number of mistakes. This is slow, so each text is parsed only once."""
    read, mistakes = read_study(text)
    return (read.title if read is not None else ""), len(mistakes)


def study_detail(connection: Connection, study: StoredStudy, *, whole: bool) -> StudyDetail:
    """Return a study with its text, its versions and its runs. `whole`: include secrets in the text."""
    summary = study_summary(study, runs_of(connection).get(study.name, []))
    rows = [version_row(each) for each in versions(connection, study.name)]
    return StudyDetail(**summary.model_dump(), yaml=shown_text(study.newest.yaml, whole=whole), versions=rows)


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
    mistakes = [mistake_view(mistake) for mistake in mistakes_of(text, registered)]
    content = _content(text)
    return CheckedStudy(
        yaml=text,
        content=content,
        mistakes=mistakes,
        notes=[] if mistakes else list(study_notes(parse_study(text))),
        rewritten=list(dict.fromkeys(rewritten)),
        shipped={f"criteria.{i}.statement": text for i, text in shipped_statements(content).items()},
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
