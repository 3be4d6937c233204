"""Studies in the researcher's REST API: written, saved version by version, copied, put out of the way."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, model_validator
from sqlalchemy import Connection

from bots import bot_specs
from server.access.auth import Auth
from server.access.bearer import researchers_only
from server.bots import stored_bots
from server.clock import utc_now
from server.db import studies
from server.db.store import Store
from server.db.studies import StoredStudy
from server.desk.study_responses import (
    CheckedStudy,
    StudyDetail,
    StudyList,
    StudySettings,
    VersionChanges,
    VersionDetail,
)
from server.desk.study_view import (
    checked_study,
    study_detail,
    study_summary,
    version_changes,
    version_row,
)
from server.errors import StudyInvalid
from server.session.instrument import Label
from server.study import (
    BLANK,
    DEMO,
    Change,
    NotEditable,
    Unreadable,
    named,
    require_name,
    study_schema,
)

T = TypeVar("T")
StudyText = Annotated[str, StringConstraints(max_length=60_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewStudy(_Body):
    """A study to store: its name, and its text, or `blank` or `demo` to begin with the one or the other."""

    name: Label
    yaml: StudyText | None = None
    begin_with: Annotated[str, StringConstraints(pattern="^(blank|demo)$")] | None = None

    @model_validator(mode="after")
    def _one_text(self) -> "NewStudy":
        if (self.yaml is None) == (self.begin_with is None):
            raise ValueError("give either `yaml` or `begin_with`")
        return self


class NewVersion(_Body):
    """A study's text now, and the number of the version that was edited."""

    yaml: StudyText
    based_on: Annotated[int, Field(ge=1)]


class CopyOfStudy(_Body):
    """The name of a copy."""

    name: Label


class StudyChange(_Body):
    """What can be changed of a study beside its text."""

    archived: StrictBool


class SettingChange(_Body):
    """What is to become of the setting at `path`: `value`, or gone where `remove`."""

    path: Annotated[list[int | str], Field(min_length=1, max_length=20)]
    value: Any = None
    remove: StrictBool = False


class StudyToCheck(_Body):
    """A study's text, and what is to be changed in it first."""

    yaml: StudyText
    changes: Annotated[list[SettingChange], Field(max_length=500)] = []


class StudiesApi:
    """Keeps studies, and checks what is being written."""

    def __init__(self, *, store: Store, auth: Auth) -> None:
        self._store = store
        self.router = APIRouter(
            prefix="/api/desk", tags=["studies"], dependencies=[Depends(researchers_only(auth))]
        )
        self._route("GET", "/studies", self.list_studies)
        self._route("POST", "/studies", self.create_study, status=201)
        self._route("GET", "/studies/{study}", self.show_study)
        self._route("PUT", "/studies/{study}", self.save_study)
        self._route("PATCH", "/studies/{study}", self.change_study)
        self._route("DELETE", "/studies/{study}", self.delete_study, status=204)
        self._route("POST", "/studies/{study}/copy", self.copy_study, status=201)
        self._route("GET", "/studies/{study}/versions/{version}", self.show_version)
        self._route("GET", "/studies/{study}/versions/{version}/changes", self.show_changes)
        self._route("GET", "/study-settings", self.show_settings)
        self._route("POST", "/study-check", self.check_study)

    def _route(self, method: str, path: str, call: Callable[..., Any], status: int = 200) -> None:
        self.router.add_api_route(path, call, methods=[method], status_code=status)

    async def list_studies(self) -> StudyList:
        """Every study in a few words, those that are archived too."""

        def read(connection: Connection) -> StudyList:
            runs = studies.runs_of(connection)
            found = studies.all_studies(connection)
            return StudyList(studies=[study_summary(study, runs.get(study.name, [])) for study in found])

        return await self._store.read(read)

    async def create_study(self, body: NewStudy) -> StudyDetail:
        """Store a new study. It may have mistakes: they are told wherever it is shown."""
        template = DEMO if body.begin_with == "demo" else BLANK
        text = named(template.read_text(encoding="utf-8"), body.name) if body.yaml is None else body.yaml
        require_name(text, body.name)
        at = utc_now()
        return await self._changed(lambda c: studies.create_study(c, body.name, text, at, _BY))

    async def show_study(self, study: str) -> StudyDetail:
        """One study: its newest text, its versions and its runs."""
        return await self._store.read(lambda c: study_detail(c, studies.find_study(c, study)))

    async def save_study(self, study: str, body: NewVersion) -> StudyDetail:
        """Save a study's next version. Refused where somebody else has saved one meanwhile."""
        require_name(body.yaml, study)
        at = utc_now()
        return await self._changed(
            lambda c: studies.save_version(c, study, body.yaml, body.based_on, at, _BY)
        )

    async def change_study(self, study: str, body: StudyChange) -> StudyDetail:
        """Archive a study, or take it back."""
        at = utc_now() if body.archived else None
        return await self._changed(lambda c: studies.set_archived(c, study, at))

    async def delete_study(self, study: str) -> Response:
        """Forget a study that was never opened."""
        await self._store.submit(lambda c: studies.delete_study(c, study))
        return Response(status_code=204)

    async def copy_study(self, study: str, body: CopyOfStudy) -> StudyDetail:
        """Store the newest version of a study as another study."""
        at = utc_now()

        def copy(connection: Connection) -> StoredStudy:
            text = named(studies.find_study(connection, study).newest.yaml, body.name)
            return studies.create_study(connection, body.name, text, at, _BY)

        return await self._changed(copy)

    async def show_version(self, study: str, version: int) -> VersionDetail:
        """One version of a study, with its text."""
        found = await self._store.read(lambda c: studies.find_version(c, study, version))
        return VersionDetail(**version_row(found).model_dump(), name=study, yaml=found.yaml)

    async def show_changes(self, study: str, version: int, since: int) -> VersionChanges:
        """What was changed from the version `since` to this one."""
        return await self._store.read(lambda c: version_changes(c, study, since, version))

    async def show_settings(self) -> StudySettings:
        """What a study can say: every setting, and the bots that can be named."""
        registered = await self._store.read(stored_bots.names)
        return StudySettings(
            schema_of_study=study_schema(), builtin_bots=list(bot_specs()), registered_bots=registered
        )

    async def check_study(self, body: StudyToCheck) -> CheckedStudy:
        """Change single settings of a text, if that is asked for, and say what is wrong with it."""
        registered = await self._store.read(stored_bots.names)
        changes = [Change(tuple(each.path), each.value, each.remove) for each in body.changes]
        try:
            return checked_study(body.yaml, changes, registered)
        except (Unreadable, NotEditable) as error:
            raise StudyInvalid(
                f"the change cannot be made: {error}", "Mend the text itself; then settings can be changed."
            ) from error

    async def _changed(self, change: Callable[[Connection], StoredStudy]) -> StudyDetail:
        return await self._store.submit(lambda c: study_detail(c, change(c)))


_BY = "a researcher"
