"""Endpoints for background jobs: reports, rehearsals, exports, the interim analysis."""

import mimetypes
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import FileResponse
from pydantic import StrictBool, StringConstraints, model_validator
from sqlalchemy import Connection

from server.access.actor import Actor, Allowed, Caller, require_in_runs
from server.access.parts import Database, Secrets, part
from server.access.roles import Permission
from server.bots.planned_calls import Confirmation
from server.bots.registered_bots import ApiLimits
from server.db.audit import record
from server.db.jobs import JobEntry, find_job
from server.db.runs.analyses import find_analysis, find_points
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import find_run
from server.db.runs.studies import find_study
from server.db.store import Store
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
    RehearsalPlan,
    ReportJob,
    ReportList,
    ScoresThen,
    export_job,
    export_list,
    job_outcome,
    job_view,
    rehearsal_job,
    rehearsal_plan,
    report_job,
)
from server.study import in_thread, parse_study

_POINTS = 120  # points of a chart, limited by its width
# A report is shown in a sandboxed frame of the desk: no scripts, no external content, no access to the desk.
_PAGE_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
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
            raise ValueError("Give either a study's text or its name")
        return self


_ANALYSE = [Depends(Allowed("analyse"))]
_REHEARSE = [Depends(Allowed("rehearse"))]
_EXPORT = [Depends(Allowed("export"))]
RunReports = Annotated[Reports, part(Reports)]
RunRehearsals = Annotated[Rehearsals, part(Rehearsals)]
RunExports = Annotated[Exports, part(Exports)]
Links = Annotated[FileLinks, part(FileLinks)]
SimulatedWorkers = Annotated[int, Query(ge=5, le=1000)]
router = APIRouter(tags=["jobs"])


@router.get("/reports/{link}/{name}", include_in_schema=False)
async def report_file(link: str, name: str, reports: RunReports, links: Links) -> FileResponse:
    """Return a file of a report, by a link from the list of reports."""
    path = reports.file(links.job("report", link), name)
    headers = {"Cache-Control": "private, max-age=3600"}
    if name == PAGE:
        headers["Content-Security-Policy"] = _PAGE_POLICY
    disposition = "inline" if name == PAGE else "attachment"
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return FileResponse(
        path, media_type=kind, filename=name, content_disposition_type=disposition, headers=headers
    )


@router.get("/exports/{link}/{name}", include_in_schema=False)
async def export_file(link: str, name: str, exports: RunExports, links: Links) -> FileResponse:
    """Return an export's file or a part of it, by a link from the list of exports.

    Interrupted downloads can be resumed with `Range`. With `If-Range`, they restart if the file has changed.
    """
    path = await exports.file(links.job("export", link), name)
    return FileResponse(
        path,
        media_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
        filename=name,
        headers={"Cache-Control": "private, no-store"},
    )


@router.get("/api/desk/runs/{run}/analysis", dependencies=_ANALYSE)
async def show_analysis(run: str, store: Database) -> LatestAnalysis:
    """Return a run's latest interim analysis: workers who pass so far, and scores with intervals."""
    found = await store.read(lambda c: find_analysis(c, find_run(c, run).id))
    return LatestAnalysis(analysis=None if found is None else dict(found))


@router.get("/api/desk/runs/{run}/narrowing", dependencies=_ANALYSE)
async def show_narrowing(run: str, store: Database) -> Narrowing:
    """Return the history of the intervals of a run's scores."""

    def read(connection: Connection) -> Narrowing:
        entry = find_run(connection, run)
        target = rules_of(connection, entry.id).target
        points = find_points(connection, entry.id, _POINTS)
        return Narrowing(
            target=None if target is None else target.widest_interval,
            points=[ScoresThen.model_validate({"ratings": n, "scores": scores}) for n, scores in points],
        )

    return await store.read(read)


@router.get("/api/desk/runs/{run}/reports", dependencies=_ANALYSE)
async def list_reports(run: str, reports: RunReports, links: Links) -> ReportList:
    """List the reports on a run, newest first, including a running one."""
    return ReportList(reports=[report_job(entry, links) for entry in await reports.of_run(run)])


@router.post("/api/desk/runs/{run}/reports", status_code=202, dependencies=_ANALYSE)
async def start_report(
    run: str, options: ReportOptions, actor: Caller, auth: Secrets, reports: RunReports, links: Links
) -> ReportJob:
    """Start a report on a run. The list of reports shows its progress, and its files when it is done.

    A correlation with a second run needs permission to see the scores of that run, too.
    """
    if options.replicate is not None:
        await require_in_runs(auth, actor, "analyse", [options.replicate])
    return report_job(await reports.start(run, options, _noted(actor, "run.report", run)), links)


@router.get("/api/desk/runs/{run}/rehearsals", dependencies=_ANALYSE)
async def list_rehearsals(run: str, rehearsals: RunRehearsals) -> RehearsalList:
    """List the rehearsals of a run's study, newest first."""
    return RehearsalList(rehearsals=[rehearsal_job(entry) for entry in await rehearsals.of_run(run)])


@router.get("/api/desk/runs/{run}/rehearsal-plan", dependencies=_REHEARSE)
async def plan_rehearsal_of_run(
    run: str, actor: Caller, store: Database, rehearsals: RunRehearsals, workers: SimulatedWorkers = 40
) -> RehearsalPlan:
    """Return which bots a rehearsal of a run's study would call, how often, and at what cost."""
    entry = await store.read(lambda connection: find_run(connection, run))
    return await _planned(rehearsals, entry.yaml, workers, actor)


@router.get("/api/desk/studies/{study}/rehearsal-plan", dependencies=_REHEARSE)
async def plan_rehearsal_of_study(
    study: str, actor: Caller, store: Database, rehearsals: RunRehearsals, workers: SimulatedWorkers = 40
) -> RehearsalPlan:
    """Return the same as for a run, for the newest version of a study."""
    text = await store.read(lambda connection: find_study(connection, study).newest.yaml)
    return await _planned(rehearsals, text, workers, actor)


@router.post("/api/desk/runs/{run}/rehearsals", status_code=202, dependencies=_REHEARSE)
async def rehearse_run(
    run: str, body: RehearsalToBegin, actor: Caller, store: Database, rehearsals: RunRehearsals
) -> RehearsalJob:
    """Start a rehearsal of a run's study. The run itself does not change."""
    entry = await store.read(lambda connection: find_run(connection, run))
    return await _rehearse(rehearsals, entry.yaml, body, actor)


@router.post("/api/desk/rehearsals", status_code=202, dependencies=_REHEARSE)
async def rehearse_study(
    body: StudyToRehearse,
    actor: Caller,
    store: Database,
    rehearsals: RunRehearsals,
    reach: Annotated[ApiLimits, part(ApiLimits)],
) -> RehearsalJob:
    """Start a rehearsal of a study, which need not have a run."""
    text = body.yaml or ""
    if body.study is not None:
        name = body.study
        actor.require("rehearse", name)  # before an error could reveal another's study
        text = await store.read(lambda connection: find_study(connection, name).newest.yaml)
    study = await in_thread(lambda: parse_study(text))
    actor.require("rehearse", study.name)
    reach.require_keys(study)  # a run's study was checked when it was opened
    reach.require_corpora(study)
    return await _rehearse(rehearsals, text, body, actor)


@router.get("/api/desk/runs/{run}/exports", dependencies=_EXPORT)
async def list_exports(run: str, exports: RunExports, links: Links) -> ExportList:
    """List the exports of a run, newest first, including a running one."""
    return export_list(await exports.of_run(run), links)


@router.post("/api/desk/runs/{run}/exports", status_code=202, dependencies=_EXPORT)
async def start_export(
    run: str, options: ExportOptions, actor: Caller, exports: RunExports, links: Links
) -> ExportJob:
    """Start an export of a run. The list of exports shows its progress, and its file when it is done."""
    return export_job(await exports.start(run, options, _noted(actor, "run.export", run)), links)


@router.get("/api/desk/runs/{run}/jobs/{job}", dependencies=_ANALYSE)
async def show_job(
    run: str, job: str, actor: Caller, store: Database, auth: Secrets, links: Links
) -> JobOutcome:
    """Return the progress or the result of a report, a rehearsal or an export."""
    entry = await _find(store, run, job)
    if entry.kind == "export":
        await require_in_runs(auth, actor, "export", [run])
    return job_outcome(entry, links)


@router.post("/api/desk/runs/{run}/jobs/{job}/cancel", dependencies=_ANALYSE)
async def cancel_job(
    run: str,
    job: str,
    actor: Caller,
    store: Database,
    auth: Secrets,
    jobs: Annotated[BackgroundJobs, part(BackgroundJobs)],
) -> JobView:
    """Cancel a running report, rehearsal or export. A finished one does not change."""
    entry = await _find(store, run, job)
    if entry.kind != "report":
        needed: Permission = "rehearse" if entry.kind == "rehearsal" else "export"
        await require_in_runs(auth, actor, needed, [run])
    return job_view(await jobs.cancel(job, _noted(actor, f"{entry.kind}.cancel", run)))


async def _rehearse(rehearsals: Rehearsals, text: str, body: RehearsalToBegin, actor: Actor) -> RehearsalJob:
    study = (await in_thread(lambda: parse_study(text))).name
    actor.require("rehearse", study)
    noted = _noted(actor, "study.rehearse", study)
    confirmation = Confirmation(body.confirmed, actor.may("change_bots"))
    return rehearsal_job(await rehearsals.start(text, body.options, noted, confirmation))


async def _planned(rehearsals: Rehearsals, text: str, workers: int, actor: Actor) -> RehearsalPlan:
    planned = await rehearsals.planned(text, workers)
    return rehearsal_plan(workers, planned, sees_hosts=actor.may("change_bots"))


async def _find(store: Store, run: str, job: str) -> JobEntry:
    entry = await store.read(lambda connection: find_job(connection, job))
    if entry.run != run:  # the permission was checked for the run in the path
        raise JobNotFound(f"There is no job “{job}” of the run “{run}”")
    return entry


def _noted(actor: Actor, action: str, subject: str) -> Callable[[Connection], None]:
    return lambda connection: record(connection, actor, action, subject)
