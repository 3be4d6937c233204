"""A run's rules: target, budget, opening hours, excluded workers."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from candor.common.files import YamlTexts
from server.errors import RulesInvalid
from server.settings_file import (
    EXPECTED,
    MOST_MISTAKES,
    either,
    in_own_words,
    line_of,
    nearest,
    quoted,
)

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = 7
_CLOCK = re.compile(r"\d\d:\d\d(:00)?")


def _known(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("Enter a time zone, such as Europe/Berlin or UTC") from error
    return name


def _as_a_clock_shows_it(value: object) -> object:
    if not isinstance(value, time) and not (isinstance(value, str) and _CLOCK.fullmatch(value)):
        raise ValueError("Enter hours and minutes, such as 09:30")
    return value


Clock = Annotated[time, BeforeValidator(_as_a_clock_shows_it)]


class Hours(BaseModel):
    """From `opens` until just before `closes`, on each of `days`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    days: Annotated[
        tuple[Day, ...],
        Field(min_length=1, max_length=_WEEK, description="Days of the week; without them, every day."),
    ] = DAYS
    opens: Annotated[Clock, Field(description="Time of day from which newcomers are admitted.")]
    closes: Annotated[
        Clock, Field(description="Time of day of the end; on the following day if it is not after `opens`.")
    ]


class OpeningHours(BaseModel):
    """The hours in which a run admits newcomers, in `time_zone`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time_zone: Annotated[
        str, AfterValidator(_known), Field(description="Time zone of the hours, such as Europe/Berlin.")
    ]
    hours: Annotated[
        tuple[Hours, ...], Field(min_length=1, max_length=50, description="Hours in which the run is open.")
    ]


def is_open(opening: OpeningHours, at: datetime) -> bool:
    """Return whether newcomers are admitted at the aware time `at`."""
    there = at.astimezone(ZoneInfo(opening.time_zone))
    days = (there.date() - timedelta(days=1), there.date())  # hours that began yesterday may not be over
    return any(begins <= at < ends for day in days for begins, ends in _hours_of(opening, day))


def next_opening(opening: OpeningHours, at: datetime) -> datetime:
    """Return when newcomers are next admitted after `at`, in the hours' own time zone."""
    zone = ZoneInfo(opening.time_zone)
    today = at.astimezone(zone).date()
    days = (today + timedelta(days=ahead) for ahead in range(_WEEK + 1))
    begins = (begin for day in days for begin, _ in _hours_of(opening, day) if begin > at)
    return min(begins).astimezone(zone)


def _hours_of(opening: OpeningHours, day: date) -> Iterator[tuple[datetime, datetime]]:
    """Yield the beginning and end of the hours that begin on `day`, in UTC, where clocks never go back."""
    zone = ZoneInfo(opening.time_zone)
    for hours in opening.hours:
        if DAYS[day.weekday()] in hours.days:
            last = day if hours.closes > hours.opens else day + timedelta(days=1)
            yield _moment(day, hours.opens, zone), _moment(last, hours.closes, zone)


def _moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Return when clocks show `clock`, in UTC; if they skip it, when they are put forward past it."""
    written = datetime.combine(day, clock, zone)
    moment = written.astimezone(UTC)
    if moment.astimezone(zone).time() == clock:
        return moment
    # With the later offset, a skipped time lies before the change, by at most the time that clocks skip.
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
        """Refuse `true` where a number is expected; numbers in a file come as text."""
        if isinstance(value, bool):
            raise ValueError("Enter a number")  # noqa: TRY004 - pydantic wants this one
        return value


class Target(_Section):
    """The target of a run: one of three conditions."""

    assignments: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="This number of assignments is completed.")
    ] = None
    conversations_per_system: Annotated[
        int | None,
        Field(
            ge=1,
            le=1_000_000,
            description="Completed assignments have this number of rated conversations with every system.",
        ),
    ] = None
    widest_interval: Annotated[
        float | None,
        Field(
            gt=0,
            le=10,
            description="The intervals of all scores, in standard deviations of a worker's ratings, are "
            "narrower than this. They are a confidence sequence, so looking at them does no harm.",
        ),
    ] = None

    @model_validator(mode="after")
    def _one(self) -> "Target":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError(
                "Give one target: assignments, conversations per system, or the width of the widest interval"
            )
        return self


class Budget(_Section):
    """The most that a run may cost. A completed assignment costs `pay`, and a `fee_share` of it.

    Slots are only given out if `total` pays for all completed and active assignments, other decided payments,
    and bonuses.
    """

    total: Annotated[Money, Field(description="The most that the run may cost, with fees and bonuses.")]
    pay: Annotated[Money, Field(description="Pay of a completed assignment.")]
    fee_share: Annotated[
        Decimal, Field(ge=0, le=5, decimal_places=4, description="The platform's fee, as a share of the pay.")
    ] = Decimal(0)
    currency: Annotated[
        str, StringConstraints(max_length=10), Field(description="Currency of both, such as GBP.")
    ] = ""

    def is_in_another(self, currency: str | None) -> bool:
        """Return whether the budget names another currency than this one; None means unknown."""
        return bool(self.currency) and currency is not None and self.currency.upper() != currency.upper()

    @property
    def per_assignment(self) -> Decimal:
        """The cost of a completed assignment, with fees."""
        return self.pay * (1 + self.fee_share)

    def assignments(self, besides: Decimal) -> int:
        """Return how many assignments the budget pays for; `besides`: other payments, without fees."""
        return int((self.total - besides * (1 + self.fee_share)) // self.per_assignment)


class RunRules(_Section):
    """All rules of a run, which apply to people. A rule that is left out limits nothing."""

    target: Annotated[
        Target | None, Field(description="The run stops by itself when this one condition is met.")
    ] = None
    budget: Annotated[
        Budget | None, Field(description="The run stops by itself when it pays for no other assignment.")
    ] = None
    most_at_once: Annotated[
        int | None,
        Field(ge=1, le=100_000, description="Number of workers who may be active at the same time."),
    ] = None
    opening_hours: Annotated[
        OpeningHours | None, Field(description="Newcomers are admitted only in these hours.")
    ] = None
    excluded_runs: Annotated[
        tuple[RunName, ...],
        Field(max_length=1_000, description="Workers with an assignment in one of these runs are excluded."),
    ] = ()
    excluded_workers: Annotated[
        tuple[WorkerName, ...],
        Field(max_length=100_000, description="Workers with one of these ids in their links are excluded."),
    ] = ()

    @property
    def bounds_slots(self) -> bool:
        """Whether any rule depends on the number of assignments."""
        return (self.target, self.budget, self.most_at_once) != (None, None, None)


def in_words(target: Target | None) -> str:
    """Return a target in words; empty if there is none."""
    if target is None:
        return ""
    if target.assignments is not None:
        return f"{target.assignments} assignment{'' if target.assignments == 1 else 's'}"
    if target.conversations_per_system is not None:
        return f"{target.conversations_per_system} rated conversations of each system"
    return f"the widest interval of a score below {target.widest_interval:g}"


def outline(rules: RunRules) -> str:
    """Return rules for a log, with only the number of excluded workers, because their ids are private.

    For a run without limits it is empty.
    """
    given = rules.model_dump_json(exclude_defaults=True, exclude={"excluded_workers"})
    number = len(rules.excluded_workers)
    said = [given] if given != "{}" else []
    return ", ".join([*said, f"{number} workers excluded"] if number else said)


@lru_cache(maxsize=256)
def read_rules(text: str) -> RunRules:
    """Return stored rules, without excluded workers and runs, which are looked up. Cached for arrivals."""
    return RunRules.model_validate_json(text)


_LIMITS = {
    "greater_than_equal": ("ge", "a number of at least {}"),
    "greater_than": ("gt", "a number above {}"),
    "less_than_equal": ("le", "a number of at most {}"),
}


def mistakes(error: ValidationError, model: type[BaseModel], root: yaml.Node | None) -> Iterator[str]:
    """Yield the mistakes that pydantic found in rules, each with its line and path.

    Args:
        error: Pydantic's error for `model`, validated with YAML values as texts.
        model: The model of the rules.
        root: The file as nodes, which know their lines; None for an empty file.
    """
    for each in error.errors(include_url=False):
        where = ".".join(map(str, each["loc"])) or "the whole"
        yield f"{line_of(root, each['loc'])}: {where}: {_reason(each, model)}"


def _reason(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown(error["loc"], model)
    own = in_own_words(error)
    expected = _expected(kind, error.get("ctx", {}))
    if own is not None or expected is None:
        return own or error["msg"]
    return f"Enter {expected}"


def _expected(kind: str, context: dict[str, Any]) -> str | None:
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return words.format(context[name])
    return EXPECTED.get(kind)


def _unknown(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    """Return that there is no such rule, with the most similar name, or else all names."""
    *parents, name = location
    names = _names_at(parents, model.model_json_schema())
    near = nearest(name, names)
    return f"There is no such rule{f'; did you mean “{near}”?' if near else f'. Use {either(quoted(names))}'}"


def _names_at(location: list[int | str], schema: dict[str, Any]) -> list[str]:
    part = schema
    for key in location:
        part = part["items"] if isinstance(key, int) else part["properties"][key]
        part = next((each for each in part.get("anyOf", []) if "$ref" in each), part)
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    return list(part["properties"])


def parse_rules(text: str, source: str) -> RunRules:
    """Return the rules in `text`, with every value read as it is written: 17:00 is no number, 0.3 is exact.

    Args:
        text: YAML.
        source: The file's name, for error messages.

    Raises:
        RulesInvalid: It is no YAML, or it has mistakes; the message has all of them with their lines.
    """
    try:
        content = yaml.load(text, Loader=YamlTexts)  # noqa: S506 - it only makes texts, lists and mappings
        return RunRules.model_validate({} if content in (None, "") else content)
    except ValidationError as error:
        found = mistakes(error, RunRules, yaml.compose(text, Loader=YamlTexts))
        told = [f"{source}:{mistake}" for mistake in islice(found, MOST_MISTAKES)]
        if error.error_count() > MOST_MISTAKES:
            told.append(f"{source}: There are more than {MOST_MISTAKES} problems; fix these first")
        raise RulesInvalid("\n".join(told)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise RulesInvalid(f"{source}: This is not valid YAML: {error}") from error
