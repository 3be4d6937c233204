"""Jobs that are under way in this process: begun, watched, cancelled from anywhere, never left behind."""

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

TOPIC = "jobs"  # of news: a job was begun, has come further, or is over
BEAT_SECONDS = 1.0  # between two looks at what has changed; the lease lasts many of them
STOPPED = "The server was stopped before this was done. Start it again."
log = structlog.get_logger()
Result = Mapping[str, Any]


class Progress:
    """How far a job is, as its work tells."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.step, self.done, self.total = "Waiting to begin", 0, 0

    def tell(self, step: str, done: int, total: int) -> None:
        """Take note that `done` of `total` steps are done, and what the next one is."""
        self.step, self.done, self.total = step, done, total


Work = Callable[[Progress], Awaitable[Result]]


class BackgroundJobs:
    """The jobs of this process. Their rows are in `store`, where every process sees them.

    `news` tells that one has come further.
    """

    def __init__(self, store: Store, news: News) -> None:
        """Begin with none."""
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
        """Begin a job and return it; `work` goes on in the background.

        Args:
            kind: what it does.
            subject: of which one job of this kind may be under way.
            options: what was asked for, as the desk shows it again.
            prepare: runs in the transaction that stores the job; returns the id of the run that it is about.
            work: does it, and returns its result.

        Raises:
            JobUnderWay: the same is being done.
            CandorError: what `prepare` raises.
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
        """Give a job up, in whichever process it is; return it. One that is over stays as it is.

        `note` runs in the transaction that says so. Raises JobNotFound.
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
        """Give up all jobs of this process; their rows say why."""
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
        except Exception as error:  # a fault of ours: the researcher is told, and the log has all of it
            log.exception("job failed", job=job)
            await self._end(job, "failed", error=f"it broke off: {type(error).__name__}")
        finally:
            beating.cancel()
            self._tasks.pop(job, None)

    async def _beat(self, progress: Progress, doing: "asyncio.Future[Result]") -> None:
        """Store how far a job is, and keep its lease, until it is over; end it where it was cancelled."""
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
