"""Request SONA credits for students who have submitted."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

import structlog
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.jobs import Lease
from server.db.recruiting.credits import DueCredit, due_credits, runs_with_due_credits, store_credit
from server.db.runs.runs import all_runs
from server.db.secrets import external_id
from server.db.store import Store
from server.errors import StorageFailed
from server.periodic import PeriodicTask
from server.recruiters.arrival import IdCipher
from server.recruiters.recruiter import SONA, Sona
from server.recruiters.sona import CreditAnswer, SonaClient
from server.study import parse_study

SECONDS = 20.0  # between runs of the job; a lease lasts longer
log = structlog.get_logger()


class CreditJob:
    """Requests the credits of students who have submitted, in one of the serving processes.

    A refused request is repeated only if a person demands it. While SONA is unreachable, requests are
    repeated at every run of the job.

    Args:
        store: the database.
        ids: decrypts workers' ids.
        client: the client of SONA.
        now: returns the current time.
    """

    def __init__(
        self, store: Store, ids: IdCipher, client: SonaClient, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._store = store
        self._ids = ids
        self._client = client
        self._now = now
        self._lease = Lease(store, "credits", now)
        self._task = PeriodicTask(self.look, SECONDS, "credits were not asked for")

    def start(self) -> None:
        """Start the periodic job."""
        self._task.start()

    async def close(self) -> None:
        """Stop the job after its current request, whose result is stored."""
        await self._task.stop()
        with suppress(StorageFailed):
            await self._lease.release()

    async def look(self) -> None:
        """Request all due credits, unless another process does.

        Raises:
            StorageFailed: the database could not be read or written.
            DatabaseUnfit: workers' ids are encrypted with another key.
        """
        for run_id in await self._store.read(lambda c: runs_with_due_credits(c, SONA)):
            await self._ask_for_run(run_id)

    async def _ask_for_run(self, run_id: int) -> None:
        sona = await self._store.read(lambda connection: _asked_by_server(connection, run_id))
        if sona is None:
            return
        for due in await self._store.read(lambda c: due_credits(c, SONA, run_id)):
            if self._task.stopping or not await self._lease.take():
                return
            survey_code = external_id(due.external_id, self._ids)
            if survey_code is None:  # forgotten since
                continue
            answer = await self._client.grant(sona, survey_code)
            await self._store.submit(_storing(due, answer, self._now()))
            if answer.status == "unreachable":
                log.warning("credits were not asked for", reason=answer.reason)
                return


def _storing(due: DueCredit, answer: CreditAnswer, at: datetime) -> Callable[[Connection], None]:
    return lambda connection: store_credit(connection, due, answer.status, answer.reason, at)


def _asked_by_server(connection: Connection, run_id: int) -> Sona | None:
    """Return a run's recruiter if it is SONA and the server requests the credits, else None."""
    (yaml,) = (run.yaml for run in all_runs(connection) if run.id == run_id)
    recruiter = parse_study(yaml).recruiter
    return recruiter if isinstance(recruiter, Sona) and recruiter.credit == "server" else None
