"""Responses of the API about jobs."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from bots.serving import Price
from candor.common.api_models import Forecast
from server.bots.planned_calls import BotCalls
from server.clock import ShownTime
from server.db.jobs import JobEntry, JobKind, JobStatus
from server.jobs.background import FileLinks
from server.jobs.exports import KEPT_DAYS, ExportOptions
from server.jobs.rehearsals import RehearsalOptions
from server.jobs.reports import ReportOptions


class JobView(BaseModel):
    """A background job: a report, a rehearsal or an export.

    `run`: the run it is about; for a rehearsal, its own run. `step`, `done`, `total`: its progress. `error`:
    why it failed, in words.
    """

    job: str
    kind: JobKind
    run: str
    status: JobStatus
    created_at: ShownTime
    ended_at: ShownTime | None
    step: str
    done: int
    total: int
    error: str | None


class JobFile(BaseModel):
    """A file of a report or an export, with the path of a download that is valid for some hours."""

    name: str
    bytes: int
    path: str


class ReportJob(JobView):
    """A report. `signature` identifies its analysis. It and `files` are set when the report is done."""

    options: ReportOptions
    signature: str | None
    files: list[JobFile]


class ReportList(BaseModel):
    """The reports on a run, newest first. Old ones are removed."""

    reports: list[ReportJob]


class ExportJob(JobView):
    """An export. `files` has its one file when it is done."""

    options: ExportOptions
    files: list[JobFile]


class ExportList(BaseModel):
    """The exports of a run, newest first. Old ones are removed, after `kept_days`."""

    exports: list[ExportJob]
    kept_days: int


class RehearsalOptionsAsked(RehearsalOptions):
    """The options of a rehearsal. `quality`: each system's quality for simulated workers, 0 to 1."""

    quality: dict[str, float]


class RehearsalJob(JobView):
    """A rehearsal. `forecast` is set when it is done.

    `trouble`: the error of some simulated workers, if any failed.
    """

    options: RehearsalOptionsAsked
    forecast: Forecast | None
    trouble: str | None


class PlannedBotCalls(BaseModel):
    """The calls of one bot in a rehearsal, about. `hosts`: those that are called; none if it runs here.

    `price`: of a million tokens, if one is set. `cost`: by that price, 0 if it costs nothing; None if no
    price is set and the provider may charge.
    """

    bot: str
    hosts: list[str]
    calls: int
    tokens_in: int
    tokens_out: int
    price: Price | None
    cost: float | None


class RehearsalPlan(BaseModel):
    """The calls of a rehearsal with that many simulated workers, by bot."""

    workers: int
    bots: list[PlannedBotCalls]


def rehearsal_plan(workers: int, planned: Iterable[BotCalls], *, sees_hosts: bool) -> RehearsalPlan:
    """Return planned calls as a response. `sees_hosts`: the caller may see addresses of registered bots."""
    bots = [
        PlannedBotCalls(
            bot=each.bot,
            hosts=list(each.hosts) if sees_hosts else [],
            calls=each.estimate.calls,
            tokens_in=each.estimate.tokens_in,
            tokens_out=each.estimate.tokens_out,
            price=each.price,
            cost=each.cost,
        )
        for each in planned
    ]
    return RehearsalPlan(workers=workers, bots=bots)


class JobOutcome(JobView):
    """A job of any kind, with its result. The fields of other kinds are empty."""

    signature: str | None
    files: list[JobFile]
    forecast: Forecast | None
    trouble: str | None


class RehearsalList(BaseModel):
    """The rehearsals of a study, newest first."""

    rehearsals: list[RehearsalJob]


class LatestAnalysis(BaseModel):
    """The latest interim analysis of a run, as printed by `candor watch`; None: nothing was rated yet."""

    analysis: dict[str, Any] | None


class ScorePoint(BaseModel):
    """The score of a system at some time, with its interval from `low` to `high`; None: no score yet."""

    system: str
    z: float | None
    low: float | None
    high: float | None


class ScoresThen(BaseModel):
    """The scores of a run at the time when it had `ratings` ratings."""

    ratings: int
    scores: list[ScorePoint]


class Narrowing(BaseModel):
    """The history of the intervals of a run's scores, thinned out to a limited number of points.

    `target`: the run ends as soon as all intervals are narrower; None if it has another target.
    """

    target: float | None
    points: list[ScoresThen]


def job_view(entry: JobEntry) -> JobView:
    """Return a job as a response."""
    return JobView(**_common(entry))


def report_job(entry: JobEntry, links: FileLinks) -> ReportJob:
    """Return a report as a response."""
    result = entry.result or {"signature": None}
    asked = ReportOptions.model_validate(entry.options)
    return ReportJob(
        **_common(entry), options=asked, signature=result["signature"], files=_files(entry, links)
    )


def export_job(entry: JobEntry, links: FileLinks) -> ExportJob:
    """Return an export as a response."""
    asked = ExportOptions.model_validate(entry.options)
    return ExportJob(**_common(entry), options=asked, files=_files(entry, links))


def export_list(entries: Sequence[JobEntry], links: FileLinks) -> ExportList:
    """Return exports as a response."""
    return ExportList(exports=[export_job(entry, links) for entry in entries], kept_days=KEPT_DAYS)


def rehearsal_job(entry: JobEntry) -> RehearsalJob:
    """Return a rehearsal as a response."""
    result = entry.result or {"forecast": None, "trouble": None}
    asked = RehearsalOptionsAsked.model_validate(entry.options)
    return RehearsalJob(
        **_common(entry), options=asked, forecast=result["forecast"], trouble=result["trouble"]
    )


def job_outcome(entry: JobEntry, links: FileLinks) -> JobOutcome:
    """Return a job of any kind as a response."""
    report = report_job(entry, links) if entry.kind == "report" else None
    rehearsal = rehearsal_job(entry) if entry.kind == "rehearsal" else None
    return JobOutcome(
        **_common(entry),
        signature=report and report.signature,
        files=_files(entry, links),
        forecast=rehearsal and rehearsal.forecast,
        trouble=rehearsal and rehearsal.trouble,
    )


def _files(entry: JobEntry, links: FileLinks) -> list[JobFile]:
    path = links.link(entry.kind, entry.id)
    return [JobFile(**file, path=path + file["name"]) for file in (entry.result or {}).get("files", [])]


def _common(entry: JobEntry) -> dict[str, Any]:
    names = JobView.model_fields.keys() - {"job"}
    return {"job": entry.id} | {name: getattr(entry, name) for name in names}
