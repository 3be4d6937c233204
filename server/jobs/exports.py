"""Make exports for the desk by `candor data export` in a child process, and keep the files for days."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection

from server.db.jobs import JobEntry, exports_of, exports_over, forget_jobs, is_outdated, jobs_with_files
from server.db.runs.runs import find_run
from server.db.store import Store
from server.errors import JobNotFound
from server.export.formats import Format, file_name
from server.jobs.background import BackgroundJobs, JobFiles, Progress, Result
from server.jobs.child import ChildCommand, ChildFailed, ChildLimits, run_child, told_progress

KEPT_DAYS = 7
_STARTING = "Starting"
_ANEW = "Export the run again in a minute."


class ExportOptions(BaseModel):
    """Options of an export. `format`: as in `candor data export`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Format


class KeptExports:
    """The files of exports, until they expire.

    They expire after KEPT_DAYS, or when data of the run's workers are removed. Expired exports cannot be
    downloaded, and `remove_old` deletes them.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self.files = JobFiles(folder)

    async def remove_old(self, at: datetime) -> None:
        """Remove expired exports, and files left behind by killed processes. Raises StorageFailed."""
        there = self.files.jobs()
        over = await self._store.read(lambda c: exports_over(c, at - timedelta(days=KEPT_DAYS)))
        if over:
            await self._store.submit(lambda connection: forget_jobs(connection, over))
        kept = await self._store.read(lambda connection: jobs_with_files(connection, "export"))
        for job in there - kept:
            self.files.remove(job)


class Exports:
    """Makes exports, one per run at a time.

    Args:
        store: the database.
        jobs: runs the jobs.
        url: the database's URL, for the child process.
        kept: the files of exports.
        limits: the limits of the child process.
    """

    def __init__(
        self, store: Store, jobs: BackgroundJobs, url: str, kept: KeptExports, limits: ChildLimits
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._url = url
        self._files = kept.files
        self._limits = limits

    async def start(self, run: str, options: ExportOptions, note: Callable[[Connection], None]) -> JobEntry:
        """Start an export of a run and return its job. `note` runs in the transaction that stores the job.

        Raises:
            RunNotFound: there is no such run.
            JobUnderWay: this run is being exported.
        """

        def prepare(connection: Connection) -> int:
            note(connection)
            return find_run(connection, run).id

        async def work(progress: Progress) -> Result:
            return await self._make(run, options.format, progress)

        return await self._jobs.start("export", run, options.model_dump(), prepare, work)

    async def of_run(self, run: str) -> list[JobEntry]:
        """Return the exports of a run that can be downloaded, newest first. Raises RunNotFound."""
        return await self._store.read(lambda c: exports_of(c, find_run(c, run).id))

    async def file(self, job: str, name: str) -> Path:
        """Return the path of an export's file.

        Raises JobNotFound if it does not exist (any more), or contains data of a worker that were removed
        since.
        """
        if await self._store.read(lambda connection: is_outdated(connection, job)):
            raise JobNotFound("Data of a worker were removed since this export was made", _ANEW)
        return self._files.file(job, name)

    async def _make(self, run: str, form: Format, progress: Progress) -> Result:
        progress.tell(_STARTING, 0, 1)
        entry = await self._store.read(lambda connection: find_run(connection, run))
        folder = self._files.prepared(progress.job)
        folder.mkdir(parents=True)
        arguments = ["export", "--run", run, "--format", form, "--progress-lines"]
        arguments += ["--out", str(folder / file_name(entry, form))]
        # An environment variable, because command lines are public and the URL may contain a password.
        command = ChildCommand("server", arguments, {"CANDOR_DATABASE_URL": self._url})
        try:
            await run_child(command, self._limits, told_progress(progress.tell))
            if await self._store.read(lambda connection: is_outdated(connection, progress.job)):
                raise ChildFailed(f"Data of a worker were removed meanwhile. {_ANEW}")
        except BaseException:  # remove an unfinished export, whatever has ended it
            self._files.remove(progress.job)
            raise
        return {"files": self._files.listed(progress.job)}
