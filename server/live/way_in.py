"""Load everything that decides whether a worker may join, in one query.

Each statement gives the interpreter away and waits for it again, beside a busy event loop for longer than it
takes.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    func,
    literal_column,
    null,
    select,
    true,
    union,
)

from server.bots.lineup import OpenRun
from server.db.models import Assignment, ExcludedRun, ExcludedWorker, FreePlace, Run, Worker, columns
from server.db.plan_counts import COUNTS
from server.db.runs import Cause, RunStatus
from server.recruiters.arrival import Arrival

ASSIGNMENT = columns(Assignment)
EXCLUDED_RUN = columns(ExcludedRun)
EXCLUDED_WORKER = columns(ExcludedWorker)
FREE_PLACE = columns(FreePlace)
RUN = columns(Run)
WORKER = columns(Worker)


class WayIn(NamedTuple):
    """What was found of a run, and of who arrives.

    `own` is the assignment that they have in it, `of_this_id` the one that has the id theirs would get.
    `took_part`: in a run whose workers may not come. `is_excluded`: they are on the run's own list. `free` is
    the lowest place that was given back, `last` the highest that anybody has had, `lapsed` the lowest whose
    holder, the assignment `holder`, is gone. `counted`, for whoever draws a place: which system stands how
    often where, for `plan_counts.positions_in`.
    """

    own: str | None
    of_this_id: str | None
    status: RunStatus
    cause: Cause
    rules: str
    took_part: bool
    is_excluded: bool
    free: int | None
    last: int | None
    counted: str | None
    lapsed: int | None
    holder: str | None


def look(
    connection: Connection,
    run: OpenRun,
    arrival: Arrival,
    assignment: str,
    *,
    simulated: bool,
    at: datetime,
    to_draw: bool,
) -> WayIn:
    """Return how `run` stands to `arrival`, whose assignment would have the id `assignment`.

    `to_draw`: also what a draw goes by, which takes half of the time.
    """
    sought = {
        "run": run.id,
        "key": assignment,
        "platform": arrival.platform,
        "external_id": arrival.external_id,
        "simulated": simulated,
        **gone_since(run, at),
    }
    return WayIn(*connection.execute(_WAY_IN_TO_DRAW if to_draw else _WAY_IN, sought).one())


def gone_since(run: OpenRun, at: datetime) -> dict[str, datetime]:
    """Return since when a worker must have been silent, or under way, for their place to be open."""
    timeouts = run.study.timeouts
    return {
        "silent_since": at - timedelta(seconds=timeouts.idle),
        "under_way_since": at - timedelta(seconds=timeouts.assignment),
    }


# ---- statements, built once: building them anew takes longer than running them ------------------

IN_RUN = (ASSIGNMENT.run_id == bindparam("run"), ASSIGNMENT.simulated == bindparam("simulated"))
SAME_WORKER = (WORKER.platform == bindparam("platform"), WORKER.external_id == bindparam("external_id"))
OWN = (
    select(ASSIGNMENT.id)
    .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
    .where(ASSIGNMENT.run_id == bindparam("run"), *SAME_WORKER)
)
OF_THIS_ID = select(ASSIGNMENT.id).where(
    ASSIGNMENT.run_id == bindparam("run"), ASSIGNMENT.id == bindparam("key")
)
_TOOK_PART = (
    select(ASSIGNMENT.id)
    .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
    .join(ExcludedRun, EXCLUDED_RUN.other_id == ASSIGNMENT.run_id)
    .where(EXCLUDED_RUN.run_id == bindparam("run"), *SAME_WORKER)
    .exists()
)
_EXCLUDED = (
    select(EXCLUDED_WORKER.run_id)
    .where(
        EXCLUDED_WORKER.run_id == bindparam("run"), EXCLUDED_WORKER.external_id == bindparam("external_id")
    )
    .exists()
)
# `status` is written out: the indexes that find them hold what is active only, a parameter could be anything.
_UNDER_WAY = select(ASSIGNMENT.place, ASSIGNMENT.id).where(
    *IN_RUN, ASSIGNMENT.status == literal_column("'active'")
)
_MAY_EXPIRE = union(
    _UNDER_WAY.where(ASSIGNMENT.active_at < bindparam("silent_since")),
    _UNDER_WAY.where(ASSIGNMENT.created_at < bindparam("under_way_since")),
).subquery()
ALL_LAPSED = select(_MAY_EXPIRE).order_by(_MAY_EXPIRE.c.place)
_LAPSED = ALL_LAPSED.limit(1).subquery()
FREE_IN_RUN = (FREE_PLACE.run_id == bindparam("run"), FREE_PLACE.simulated == bindparam("simulated"))
_LAST = select(func.max(ASSIGNMENT.place)).where(*IN_RUN)


def _way_in(counted: ColumnElement[Any]) -> Select[Any]:
    return (
        select(
            OWN.scalar_subquery(),
            OF_THIS_ID.scalar_subquery(),
            RUN.status,
            RUN.cause,
            RUN.rules,
            _TOOK_PART,
            _EXCLUDED,
            select(func.min(FREE_PLACE.place)).where(*FREE_IN_RUN).scalar_subquery(),
            _LAST.scalar_subquery(),
            counted,
            _LAPSED,
        )
        .select_from(Run)
        .outerjoin(_LAPSED, true())
        .where(RUN.id == bindparam("run"))
    )


_WAY_IN = _way_in(null())
_WAY_IN_TO_DRAW = _way_in(COUNTS.scalar_subquery())
