"""Responses of the API about jobs."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from server.clock import ShownTime
from server.db.jobs import JobEntry, JobKind, JobStatus
from server.jobs.exports import KEPT_DAYS, ExportOptions
from server.jobs.files import FileLinks
from server.jobs.rehearsals import RehearsalOptions
from server.jobs.reports import ReportOptions


class JobView(BaseModel):
    """Something that is done in the background: a report, a rehearsal, an export.

    `run`: the run that it is about; of a rehearsal, the run of its own. `step`, `done`, `total`: how far it
    is. `error`: why it failed, for people.
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
    """A file of a report or an export, and the path at which it can be had for some hours."""

    name: str
    bytes: int
    path: str


class ReportJob(JobView):
    """A report. `signature` says what it was made of; it and `files` are there once it is done."""

    options: ReportOptions
    signature: str | None
    files: list[JobFile]


class ReportList(BaseModel):
    """The reports on a run, newest first. Old ones are removed."""

    reports: list[ReportJob]


class ExportJob(JobView):
    """An export. Its `files`, of which there is one, are there once it is done."""

    options: ExportOptions
    files: list[JobFile]


class ExportList(BaseModel):
    """The exports of a run, newest first. Old ones are removed, after `kept_days`."""

    exports: list[ExportJob]
    kept_days: int


class RehearsalOptionsAsked(RehearsalOptions):
    """How a rehearsal was asked for. `quality`: how good each system was to the simulated workers, 0 to 1."""

    quality: dict[str, float]


class SystemForecast(BaseModel):
    """A system's score as the simulated workers gave it, and half the width of its interval as planned."""

    system: str
    z: float
    half_width: float


class NumberForecast(BaseModel):
    """What so many workers would show: the widest half-width, the chance for the first two, the cost."""

    workers: int
    half_width: float
    apart: float
    cost: float | None


class PlannedStudy(BaseModel):
    """What the forecast is for: workers of one assignment each; `pay` of one of them, `fee` on top."""

    workers: int
    conversations: int
    inputs: int
    pay: float | None
    fee: float


class Forecast(BaseModel):
    """What a rehearsal foretells, as `python -m qc.outlook` printed it.

    `minutes`: of an assignment. `apart`: chance that the `first` and the `second` system are told apart.
    `needed`: workers for a chance of `power`, None where hardly anybody could pay them. `assumed`: sentences.
    """

    plan: PlannedStudy
    rehearsed: int
    passed: int
    minutes: float
    cost: float | None
    scores: list[SystemForecast]
    first: str
    second: str
    difference: float
    apart: float
    needed: int | None
    power: float
    chances: list[NumberForecast]
    assumed: list[str]


class RehearsalJob(JobView):
    """A rehearsal. `forecast` is there once it is done.

    `trouble`: what went wrong with some of the simulated workers.
    """

    options: RehearsalOptionsAsked
    forecast: Forecast | None
    trouble: str | None


class JobOutcome(JobView):
    """A job of any kind, and what came of it: the fields of the other kinds are empty."""

    signature: str | None
    files: list[JobFile]
    forecast: Forecast | None
    trouble: str | None


class RehearsalList(BaseModel):
    """The rehearsals of a study, newest first."""

    rehearsals: list[RehearsalJob]


class LatestAnalysis(BaseModel):
    """How a run stood when it was last looked at, as `candor watch` prints it; None: nothing was rated."""

    analysis: dict[str, Any] | None


class ScorePoint(BaseModel):
    """The score of a system at some time, from `low` to `high`; None where there was none yet."""

    system: str
    z: float | None
    low: float | None
    high: float | None


class ScoresThen(BaseModel):
    """The scores of a run when it had so many `ratings`."""

    ratings: int
    scores: list[ScorePoint]


class Narrowing(BaseModel):
    """How the intervals of a run's scores have narrowed, from the first ratings on; of many looks some.

    `target`: the run ends as soon as no interval is as wide; None where it has another end.
    """

    target: float | None
    points: list[ScoresThen]


def job_view(entry: JobEntry) -> JobView:
    """Return a job as the API answers it."""
    return JobView(**_common(entry))


def report_job(entry: JobEntry, links: FileLinks) -> ReportJob:
    """Return a report as the API answers it."""
    result = entry.result or {"signature": None}
    asked = ReportOptions.model_validate(entry.options)
    return ReportJob(
        **_common(entry), options=asked, signature=result["signature"], files=_files(entry, links)
    )


def export_job(entry: JobEntry, links: FileLinks) -> ExportJob:
    """Return an export as the API answers it."""
    asked = ExportOptions.model_validate(entry.options)
    return ExportJob(**_common(entry), options=asked, files=_files(entry, links))


def export_list(entries: Sequence[JobEntry], links: FileLinks) -> ExportList:
    """Return exports as the API answers them."""
    return ExportList(exports=[export_job(entry, links) for entry in entries], kept_days=KEPT_DAYS)


def rehearsal_job(entry: JobEntry) -> RehearsalJob:
    """Return a rehearsal as the API answers it."""
    result = entry.result or {"forecast": None, "trouble": None}
    asked = RehearsalOptionsAsked.model_validate(entry.options)
    return RehearsalJob(
        **_common(entry), options=asked, forecast=result["forecast"], trouble=result["trouble"]
    )


def job_outcome(entry: JobEntry, links: FileLinks) -> JobOutcome:
    """Return a job of any kind as the API answers it."""
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
