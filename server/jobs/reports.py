"""Make reports for the desk with `candor report` in a child process, and keep their files."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from server.db.jobs import JobEntry, forget_jobs, jobs_of
from server.db.runs.runs import find_run
from server.db.store.store import Store
from server.jobs.background import BackgroundJobs, JobFiles, Progress, Result
from server.jobs.child import ChildCommand, ChildLimits, reading, run_child, told_progress

PAGE, SIGNATURE, ARCHIVE = "report.html", "signature.txt", "report.zip"


class ReportOptions(BaseModel):
    """Options of a report. Each field is an option of `candor report`.

    `replicate`: the name of a second run to correlate with, of this study or of another one with some of its
    systems. `reward`: the pay of an assignment. `workers`: `people` if there are any, or `simulated` workers
    instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    alpha: float = Field(0.05, gt=0, lt=1, strict=True)
    replicate: str | None = Field(None, max_length=100)
    reward: float | None = Field(None, ge=0, le=1_000_000, strict=True)
    workers: Literal["people", "simulated"] = "people"
    include_partial: bool = False


class Reports:
    """Makes reports, one per run at a time, and keeps the newest of each run.

    Args:
        store: the database.
        jobs: runs the jobs.
        url: the database's URL, for the child process.
        folder: the folder of the reports, with a subfolder for each.
        limits: the limits of the child process.
        kept: how many reports of a run are kept.
    """

    def __init__(
        self, store: Store, jobs: BackgroundJobs, url: str, folder: Path, limits: ChildLimits, kept: int
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._url = url
        self._files = JobFiles(folder)
        self._limits = limits
        self._kept = kept

    async def start(self, run: str, options: ReportOptions, note: Callable[[Connection], None]) -> JobEntry:
        """Start a report on a run and return its job. `note` runs in the transaction that stores the job.

        Raises:
            RunNotFound: the run or the second run does not exist.
            JobUnderWay: a report on this run is being made.
        """

        def prepare(connection: Connection) -> int:
            if options.replicate is not None:
                find_run(connection, options.replicate)
            note(connection)
            return find_run(connection, run).id

        async def work(progress: Progress) -> Result:
            return await self._make(run, options, progress)

        return await self._jobs.start("report", run, options.model_dump(), prepare, work)

    async def of_run(self, run: str) -> list[JobEntry]:
        """Return the reports on a run, newest first. Raises RunNotFound."""
        return await self._store.read(lambda c: jobs_of(c, "report", [find_run(c, run).id]))

    def file(self, job: str, name: str) -> Path:
        """Return the path of a report's file. Raises JobNotFound if it does not exist (any more)."""
        return self._files.file(job, name)

    async def _make(self, run: str, options: ReportOptions, progress: Progress) -> Result:
        folder = self._files.prepared(progress.job)
        source, variables = reading(self._url)
        arguments = (source, "--run", run, "--out", str(folder), "--progress-lines", *_typed(options))
        hear = told_progress(progress.tell)
        try:
            await run_child(ChildCommand("qc.report", arguments, variables), self._limits, hear)
        except BaseException:  # remove an unfinished report, whatever has ended it
            self._files.remove(progress.job)
            raise
        signature = _pack(folder)
        await self._remove_old(run)
        return {"signature": signature, "files": self._files.listed(progress.job)}

    async def _remove_old(self, run: str) -> None:
        old = [job.id for job in (await self.of_run(run)) if job.status != "running"][self._kept - 1 :]
        if old:
            await self._store.submit(lambda connection: forget_jobs(connection, old))
        for job in old:
            self._files.remove(job)


def _typed(options: ReportOptions) -> list[str]:
    """Return the options as command-line arguments of `candor report`."""
    typed = ["--alpha", f"{options.alpha:g}"]
    if options.replicate is not None:
        typed += ["--replicate", options.replicate]
    if options.reward is not None:
        typed += ["--reward", f"{options.reward:g}"]
    if options.workers == "simulated":
        typed.append("--simulated")
    if options.include_partial:
        typed.append("--include-partial")
    return typed


def _pack(folder: Path) -> str:
    """Add an archive of all files of a finished report for download, and return the report's signature."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.name)
    # A report of comparisons has no signature file; its report.json says what was analysed.
    signature = folder / SIGNATURE
    return signature.read_text(encoding="utf-8").strip() if signature.exists() else ""
