"""Decide whether a worker may join, and which slot is open, from one query.

One query, because each statement releases Python's interpreter lock and waits to get it back. Beside a busy
event loop that takes longer than the statement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

import structlog
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    delete,
    func,
    literal_column,
    null,
    select,
    true,
    union,
)

from server.bots.lineup import OpenRun, first_reached
from server.clock import PastTimes
from server.db.audit import record
from server.db.counts import POSITIONS
from server.db.runs import run_rules
from server.db.runs.run_rules import standing
from server.db.runs.run_states import stop_run
from server.db.runs.runs import Cause, RunStatus, lock_run
from server.db.store import Store
from server.db.tables import (
    AssignmentTable,
    ExcludedRunTable,
    ExcludedWorkerTable,
    FreePlaceTable,
    RunTable,
    WorkerTable,
)
from server.errors import NotInvited, RunClosed, RunComplete, RunFull, RunOutOfHours, RunPaused, TookPart
from server.news import News
from server.periodic import PeriodicTask
from server.recruiters.arrival import Arrival
from server.run_decision import RunEnd, Standing, end_of, room_for_another
from server.run_rules import RunRules, is_open, next_opening, read_rules

_past_times = PastTimes()


class ArrivalState(NamedTuple):
    """The state of a run and of a worker who arrives at it.

    `own` is the worker's assignment in the run. `of_this_id` is the assignment with the id that theirs would
    get. `took_part`: they took part in a run whose workers are excluded. `is_excluded`: they are on the run's
    list of excluded workers. `free` is the lowest slot that was given back, `last` the highest slot ever
    held, and `lapsed` the lowest slot whose holder, the assignment `holder`, is gone. `counted`, loaded only
    for drawing a slot: how often each system stands at each position, for `counts.positions_in`.
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
) -> ArrivalState:
    """Load the state of `run` for `arrival`, whose assignment would have the id `assignment`.

    `to_draw`: also load the counts that a draw needs, which takes half of the time.
    """
    sought = {
        "run": run.id,
        "key": assignment,
        "platform": arrival.platform,
        "external_id": arrival.external_id,
        "simulated": simulated,
        **gone_since(run, at),
    }
    return ArrivalState(*connection.execute(_WAY_IN_TO_DRAW if to_draw else _WAY_IN, sought).one())


def gone_since(run: OpenRun, at: datetime) -> dict[str, datetime]:
    """Return the times since which a worker must be silent, or active, for their slot to be open.

    If the clock was set forward, nobody has been silent for longer because of that.
    """
    timeouts = run.study.timeouts
    return {
        "silent_since": _past_times.shown_ago(at, timeouts.idle),
        "under_way_since": _past_times.shown_ago(at, timeouts.assignment),
    }


# ---- statements, built once: building them anew takes longer than running them ------------------

IN_RUN = (AssignmentTable.c.run_id == bindparam("run"), AssignmentTable.c.simulated == bindparam("simulated"))
SAME_WORKER = (
    WorkerTable.c.platform == bindparam("platform"),
    WorkerTable.c.external_id == bindparam("external_id"),
)
OWN = (
    select(AssignmentTable.c.id)
    .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
    .where(AssignmentTable.c.run_id == bindparam("run"), *SAME_WORKER)
)
OF_THIS_ID = select(AssignmentTable.c.id).where(
    AssignmentTable.c.run_id == bindparam("run"), AssignmentTable.c.id == bindparam("key")
)
_TOOK_PART = (
    select(AssignmentTable.c.id)
    .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
    .join(ExcludedRunTable, ExcludedRunTable.c.other_id == AssignmentTable.c.run_id)
    .where(ExcludedRunTable.c.run_id == bindparam("run"), *SAME_WORKER)
    .exists()
)
_EXCLUDED = (
    select(ExcludedWorkerTable.c.run_id)
    .where(
        ExcludedWorkerTable.c.run_id == bindparam("run"),
        ExcludedWorkerTable.c.external_id == bindparam("external_id"),
    )
    .exists()
)
# `status` is a literal: the indexes used here cover only active rows, and a parameter could have any value.
_UNDER_WAY = select(AssignmentTable.c.place, AssignmentTable.c.id).where(
    *IN_RUN, AssignmentTable.c.status == literal_column("'active'")
)
_MAY_EXPIRE = union(
    _UNDER_WAY.where(AssignmentTable.c.active_at < bindparam("silent_since")),
    _UNDER_WAY.where(AssignmentTable.c.created_at < bindparam("under_way_since")),
).subquery()
ALL_LAPSED = select(_MAY_EXPIRE).order_by(_MAY_EXPIRE.c.place)
_LAPSED = ALL_LAPSED.limit(1).subquery()
FREE_IN_RUN = (
    FreePlaceTable.c.run_id == bindparam("run"),
    FreePlaceTable.c.simulated == bindparam("simulated"),
)
_LAST = select(func.max(AssignmentTable.c.place)).where(*IN_RUN)


def _way_in(counted: ColumnElement[Any]) -> Select[Any]:
    return (
        select(
            OWN.scalar_subquery(),
            OF_THIS_ID.scalar_subquery(),
            RunTable.c.status,
            RunTable.c.cause,
            RunTable.c.rules,
            _TOOK_PART,
            _EXCLUDED,
            select(func.min(FreePlaceTable.c.place)).where(*FREE_IN_RUN).scalar_subquery(),
            _LAST.scalar_subquery(),
            counted,
            _LAPSED,
        )
        .select_from(RunTable)
        .outerjoin(_LAPSED, true())
        .where(RunTable.c.id == bindparam("run"))
    )


_WAY_IN = _way_in(null())
_WAY_IN_TO_DRAW = _way_in(POSITIONS.scalar_subquery())


def admit(
    connection: Connection, run: OpenRun, arrival_state: ArrivalState, *, simulated: bool, at: datetime
) -> bool:
    """Return whether another worker may start in `run`; if not, they may only replace one who is gone.

    A run's rules apply to people. Simulated workers get the slots that the study's file sets.

    Raises:
        RunPaused, RunClosed, RunComplete, RunOutOfHours: Nobody is admitted now.
        TookPart, NotInvited: This worker is not admitted.
    """
    require_open(arrival_state.status, arrival_state.cause)
    if simulated:
        return True
    rules = read_rules(arrival_state.rules)
    _require_invited(arrival_state)
    _require_hours(rules, at)
    if not rules.bounds_slots and run.study.assignments is None and not run.spending_caps:
        return True
    standing = standing_of(connection, run, rules)
    if end_of(rules, standing) is not None:
        raise RunComplete(_ENOUGH)
    return room_for_another(rules, standing)


def standing_of(connection: Connection, run: OpenRun, rules: RunRules) -> Standing:
    """Return a run's progress with people, and the first spending cap that its bots have reached."""
    stands = standing(connection, run.id, run.study, rules)
    caps = dict.fromkeys(cap for caps in run.spending_caps.values() for cap in caps)
    return replace(stands, spent=first_reached(connection, caps)) if caps else stands


def require_open(status: RunStatus, cause: Cause) -> None:
    """Check that a run admits new workers. Raises RunPaused, RunClosed, RunComplete."""
    if status == "paused":
        raise RunPaused("This study is paused for a while")
    if status == "closed" and cause != "researcher":
        raise RunComplete(_ENOUGH)
    if status == "closed":
        raise RunClosed("This study takes no more workers")


_ENOUGH = "this study has all the answers that it needs"


def _require_hours(rules: RunRules, at: datetime) -> None:
    hours = rules.opening_hours
    if hours is not None and not is_open(hours, at):
        raise RunOutOfHours(next_opening(hours, at))


def _require_invited(arrival_state: ArrivalState) -> None:
    if arrival_state.took_part:
        raise TookPart("You took part in an earlier round of this study")
    if arrival_state.is_excluded:
        raise NotInvited("This study is not open to you")


@dataclass(frozen=True, slots=True)
class Place:
    """A slot that an arriving worker gets.

    `displaced` is the assignment that must expire for it, if any. `is_new`: nobody has had the slot before.
    """

    number: int
    displaced: str | None = None
    is_new: bool = False


def next_place(run: OpenRun, arrival_state: ArrivalState, *, more: bool) -> Place:
    """Return the lowest slot that is free or whose holder is gone, or a new one.

    Without `more`, only a slot whose holder is gone: the holder loses it.

    Raises:
        RunFull: Every slot is held, or no more workers may be active.
    """
    free, lapsed = arrival_state.free, arrival_state.lapsed
    if more and free is not None and (lapsed is None or free < lapsed):
        return Place(free)
    if lapsed is not None:
        return Place(lapsed, displaced=arrival_state.holder)
    return new_place(arrival_state, run.study.assignments, more=more)


def new_place(arrival_state: ArrivalState, most: int | None, *, more: bool) -> Place:
    """Return a slot that nobody has had. Raises RunFull."""
    if not more:
        raise RunFull("This study has as many active workers as it may have at the moment")
    number = 0 if arrival_state.last is None else arrival_state.last + 1
    if most is not None and number >= most:
        raise RunFull("Every slot of this study is taken")
    return Place(number, is_new=True)


def held_before(
    connection: Connection, run: OpenRun, simulated: bool, at: datetime, *, more: bool
) -> Iterator[Place]:
    """Yield the open slots that somebody has had, lowest first; without `more`, only those still held."""
    in_run = {"run": run.id, "simulated": simulated}
    lapsed = connection.execute(ALL_LAPSED, {**in_run, **gone_since(run, at)})
    open_places = [Place(int(row.place), displaced=str(row.id)) for row in lapsed]
    if more:
        open_places += [Place(int(place)) for place in connection.execute(_ALL_FREE, in_run).scalars()]
    yield from sorted(open_places, key=lambda place: place.number)


def take_place(connection: Connection, run: OpenRun, simulated: bool, place: Place) -> None:
    """Mark a slot as no longer free; nothing happens if it was not free."""
    connection.execute(_TAKE_PLACE, {"run": run.id, "simulated": simulated, "place": place.number})


_ALL_FREE = select(FreePlaceTable.c.place).where(*FREE_IN_RUN)
_TAKE_PLACE = delete(FreePlaceTable).where(*FREE_IN_RUN, FreePlaceTable.c.place == bindparam("place"))


SECONDS = 1.0  # between two checks
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Rules:
    """The actor in the audit log when a run's rules stop it."""

    kind: str = "server"
    name: str = "rules of the run"


class RunEnds:
    """Check periodically whether runs have ended. All processes check; the first to see it closes the run.

    Newcomers do not wait for this check: each arrival applies the same rules.

    Args:
        store: The database.
        runs: The runs that this process serves.
        news: Tells other processes that a run has stopped.
    """

    def __init__(self, store: Store, runs: Mapping[int, OpenRun], news: News) -> None:
        self._store = store
        self._runs = runs
        self._news = news
        self._task = PeriodicTask(self.look, SECONDS, "runs were not looked at")

    def start(self) -> None:
        """Start checking."""
        self._task.start()

    async def close(self) -> None:
        """Stop checking, after a check in progress has ended."""
        await self._task.stop()

    async def look(self) -> None:
        """Stop the runs that have ended by their rules. Raises StorageFailed."""
        runs = tuple(self._runs.values())
        for run in await self._store.read(lambda connection: _ended(connection, runs)):
            end = await self._store.submit(lambda connection, run=run: _stop(connection, run))  # type: ignore[misc]
            if end is not None:
                log.info("run has stopped", run=run.slug, reason=end.reason)
                self._news.publish("runs", {})


def _ended(connection: Connection, runs: tuple[OpenRun, ...]) -> list[OpenRun]:
    """Return those of `runs` that have ended by their rules and are not closed."""
    going_on = set(connection.execute(select(RunTable.c.id).where(RunTable.c.status != "closed")).scalars())
    return [run for run in runs if run.id in going_on and _end(connection, run) is not None]


def _end(connection: Connection, run: OpenRun) -> RunEnd | None:
    rules = run_rules.rules_of(connection, run.id)
    return end_of(rules, standing_of(connection, run, rules))


def _stop(connection: Connection, run: OpenRun) -> RunEnd | None:
    """Close a run that has ended; None if its rules have changed meanwhile, or it is closed already."""
    lock_run(connection, run.id)
    end = _end(connection, run)
    if end is None or not stop_run(connection, run.id, end):
        return None
    record(connection, _Rules(), "run.close", run.slug, end.reason)
    return end
