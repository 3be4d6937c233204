"""The rules of a run, its opening hours among them, given when it is opened and changed while it goes on."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

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


Money = Annotated[Decimal, Field(gt=0, max_digits=12, decimal_places=4)]
RunName = Annotated[str, StringConstraints(min_length=1, max_length=100)]
WorkerName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth_value(cls, value: object) -> object:
        """Refuse `true` where a number is expected; numbers of a file come as text."""
        if isinstance(value, bool):
            raise ValueError("`true` and `false` are no numbers")  # noqa: TRY004 - pydantic wants this one
        return value


class Target(_Section):
    """When a run has enough: one of the three.

    `assignments`: as many are completed. `conversations_per_system`: completed assignments have as many rated
    conversations with every system. `widest_interval`: no interval of a score, in standard deviations of a
    worker's ratings, is as wide any more; the intervals are a confidence sequence, so that looking at them
    while data come in does no harm.
    """

    assignments: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    conversations_per_system: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    widest_interval: Annotated[float, Field(gt=0, le=10)] | None = None

    @model_validator(mode="after")
    def _one(self) -> "Target":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("give one of `assignments`, `conversations_per_system` and `widest_interval`")
        return self


class Budget(_Section):
    """What a run may cost. An assignment that is completed costs `pay` and `fee_share` of it besides.

    Places are given out only as far as `total` pays for all that are completed and under way, beside what
    was decided to pay others and the bonuses.
    """

    total: Money
    pay: Money
    fee_share: Annotated[Decimal, Field(ge=0, le=5, decimal_places=4)] = Decimal(0)
    currency: Annotated[str, StringConstraints(max_length=10)] = ""

    def is_in_another(self, currency: str | None) -> bool:
        """Return whether the budget names another currency than this one; None: it is not known."""
        return bool(self.currency) and currency is not None and self.currency.upper() != currency.upper()

    @property
    def per_assignment(self) -> Decimal:
        """What a completed assignment costs, with fees."""
        return self.pay * (1 + self.fee_share)

    def assignments(self, besides: Decimal) -> int:
        """Return how many assignments the budget pays for; `besides`: what else is paid, without fees."""
        return int((self.total - besides * (1 + self.fee_share)) // self.per_assignment)


class RunRules(_Section):
    """All rules of a run, which are about people. Those that are left out limit nothing.

    `most_at_once`: how many workers may be under way at the same time. `excluded_runs`: whoever had an
    assignment in one of these runs may not come; nor may `excluded_workers`, by the ids of their links.
    """

    target: Target | None = None
    budget: Budget | None = None
    most_at_once: Annotated[int, Field(ge=1, le=100_000)] | None = None
    opening_hours: OpeningHours | None = None
    excluded_runs: Annotated[tuple[RunName, ...], Field(max_length=1_000)] = ()
    excluded_workers: Annotated[tuple[WorkerName, ...], Field(max_length=100_000)] = ()

    @property
    def bounds_places(self) -> bool:
        """Whether how many take part, or have, matters to anything."""
        return (self.target, self.budget, self.most_at_once) != (None, None, None)


def in_words(target: Target | None) -> str:
    """Return what a run is to gather, in words; empty where it has no target."""
    if target is None:
        return ""
    if target.assignments is not None:
        return f"{target.assignments} assignment{'' if target.assignments == 1 else 's'}"
    if target.conversations_per_system is not None:
        return f"{target.conversations_per_system} rated conversations of each system"
    return f"until the widest interval of a score is below {target.widest_interval:g}"


def outline(rules: RunRules) -> str:
    """Return rules for a log: workers who may not come as a number only, because their ids are nobody's.

    Of a run that nothing limits it is empty.
    """
    given = rules.model_dump_json(exclude_defaults=True, exclude={"excluded_workers"})
    number = len(rules.excluded_workers)
    said = [given] if given != "{}" else []
    return ", ".join([*said, f"{number} workers excluded"] if number else said)


@lru_cache(maxsize=256)
def read_rules(text: str) -> RunRules:
    """Return stored rules, without who may not come: those are looked up. Every arrival needs them."""
    return RunRules.model_validate_json(text)
