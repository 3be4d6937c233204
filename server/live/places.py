"""Places of a run: the lowest that is open to an arriving worker, or a new one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, func, literal_column, select, true, union

from server.bots.lineup import OpenRun
from server.db.models import Assignment, FreePlace, columns
from server.errors import RunFull

ASSIGNMENT = columns(Assignment)
FREE_PLACE = columns(FreePlace)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that an arriving worker gets.

    `displaced` is the assignment that is to expire for it, if any. `is_new`: nobody has had it before.
    """

    number: int
    displaced: str | None = None
    is_new: bool = False


def next_place(connection: Connection, run: OpenRun, simulated: bool, at: datetime, *, more: bool) -> Place:
    """Return the lowest place that is free or whose holder is gone, or a new one.

    Where no more workers may be under way (`more`), it is one whose holder is gone: they lose it.

    Raises:
        RunFull: every place is held, or as many are as may be.
    """
    looked_for = {"run": run.id, "simulated": simulated, **_since(run, at)}
    free, last, lapsed, holder = connection.execute(_OPEN, looked_for).one()
    if more and free is not None and (lapsed is None or free < lapsed):
        return Place(int(free))
    if lapsed is not None:
        return Place(int(lapsed), displaced=str(holder))
    return _following(last, run.study.assignments, more=more)


def _following(last: int | None, most: int | None, *, more: bool) -> Place:
    if not more:
        raise RunFull("as many people take part at the moment as the study has places for")
    number = 0 if last is None else int(last) + 1
    if most is not None and number >= most:
        raise RunFull("every place of this study is taken")
    return Place(number, is_new=True)


def held_before(
    connection: Connection, run: OpenRun, simulated: bool, at: datetime, *, more: bool
) -> Iterator[Place]:
    """Yield the places that somebody has had and that are open now, the lowest first; `more`: as ever."""
    in_run = {"run": run.id, "simulated": simulated}
    lapsed = connection.execute(_ALL_LAPSED, {**in_run, **_since(run, at)})
    open_places = [Place(int(row.place), displaced=str(row.id)) for row in lapsed]
    if more:
        open_places += [Place(int(place)) for place in connection.execute(_ALL_FREE, in_run).scalars()]
    yield from sorted(open_places, key=lambda place: place.number)


def new_place(
    connection: Connection, run: OpenRun, simulated: bool, most: int | None, *, more: bool
) -> Place:
    """Return a place that nobody has had. Raises RunFull."""
    last = connection.execute(_FREE_AND_LAST, {"run": run.id, "simulated": simulated}).one()[1]
    return _following(last, most, more=more)


def take_place(connection: Connection, run: OpenRun, simulated: bool, place: Place) -> None:
    """Have a place be free no longer; nothing happens where it was not."""
    connection.execute(_TAKE_PLACE, {"run": run.id, "simulated": simulated, "place": place.number})


def _since(run: OpenRun, at: datetime) -> dict[str, datetime]:
    """Return since when a worker must have been silent, or under way, for the place to be open."""
    timeouts = run.study.timeouts
    return {
        "silent_since": at - timedelta(seconds=timeouts.idle),
        "under_way_since": at - timedelta(seconds=timeouts.assignment),
    }


_IN_RUN = (ASSIGNMENT.run_id == bindparam("run"), ASSIGNMENT.simulated == bindparam("simulated"))
# `status` is written out: the indexes that find them hold what is active only, a parameter could be anything.
_UNDER_WAY = select(ASSIGNMENT.place, ASSIGNMENT.id).where(
    *_IN_RUN, ASSIGNMENT.status == literal_column("'active'")
)
_MAY_EXPIRE = union(
    _UNDER_WAY.where(ASSIGNMENT.active_at < bindparam("silent_since")),
    _UNDER_WAY.where(ASSIGNMENT.created_at < bindparam("under_way_since")),
).subquery()
_ALL_LAPSED = select(_MAY_EXPIRE).order_by(_MAY_EXPIRE.c.place)
_LAPSED = _ALL_LAPSED.limit(1).subquery()
_FREE_IN_RUN = (FREE_PLACE.run_id == bindparam("run"), FREE_PLACE.simulated == bindparam("simulated"))
_ALL_FREE = select(FREE_PLACE.place).where(*_FREE_IN_RUN)
_FREE_AND_LAST = select(
    select(func.min(FREE_PLACE.place)).where(*_FREE_IN_RUN).scalar_subquery(),
    select(func.max(ASSIGNMENT.place)).where(*_IN_RUN).scalar_subquery(),
)
_COUNTED = _FREE_AND_LAST.subquery()
_OPEN = select(_COUNTED, _LAPSED).select_from(_COUNTED.outerjoin(_LAPSED, true()))
_TAKE_PLACE = delete(FreePlace).where(*_FREE_IN_RUN, FREE_PLACE.place == bindparam("place"))
