"""Endpoints for stored studies: create, save versions, check, preview, copy, archive and delete."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import Field, StrictBool, StringConstraints, model_validator
from sqlalchemy import Connection

from bots.serving import CorpusError, bot_specs
from server.access import people
from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.parts import part
from server.bots import stored_bots
from server.bots.fitness import Fitness, qc_fitness, registered_fitness
from server.bots.registered_bots import ApiLimits
from server.clock import utc_now
from server.db.audit import record
from server.db.runs import studies
from server.db.runs.studies import StoredStudy
from server.db.tables.table import GivenNumber, RowNumber
from server.desk.listed import ListedStore, Lists
from server.desk.studies.placeholders import showable
from server.desk.studies.preview import preview
from server.desk.studies.study_responses import (
    CheckedStudy,
    QcExamination,
    StudyDetail,
    StudyList,
    StudyPreview,
    StudySettings,
    StudyTemplates,
    VersionChanges,
    VersionDetail,
    checked_study,
    headline,
    mistake_view,
    shown_text,
    study_detail,
    study_summary,
    template_views,
    version_changes,
    version_row,
)
from server.errors import StudyInvalid
from server.session.instrument import Label
from server.study import (
    EditedSetting,
    NotEditable,
    Study,
    TemplateName,
    Unreadable,
    in_thread,
    named,
    parse_study,
    read_study,
    require_name,
    study_schema,
    template,
    template_text,
)

StudyText = Annotated[str, StringConstraints(max_length=60_000)]


class NewStudy(RequestBody):
    """A study to store: its name, and either its text or a template, in one of the template's languages."""

    name: Label
    yaml: StudyText | None = None
    begin_with: TemplateName | None = None
    language: Annotated[str, StringConstraints(max_length=20)] = "en"

    @model_validator(mode="after")
    def _one_text(self) -> "NewStudy":
        if (self.yaml is None) == (self.begin_with is None):
            raise ValueError("Give either a text or a template")
        if self.begin_with is not None and self.language not in template(self.begin_with).languages:
            languages = ", ".join(template(self.begin_with).languages)
            raise ValueError(f"The template “{self.begin_with}” exists in {languages}")
        return self


class NewVersion(RequestBody):
    """A study's new text, and the number of the version that was edited."""

    yaml: StudyText
    based_on: GivenNumber


class CopyOfStudy(RequestBody):
    """The name of a copy."""

    name: Label


class StudyChange(RequestBody):
    """A change to a study other than to its text."""

    archived: StrictBool


class SettingChange(RequestBody):
    """A change of the setting at `path`: set it to `value`, or remove it if `remove`."""

    path: Annotated[list[GivenNumber | str], Field(min_length=1, max_length=20)]
    value: Any = None
    remove: StrictBool = False


class StudyToCheck(RequestBody):
    """A study's text, and changes to make before it is checked."""

    yaml: StudyText
    changes: list[SettingChange] = Field([], max_length=100)


class StudyToPreview(RequestBody):
    """A study's text, and an earlier one without mistakes, if there is one."""

    yaml: StudyText
    valid: StudyText | None = None


Corpora = Annotated[ApiLimits, part(ApiLimits)]  # studies may use only the corpora that it allows
router = APIRouter(prefix="/api/desk", tags=["studies"])
_SEE = [Depends(Allowed("see_studies"))]
_CREATE = [Depends(Allowed("create_studies"))]
_CHANGE = [Depends(Allowed("change_studies"))]


@router.get("/studies", dependencies=_SEE)
async def list_studies(actor: Caller, store: Lists) -> StudyList:
    """List all studies that the caller may see, including archived ones."""

    def read(connection: Connection) -> StudyList:
        runs, registered = studies.runs_of(connection), stored_bots.names(connection)
        found = [s for s in studies.all_studies(connection) if actor.may("see_studies", s.name)]
        return StudyList(
            studies=[study_summary(study, runs.get(study.name, []), registered) for study in found]
        )

    return await store.read(read)


@router.post("/studies", status_code=201, dependencies=_CREATE)
async def create_study(body: NewStudy, actor: Caller, store: Lists) -> StudyDetail:
    """Store a new study. It may have mistakes, which are listed with it."""
    text = body.yaml
    if text is None:
        text = template_text(body.begin_with or "blank", body.name, body.language)
    await _read_first(text, body.name, store)
    at = utc_now()

    def create(connection: Connection) -> StoredStudy:
        _own(connection, actor, body.name)
        return studies.create_study(connection, body.name, text, at, actor.name)

    return await _changed(store, actor, "create", create)


@router.get("/studies/{study}", dependencies=_SEE)
async def show_study(study: str, actor: Caller, store: Lists) -> StudyDetail:
    """Return one study with its newest text, its versions and its runs.

    Callers who may not change it get the text without codes and tokens.
    """
    whole = actor.may("change_studies", study)
    return await store.read(lambda c: study_detail(c, studies.find_study(c, study), whole=whole))


@router.put("/studies/{study}", dependencies=_CHANGE)
async def save_study(study: str, body: NewVersion, actor: Caller, store: Lists) -> StudyDetail:
    """Save a new version of a study. Refused if somebody else has saved one meanwhile."""
    await _read_first(body.yaml, study, store)
    at = utc_now()
    return await _changed(
        store,
        actor,
        "save",
        lambda c: studies.save_version(c, study, body.yaml, body.based_on, at, actor.name),
    )


@router.patch("/studies/{study}", dependencies=_CHANGE)
async def change_study(study: str, body: StudyChange, actor: Caller, store: Lists) -> StudyDetail:
    """Archive a study, or restore it from the archive."""
    at = utc_now() if body.archived else None
    action = "archive" if body.archived else "unarchive"
    return await _changed(store, actor, action, lambda c: studies.set_archived(c, study, at))


@router.delete("/studies/{study}", status_code=204, dependencies=_CHANGE)
async def delete_study(study: str, actor: Caller, store: Lists) -> Response:
    """Delete a study that was never opened."""

    def delete(connection: Connection) -> None:
        studies.delete_study(connection, study)
        people.forget_study(connection, study)
        record(connection, actor, "study.delete", study)

    await store.submit(delete)
    return Response(status_code=204)


@router.post("/studies/{study}/copy", status_code=201, dependencies=_CREATE)
async def copy_study(study: str, body: CopyOfStudy, actor: Caller, store: Lists) -> StudyDetail:
    """Store the newest version of a study as another study."""
    at = utc_now()

    def copy(connection: Connection) -> StoredStudy:
        text = named(studies.find_study(connection, study).newest.yaml, body.name)
        _own(connection, actor, body.name)
        return studies.create_study(connection, body.name, text, at, actor.name)

    return await _changed(store, actor, "copy", copy, f"of {study}")


@router.get("/studies/{study}/versions/{version}", dependencies=_SEE)
async def show_version(study: str, version: RowNumber, actor: Caller, store: Lists) -> VersionDetail:
    """Return one version of a study, with its text."""
    found = await store.read(lambda c: studies.find_version(c, study, version))
    text = shown_text(found.yaml, whole=actor.may("change_studies", study))
    return VersionDetail(**version_row(found).model_dump(), name=study, yaml=text)


@router.get("/studies/{study}/versions/{version}/changes", dependencies=_SEE)
async def show_changes(
    study: str, version: RowNumber, since: RowNumber, actor: Caller, store: Lists
) -> VersionChanges:
    """Return the changes from the version `since` to this one."""
    whole = actor.may("change_studies", study)
    return await store.read(lambda c: version_changes(c, study, since, version, whole=whole))


@router.get("/studies/{study}/qc-examination", dependencies=_SEE)
async def examine_qc(study: str, store: Lists, reach: Corpora) -> QcExamination:
    """Examine the QC bot of a study's newest version, and compare it with registered bots' checks."""

    def read(connection: Connection) -> tuple[Study, list[Fitness]]:
        found = parse_study(studies.find_study(connection, study).newest.yaml, study)
        named = [bot for bot in found.registered_bots if bot in stored_bots.names(connection)]
        return found, registered_fitness(connection, found, named)

    found, bots = await store.read(read)
    reach.require_corpora(found)
    try:
        examined = await in_thread(lambda: qc_fitness(found, bots))
    except CorpusError as error:
        raise StudyInvalid(f"The QC bot has no corpus: {error}") from error
    return QcExamination(findings=[finding for bot in examined for finding in bot.findings])


@router.get("/study-settings", dependencies=_SEE)
async def show_settings(store: Lists) -> StudySettings:
    """Return the JSON Schema of a study's settings, and the names of the bots that it can use."""
    registered = await store.read(stored_bots.names)
    return StudySettings(
        schema_of_study=study_schema(), builtin_bots=list(bot_specs()), registered_bots=registered
    )


@router.get("/study-templates", dependencies=_SEE)
async def list_templates() -> StudyTemplates:
    """List the templates that a new study can begin with."""
    return StudyTemplates(templates=template_views())


@router.post("/study-check", dependencies=_SEE)
async def check_study(body: StudyToCheck, store: Lists) -> CheckedStudy:
    """Make the given changes to a study's text, if any, and return it with its mistakes."""
    registered = await store.read(stored_bots.names)
    changes = [EditedSetting(tuple(each.path), each.value, each.remove) for each in body.changes]
    try:
        return await in_thread(lambda: checked_study(body.yaml, changes, registered))
    except (Unreadable, NotEditable) as error:
        raise StudyInvalid(
            f"The change cannot be made: {error}", "Correct the text itself first, then change settings."
        ) from error


@router.post("/study-preview", dependencies=_SEE)
async def preview_study(body: StudyToPreview, reach: Corpora) -> StudyPreview:
    """Return the pages that a worker will see, as far as they can be shown, and the mistakes in the study."""
    _, mistakes = await in_thread(lambda: read_study(body.yaml))
    found = [mistake_view(mistake) for mistake in mistakes]
    study = await in_thread(lambda: showable(body.yaml, body.valid))
    if study is None:
        return StudyPreview(steps=[], mistakes=found)
    reach.require_corpora(study)
    return StudyPreview(steps=await in_thread(lambda: preview(study)), mistakes=found)


async def _changed(
    store: ListedStore,
    actor: Actor,
    action: str,
    change: Callable[[Connection], StoredStudy],
    detail: str = "",
) -> StudyDetail:
    def commit(connection: Connection) -> StudyDetail:
        study = change(connection)
        said = detail or f"version {study.newest.number}"
        record(connection, actor, f"study.{action}", study.name, said)
        return study_detail(connection, study, whole=True)

    return await store.submit(commit)


async def _read_first(text: str, name: str, store: Lists) -> None:
    """Parse a study's text before the transaction, which would take too long. Raises StudyNameDiffers."""
    await in_thread(lambda: require_name(text, name))
    registered = frozenset(await store.read(stored_bots.names))
    await in_thread(lambda: headline(text, registered))


def _own(connection: Connection, actor: Actor, study: str) -> None:
    """Make a person owner of the study that they create, so that they can invite others to it."""
    if actor.kind == "person" and not actor.may_in_all("manage_study_people"):
        people.set_role(connection, actor.name, "owner", study)
