"""Analyse runs in child processes: reports for the desk, and interim analyses as ratings come in."""

import asyncio
import json
import shutil
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.jobs import JobEntry, Lease, end_abandoned, forget_jobs, jobs_of
from server.db.runs.analyses import last_heard, outdated, store_analysis
from server.db.runs.runs import RunEntry, find_run
from server.db.store import Store
from server.errors import StorageFailed
from server.jobs.background import BackgroundJobs, JobFiles, Progress, Result
from server.jobs.child import ChildCommand, ChildFailed, ChildLimits, reading, run_child, told_progress
from server.periodic import PeriodicTask
from server.study import parse_study

PAGE, SIGNATURE, ARCHIVE = "report.html", "signature.txt", "report.zip"
PAPER_FOLDER, PAPER_KIT = "paper", "paper.zip"  # LaTeX tables, PDF figures and a datasheet
_WITH_PAPER = "html,json,csv,xlsx,svg,latex,pdf"


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
        formats = await self._store.read(lambda connection: _formats(find_run(connection, run)))
        chosen = (*formats, *_typed(options))
        arguments = (source, "--run", run, "--out", str(folder), "--progress-lines", *chosen)
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


def _formats(run: RunEntry) -> tuple[str, ...]:
    """Return the argument that adds files for a paper. A run of comparisons has none."""
    return () if parse_study(run.yaml).task == "side_by_side" else ("--format", _WITH_PAPER)


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
    """Pack a finished report for download: its files for a paper, then all files. Return its signature."""
    paper = folder / PAPER_FOLDER
    if paper.is_dir():
        _archive(paper, folder / PAPER_KIT)
        shutil.rmtree(paper)
    _archive(folder, folder / ARCHIVE)
    # A report of comparisons has no signature file; its report.json says what was analysed.
    signature = folder / SIGNATURE
    return signature.read_text(encoding="utf-8").strip() if signature.exists() else ""


def _archive(folder: Path, target: Path) -> None:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.name)


SECONDS = 5.0  # shortest time between checks for new ratings
SHARE = 0.1  # share of the time that analyses may take
LEASE = "analysis"
log = structlog.get_logger()


class RunningAnalyses:
    """Keeps the interim analysis of every run up to date, in one of the serving processes at a time.

    Args:
        store: the database.
        url: the database's URL, for the child process.
        limits: the limits of the child process.
        seconds: the time between checks.
        share: the share of the time that child processes may take.
        lease: held by the process that does it, and renewed while a child process works.
    """

    def __init__(
        self,
        store: Store,
        url: str,
        limits: ChildLimits,
        seconds: float = SECONDS,
        share: float = SHARE,
        lease: Lease | None = None,
    ) -> None:
        self._store = store
        self._url = url
        self._limits = limits
        self._seconds = seconds
        self._share = share
        self._lease = lease or Lease(store, LEASE)
        self._seen: dict[int, datetime] = {}
        self._failed: set[tuple[int, str]] = set()
        self._task = PeriodicTask(self.look, seconds, "runs were not analysed")

    def start(self) -> None:
        """Start the periodic job."""
        self._task.start()

    async def close(self) -> None:
        """Stop the job and its child process, and release the lease to other processes."""
        await self._task.cancel()
        with suppress(StorageFailed):
            await self._lease.release()

    async def look(self) -> None:
        """Analyse every run with new ratings. Raises StorageFailed."""
        heard = await self._store.read(last_heard)
        changed = {run: at for run, at in heard.items() if self._seen.get(run) != at}
        if changed:
            await self._store.submit(lambda connection: end_abandoned(connection, utc_now()))
            await self._lease.work_alone(partial(self._analyse_all, changed))

    async def _analyse_all(self, changed: Mapping[int, datetime]) -> None:
        for run, at in changed.items():
            await self._analyse(run)
            self._seen[run] = at

    async def _analyse(self, run: int) -> None:
        found = await self._store.read(lambda connection: outdated(connection, run))
        if found is None or (run, found[1]) in self._failed:
            return
        slug, basis = found
        began, at, lines = time.monotonic(), utc_now(), list[str]()
        source, variables = reading(self._url)
        command = ChildCommand("qc.precision.watch", (source, "--run", slug), variables)
        try:
            await run_child(command, self._limits, lines.append)
            content = json.dumps(json.loads(lines[-1]))
        except (ChildFailed, ValueError, IndexError) as error:
            log.error("run was not analysed", run=slug, reason=str(error))
            self._failed.add((run, basis))
        else:
            await self._store.submit(lambda connection: store_analysis(connection, run, at, basis, content))
        took = time.monotonic() - began
        await asyncio.sleep(took * (1 / self._share - 1))
