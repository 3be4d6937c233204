"""Opening hours of a run: days and hours in one time zone."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = 7
_CLOCK = re.compile(r"\d\d:\d\d(:00)?")


def _known(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"`{name}` is no time zone: write one such as Europe/Berlin, or UTC") from error
    return name


def _as_a_clock_shows_it(value: object) -> object:
    if not isinstance(value, time) and not (isinstance(value, str) and _CLOCK.fullmatch(value)):
        raise ValueError("write hours and minutes, such as `09:30`")
    return value


Clock = Annotated[time, BeforeValidator(_as_a_clock_shows_it)]


class Hours(BaseModel):
    """From `opens` until just before `closes`, on each of `days`.

    Where `closes` is not after `opens` it is on the following day: 00:00 to 00:00 is the whole day.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    days: Annotated[tuple[Day, ...], Field(min_length=1, max_length=_WEEK)] = DAYS
    opens: Clock
    closes: Clock


class OpeningHours(BaseModel):
    """All the hours in which a run takes newcomers, on the clocks of `time_zone`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time_zone: Annotated[str, AfterValidator(_known)]
    hours: Annotated[tuple[Hours, ...], Field(min_length=1, max_length=50)]


def is_open(opening: OpeningHours, at: datetime) -> bool:
    """Return whether newcomers are taken at the aware time `at`."""
    there = at.astimezone(ZoneInfo(opening.time_zone))
    days = (there.date() - timedelta(days=1), there.date())  # hours that began yesterday may not be over
    return any(begins <= at < ends for day in days for begins, ends in _hours_of(opening, day))


def next_opening(opening: OpeningHours, at: datetime) -> datetime:
    """Return when newcomers are taken again after `at`, in the hours' own time zone."""
    zone = ZoneInfo(opening.time_zone)
    today = at.astimezone(zone).date()
    days = (today + timedelta(days=ahead) for ahead in range(_WEEK + 1))
    begins = (begin for day in days for begin, _ in _hours_of(opening, day) if begin > at)
    return min(begins).astimezone(zone)


def _hours_of(opening: OpeningHours, day: date) -> Iterator[tuple[datetime, datetime]]:
    """Yield when the hours that begin on `day` begin and end, in UTC: there clocks never go back."""
    zone = ZoneInfo(opening.time_zone)
    for hours in opening.hours:
        if DAYS[day.weekday()] in hours.days:
            last = day if hours.closes > hours.opens else day + timedelta(days=1)
            yield _moment(day, hours.opens, zone), _moment(last, hours.closes, zone)


def _moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Return when clocks show `clock`, in UTC; where they skip it, when they are put forward past it."""
    written = datetime.combine(day, clock, zone)
    moment = written.astimezone(UTC)
    if moment.astimezone(zone).time() == clock:
        return moment
    # Read with the offset of after, a skipped time lies before the change, at most as long as clocks skip.
    moment = written.replace(fold=1).astimezone(UTC)
    while moment.astimezone(zone).replace(tzinfo=None) < written.replace(tzinfo=None):
        moment += timedelta(minutes=1)
    return moment
