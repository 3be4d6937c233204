"""Run background jobs in this process. Any process can cancel them, and none is left behind."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import structlog
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.jobs import JobEntry, JobKind, begin_job, end_job, find_job, note_progress
from server.db.store.store import Store
from server.errors import CandorError, StorageFailed
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
