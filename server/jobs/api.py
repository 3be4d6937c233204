"""Endpoints for background jobs: reports, rehearsals, exports, the interim analysis."""

import mimetypes
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import FileResponse
from pydantic import StrictBool, StringConstraints, model_validator
from sqlalchemy import Connection

from server.access.actor import Actor, Allowed, Caller, require_in_runs
from server.access.auth import Auth
from server.access.roles import Permission
from server.bots.planned_calls import Confirmation
from server.bots.registered_bots import ApiLimits
from server.db.audit import record
from server.db.jobs import JobEntry, find_job
from server.db.runs.analyses import find_analysis, find_points
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import find_run
from server.db.runs.studies import find_study
from server.db.store.store import Store
from server.errors import JobNotFound
from server.jobs.background import BackgroundJobs, FileLinks
from server.jobs.exports import ExportOptions, Exports
from server.jobs.rehearsals import RehearsalOptions, Rehearsals
from server.jobs.reports import PAGE, ReportOptions, Reports
from server.jobs.responses import (
    ExportJob,
    ExportList,
    JobOutcome,
    JobView,
    LatestAnalysis,
    Narrowing,
    RehearsalJob,
    RehearsalList,
    ReportJob,
    ReportList,
    ScoresThen,
    export_job,
    export_list,
    job_outcome,
    job_view,
    rehearsal_job,
    report_job,
)
from server.study import in_thread, parse_study

_POINTS = 120  # points of a chart, limited by its width
# A report is shown in a sandboxed frame of the desk: no scripts, no external content, no access to the desk.
_PAGE_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'; "
    "base-uri 'none'; form-action 'none'"
)


class RehearsalToBegin(RehearsalOptions):
    """Options of a rehearsal of a run's study. `confirmed`: the caller accepts that it may cost money."""

    confirmed: StrictBool = False

    @property
    def options(self) -> RehearsalOptions:
        """Return the options of the rehearsal itself."""
        return RehearsalOptions(**self.model_dump(include=set(RehearsalOptions.model_fields)))


class StudyToRehearse(RehearsalToBegin):
    """A study to rehearse, by its text (`yaml`) or by its stored name (`study`), with options."""

    yaml: Annotated[str, StringConstraints(max_length=60_000)] | None = None
    study: Annotated[str, StringConstraints(max_length=100)] | None = None

    @model_validator(mode="after")
    def _one_study(self) -> "StudyToRehearse":
        if (self.yaml is None) == (self.study is None):
            raise ValueError("give either `yaml` or `study`")
        return self


class JobsApi:
    """Endpoints for background jobs and their results.

    A study to rehearse may use only what `reach` allows; a run's study was checked when it was opened.
    """

    def __init__(
        self,
        *,
        store: Store,
        auth: Auth,
        jobs: BackgroundJobs,
        reports: Reports,
        rehearsals: Rehearsals,
        exports: Exports,
        links: FileLinks,
        reach: ApiLimits,
    ) -> None:
        self._store = store
        self._auth = auth
        self._jobs = jobs
        self._reports = reports
        self._rehearsals = rehearsals
        self._exports = exports
        self._links = links
        self._reach = reach
        self.router = APIRouter()
        self.router.add_api_route(
            "/reports/{link}/{name}", self.report_file, methods=["GET"], include_in_schema=False
        )
        self.router.add_api_route(
            "/exports/{link}/{name}", self.export_file, methods=["GET"], include_in_schema=False
        )
        runs, rehearse = "/api/desk/runs/{run}", "/api/desk/rehearsals"
        self._add(f"{runs}/analysis", self.show_analysis, "analyse")
        self._add(f"{runs}/narrowing", self.show_narrowing, "analyse")
        self._add(f"{runs}/reports", self.list_reports, "analyse")
        self._add(f"{runs}/reports", self.start_report, "analyse", "POST", 202)
        self._add(f"{runs}/rehearsals", self.list_rehearsals, "analyse")
        self._add(f"{runs}/rehearsals", self.rehearse_run, "rehearse", "POST", 202)
        self._add(rehearse, self.rehearse_study, "rehearse", "POST", 202)
        self._add(f"{runs}/exports", self.list_exports, "export")
        self._add(f"{runs}/exports", self.start_export, "export", "POST", 202)
        self._add(f"{runs}/jobs/{{job}}", self.show_job, "analyse")
        self._add(f"{runs}/jobs/{{job}}/cancel", self.cancel_job, "analyse", "POST")

    def _add(
        self, path: str, endpoint: object, permission: Permission, method: str = "GET", status: int = 200
    ) -> None:
        self.router.add_api_route(
            path,
            endpoint,  # type: ignore[arg-type]
            methods=[method],
            status_code=status,
            tags=["jobs"],
            dependencies=[Depends(Allowed(permission))],
        )

    async def show_analysis(self, run: str) -> LatestAnalysis:
        """Return a run's latest interim analysis: workers who pass so far, and scores with intervals."""
        found = await self._store.read(lambda c: find_analysis(c, find_run(c, run).id))
        return LatestAnalysis(analysis=None if found is None else dict(found))

    async def show_narrowing(self, run: str) -> Narrowing:
        """Return the history of the intervals of a run's scores."""

        def read(connection: Connection) -> Narrowing:
            entry = find_run(connection, run)
            target = rules_of(connection, entry.id).target
            points = find_points(connection, entry.id, _POINTS)
            return Narrowing(
                target=None if target is None else target.widest_interval,
                points=[ScoresThen.model_validate({"ratings": n, "scores": scores}) for n, scores in points],
            )

        return await self._store.read(read)

    async def list_reports(self, run: str) -> ReportList:
        """List the reports on a run, newest first, including a running one."""
        return ReportList(reports=[self._report(entry) for entry in await self._reports.of_run(run)])

    async def start_report(self, run: str, options: ReportOptions, actor: Caller) -> ReportJob:
        """Start a report on a run. The list of reports shows its progress, and its files when it is done.

        A correlation with a second run needs permission to see the scores of that run, too.
        """
        if options.replicate is not None:
            await require_in_runs(self._auth, actor, "analyse", [options.replicate])
        return self._report(await self._reports.start(run, options, _noted(actor, "run.report", run)))

    async def list_rehearsals(self, run: str) -> RehearsalList:
        """List the rehearsals of a run's study, newest first."""
        entries = await self._rehearsals.of_run(run)
        return RehearsalList(rehearsals=[rehearsal_job(entry) for entry in entries])

    async def rehearse_run(self, run: str, body: RehearsalToBegin, actor: Caller) -> RehearsalJob:
        """Start a rehearsal of a run's study. The run itself does not change."""
        entry = await self._store.read(lambda connection: find_run(connection, run))
        return await self._rehearse(entry.yaml, body, actor)

    async def rehearse_study(self, body: StudyToRehearse, actor: Caller) -> RehearsalJob:
        """Start a rehearsal of a study, which need not have a run."""
        text = body.yaml or ""
        if body.study is not None:
            name = body.study
            actor.require("rehearse", name)  # before an error could reveal another's study
            text = await self._store.read(lambda connection: find_study(connection, name).newest.yaml)
        study = await in_thread(lambda: parse_study(text))
        actor.require("rehearse", study.name)
        self._reach.require_keys(study)
        self._reach.require_corpora(study)
        return await self._rehearse(text, body, actor)

    async def list_exports(self, run: str) -> ExportList:
        """List the exports of a run, newest first, including a running one."""
        return export_list(await self._exports.of_run(run), self._links)

    async def start_export(self, run: str, options: ExportOptions, actor: Caller) -> ExportJob:
        """Start an export of a run. The list of exports shows its progress, and its file when it is done."""
        entry = await self._exports.start(run, options, _noted(actor, "run.export", run))
        return export_job(entry, self._links)

    async def show_job(self, run: str, job: str, actor: Caller) -> JobOutcome:
        """Return the progress or the result of a report, a rehearsal or an export."""
        entry = await self._find(run, job)
        if entry.kind == "export":
            await require_in_runs(self._auth, actor, "export", [run])
        return job_outcome(entry, self._links)

    async def cancel_job(self, run: str, job: str, actor: Caller) -> JobView:
        """Cancel a running report, rehearsal or export. A finished one does not change."""
        entry = await self._find(run, job)
        if entry.kind != "report":
            needed: Permission = "rehearse" if entry.kind == "rehearsal" else "export"
            await require_in_runs(self._auth, actor, needed, [run])
        return job_view(await self._jobs.cancel(job, _noted(actor, f"{entry.kind}.cancel", run)))

    async def report_file(self, link: str, name: str) -> FileResponse:
        """Return a file of a report, by a link from the list of reports."""
        path = self._reports.file(self._links.job("report", link), name)
        headers = {"Cache-Control": "private, max-age=3600"}
        if name == PAGE:
            headers["Content-Security-Policy"] = _PAGE_POLICY
        disposition = "inline" if name == PAGE else "attachment"
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return FileResponse(
            path, media_type=kind, filename=name, content_disposition_type=disposition, headers=headers
        )

    async def export_file(self, link: str, name: str) -> FileResponse:
        """Return an export's file or a part of it, by a link from the list of exports.

        Interrupted downloads can be resumed with `Range`. With `If-Range`, they restart if the file has
        changed.
        """
        path = await self._exports.file(self._links.job("export", link), name)
        return FileResponse(
            path,
            media_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
            filename=name,
            headers={"Cache-Control": "private, no-store"},
        )

    async def _rehearse(self, text: str, body: RehearsalToBegin, actor: Actor) -> RehearsalJob:
        study = (await in_thread(lambda: parse_study(text))).name
        actor.require("rehearse", study)
        noted = _noted(actor, "study.rehearse", study)
        confirmation = Confirmation(body.confirmed, actor.may("change_bots"))
        return rehearsal_job(await self._rehearsals.start(text, body.options, noted, confirmation))

    async def _find(self, run: str, job: str) -> JobEntry:
        entry = await self._store.read(lambda connection: find_job(connection, job))
        if entry.run != run:  # the permission was checked for the run in the path
            raise JobNotFound(f"there is no job `{job}` of the run `{run}`")
        return entry

    def _report(self, entry: JobEntry) -> ReportJob:
        return report_job(entry, self._links)


def _noted(actor: Actor, action: str, subject: str) -> Callable[[Connection], None]:
    return lambda connection: record(connection, actor, action, subject)
