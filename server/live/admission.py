"""Who may come to a run now. Read in the transaction that gives a place, and by a join, which only looks."""

from sqlalchemy import Connection, bindparam, select

from server.bots.lineup import OpenRun
from server.db.models import Assignment, ExcludedRun, Run, Worker, columns
from server.db.runs import RunStatus
from server.errors import RunClosed, RunPaused, TookPart
from server.recruiters.link import Arrival

ASSIGNMENT = columns(Assignment)
EXCLUDED = columns(ExcludedRun)
RUN = columns(Run)
WORKER = columns(Worker)


def lock_run(connection: Connection, run: OpenRun) -> None:
    """Have others who arrive at `run` wait until this transaction ends; SQLite has one writer anyway."""
    connection.execute(_LOCK, {"run": run.id})


def require_admitted(connection: Connection, run: OpenRun, arrival: Arrival) -> None:
    """Check that somebody new may come to `run`; whether there is a place is another question.

    Raises:
        RunPaused, RunClosed: nobody may.
        TookPart: they were in a run whose workers may not come to this one.
    """
    require_open(connection.execute(_STATUS, {"run": run.id}).scalar_one())
    named = {"platform": arrival.platform, "external_id": arrival.external_id}
    if connection.execute(_TOOK_PART, {"run": run.id, **named}).first() is not None:
        raise TookPart("you took part in an earlier round of this study")


def require_open(status: RunStatus) -> None:
    """Check that a run lets somebody new in. Raises RunPaused, RunClosed."""
    if status == "paused":
        raise RunPaused("this study is paused for a while")
    if status == "closed":
        raise RunClosed("this study takes no more workers")


_STATUS = select(RUN.status).where(RUN.id == bindparam("run"))
_LOCK = _STATUS.with_for_update(key_share=True)
_TOOK_PART = (
    select(ASSIGNMENT.id)
    .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
    .join(ExcludedRun, EXCLUDED.other_id == ASSIGNMENT.run_id)
    .where(
        EXCLUDED.run_id == bindparam("run"),
        WORKER.platform == bindparam("platform"),
        WORKER.external_id == bindparam("external_id"),
    )
    .limit(1)
)
