"""Places of a run: the lowest that is open to an arriving worker, or a new one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select

from server.bots.lineup import OpenRun
from server.db.models import FreePlace, columns
from server.errors import RunFull
from server.live.way_in import ALL_LAPSED, FREE_IN_RUN, WayIn, gone_since

FREE_PLACE = columns(FreePlace)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that an arriving worker gets.

    `displaced` is the assignment that is to expire for it, if any. `is_new`: nobody has had it before.
    """

    number: int
    displaced: str | None = None
    is_new: bool = False


def next_place(run: OpenRun, way_in: WayIn, *, more: bool) -> Place:
    """Return the lowest place that is free or whose holder is gone, or a new one.

    Where no more workers may be under way (`more`), it is one whose holder is gone: they lose it.

    Raises:
        RunFull: every place is held, or as many are as may be.
    """
    free, lapsed = way_in.free, way_in.lapsed
    if more and free is not None and (lapsed is None or free < lapsed):
        return Place(free)
    if lapsed is not None:
        return Place(lapsed, displaced=way_in.holder)
    return new_place(way_in, run.study.assignments, more=more)


def new_place(way_in: WayIn, most: int | None, *, more: bool) -> Place:
    """Return a place that nobody has had. Raises RunFull."""
    if not more:
        raise RunFull("as many people take part at the moment as the study has places for")
    number = 0 if way_in.last is None else way_in.last + 1
    if most is not None and number >= most:
        raise RunFull("every place of this study is taken")
    return Place(number, is_new=True)


def held_before(
    connection: Connection, run: OpenRun, simulated: bool, at: datetime, *, more: bool
) -> Iterator[Place]:
    """Yield the places that somebody has had and that are open now, the lowest first; `more`: as ever."""
    in_run = {"run": run.id, "simulated": simulated}
    lapsed = connection.execute(ALL_LAPSED, {**in_run, **gone_since(run, at)})
    open_places = [Place(int(row.place), displaced=str(row.id)) for row in lapsed]
    if more:
        open_places += [Place(int(place)) for place in connection.execute(_ALL_FREE, in_run).scalars()]
    yield from sorted(open_places, key=lambda place: place.number)


def take_place(connection: Connection, run: OpenRun, simulated: bool, place: Place) -> None:
    """Have a place be free no longer; nothing happens where it was not."""
    connection.execute(_TAKE_PLACE, {"run": run.id, "simulated": simulated, "place": place.number})


_ALL_FREE = select(FREE_PLACE.place).where(*FREE_IN_RUN)
_TAKE_PLACE = delete(FreePlace).where(*FREE_IN_RUN, FREE_PLACE.place == bindparam("place"))
