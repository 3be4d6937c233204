"""Run background jobs in this process, and keep their files. Any process can cancel them.

Frames and downloads cannot send a header. So permission is checked when a link is created; the link is valid
for the files of one job, for some hours.
"""

import asyncio
import secrets
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.jobs import JobEntry, JobKind, begin_job, end_job, find_job, note_progress
from server.db.store import Store
from server.errors import CandorError, JobNotFound, StorageFailed, TokenInvalid
from server.jobs.child import ChildFailed
from server.news import News

TOPIC = "jobs"  # of news: a job has started, made progress, or ended
BEAT_SECONDS = 1.0  # between updates of the progress; the lease is much longer
STOPPED = "The server was stopped before this was done. Start it again."
log = structlog.get_logger()
Result = Mapping[str, Any]


class Progress:
    """The progress of a job, set by its work."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.step, self.done, self.total = "Waiting to begin", 0, 0

    def tell(self, step: str, done: int, total: int) -> None:
        """Set the progress: `done` of `total`, in the step `step`."""
        self.step, self.done, self.total = step, done, total


Work = Callable[[Progress], Awaitable[Result]]


class BackgroundJobs:
    """The jobs of this process. Their rows are in `store`, where every process sees them.

    `news` announces their progress.
    """

    def __init__(self, store: Store, news: News) -> None:
        """Create it without jobs."""
        self._store = store
        self._news = news
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(
        self,
        kind: JobKind,
        subject: str,
        options: Mapping[str, Any],
        prepare: Callable[[Connection], int],
        work: Work,
    ) -> JobEntry:
        """Start a job and return it. `work` continues in the background.

        Args:
            kind: the kind of job.
            subject: the subject; only one job of this kind and subject may run at a time.
            options: the options, which the desk shows.
            prepare: runs in the transaction that stores the job; returns the id of the job's run.
            work: does the work, and returns the result.

        Raises:
            JobUnderWay: a job of this kind and subject is running.
            CandorError: raised by `prepare`.
        """
        job = secrets.token_hex(8)

        def begin(connection: Connection) -> JobEntry:
            begin_job(connection, job, kind, prepare(connection), subject, options, utc_now())
            return find_job(connection, job)

        entry = await self._store.submit(begin)
        self._news.publish(TOPIC, {})
        self._tasks[job] = asyncio.get_running_loop().create_task(self._carry_out(job, work))
        return entry

    async def cancel(self, job: str, note: Callable[[Connection], None]) -> JobEntry:
        """Cancel a job in any process, and return it. A finished job does not change.

        `note` runs in the transaction that cancels it. Raises JobNotFound.
        """

        def give_up(connection: Connection) -> JobEntry:
            find_job(connection, job)
            note(connection)
            end_job(connection, job, "cancelled", utc_now())
            return find_job(connection, job)

        entry = await self._store.submit(give_up)
        self._news.publish(TOPIC, {})
        await self._stop(job)
        return entry

    async def close(self) -> None:
        """Cancel all jobs of this process, and store the reason."""
        for job in tuple(self._tasks):
            with suppress(StorageFailed):
                await self._end(job, "failed", error=STOPPED)
            await self._stop(job)

    async def _stop(self, job: str) -> None:
        task = self._tasks.pop(job, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _carry_out(self, job: str, work: Work) -> None:
        progress = Progress(job)
        doing = asyncio.ensure_future(work(progress))
        beating = asyncio.get_running_loop().create_task(self._beat(progress, doing))
        try:
            result = await doing
            await self._store.submit(lambda connection: _note(connection, progress))
            await self._end(job, "done", result=result)
        except (ChildFailed, CandorError) as error:
            reason = error.message if isinstance(error, CandorError) else str(error)
            await self._end(job, "failed", error=reason)
        except asyncio.CancelledError:
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)
            raise
        except Exception as error:  # a bug: the researcher sees its type, and the log has the traceback
            log.exception("job failed", job=job)
            await self._end(job, "failed", error=f"it broke off: {type(error).__name__}")
        finally:
            beating.cancel()
            self._tasks.pop(job, None)

    async def _beat(self, progress: Progress, doing: "asyncio.Future[Result]") -> None:
        """Store a job's progress and renew its lease until it ends. Stop it if it was cancelled."""
        told = None
        while True:
            with suppress(StorageFailed):
                if not await self._store.submit(lambda connection: _note(connection, progress)):
                    doing.cancel()
                    return
            if told != (told := (progress.step, progress.done, progress.total)):
                self._news.publish(TOPIC, {})
            await asyncio.sleep(BEAT_SECONDS)

    async def _end(
        self, job: str, status: Any, error: str | None = None, result: Result | None = None
    ) -> None:
        await self._store.submit(lambda c: end_job(c, job, status, utc_now(), error, result))
        self._news.publish(TOPIC, {})


def _note(connection: Connection, progress: Progress) -> bool:
    step, done, total = progress.step, progress.done, progress.total
    return note_progress(connection, progress.job, step, done, total, utc_now())


LINK_SECONDS = 12 * 3600


class JobFiles:
    """The files of the jobs of one kind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder(self, job: str) -> Path:
        """Return the folder of a job, whether or not it exists."""
        return self._folder / job

    def prepared(self, job: str) -> Path:
        """Return the folder for a new job's files, inside a folder that only the server's user can open."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)  # an earlier version let others read
        return self.folder(job)

    def file(self, job: str, name: str) -> Path:
        """Return the path of a job's file. Raises JobNotFound if it does not exist (any more)."""
        folder = self.folder(job)
        if not folder.is_dir() or name not in {path.name for path in folder.iterdir()}:
            raise JobNotFound(f"The file “{name}” was removed, or never existed")
        return folder / name

    def listed(self, job: str) -> list[dict[str, Any]]:
        """Return the names and sizes of a job's files."""
        files = sorted(path for path in self.folder(job).iterdir() if path.is_file())
        return [{"name": path.name, "bytes": path.stat().st_size} for path in files]

    def jobs(self) -> set[str]:
        """Return the jobs that have a folder."""
        return {path.name for path in self._folder.iterdir()} if self._folder.is_dir() else set()

    def remove(self, job: str) -> None:
        """Remove the files of a job, if there are any."""
        shutil.rmtree(self.folder(job), ignore_errors=True)


class FileLinks:
    """Creates and reads links to files of jobs, signed with the installation's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def link(self, kind: JobKind, job: str) -> str:
        """Return the path of a signed link to a job's files, with a slash at the end."""
        return f"/{kind}s/{self._serializer(kind).dumps(job)}/"

    def job(self, kind: JobKind, signed: str) -> str:
        """Return the job of a link. Raises TokenInvalid if the signature is wrong or the link has expired."""
        try:
            return str(self._serializer(kind).loads(signed, max_age=LINK_SECONDS))
        except BadSignature as error:
            raise TokenInvalid(
                "This link to a file is not valid (any more)", "Open the file from the desk again."
            ) from error

    def _serializer(self, kind: JobKind) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self._secret, salt=kind)
