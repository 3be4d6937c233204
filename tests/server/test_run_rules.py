"""Tests of a run's opening hours in its time zone; 2026-01-01 is a Thursday."""

from datetime import UTC, datetime

import pytest

from server.run_rules import OpeningHours, is_open, next_opening


def opening(time_zone: str, *hours: tuple[str, str, str]) -> OpeningHours:
    """Return the hours of some days each, as in ("mon tue", "09:00", "17:00")."""
    spans = [{"days": days.split(), "opens": opens, "closes": closes} for days, opens, closes in hours]
    return OpeningHours.model_validate({"time_zone": time_zone, "hours": spans})


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


WORKING = opening("Europe/Berlin", ("mon tue wed thu fri", "09:00", "17:00"))
# On 2026-03-29 Berlin's clocks go from 02:00 to 03:00, which is 01:00 UTC: they never show 02:30.
FROM_SKIPPED = opening("Europe/Berlin", ("sun", "02:30", "06:00"))
UNTIL_SKIPPED = opening("Europe/Berlin", ("sun", "00:00", "02:30"))
NIGHT = opening("UTC", ("fri", "22:00", "04:00"))
ALWAYS_SUNDAY = opening("UTC", ("sun", "00:00", "00:00"))


@pytest.mark.parametrize(
    ("hours", "at", "expected"),
    [
        (WORKING, "2026-01-01T07:59", False),  # Berlin is an hour ahead in winter
        (WORKING, "2026-01-01T08:00", True),
        (WORKING, "2026-01-01T15:59", True),
        (WORKING, "2026-01-01T16:00", False),
        (WORKING, "2026-01-03T10:00", False),  # Saturday
        (WORKING, "2026-07-01T07:00", True),  # two hours ahead in summer
        (FROM_SKIPPED, "2026-03-29T00:59", False),
        (FROM_SKIPPED, "2026-03-29T01:00", True),
        (FROM_SKIPPED, "2026-03-22T01:29", False),  # a week before, 02:30 is 01:30 UTC
        (FROM_SKIPPED, "2026-03-22T01:30", True),
        (UNTIL_SKIPPED, "2026-03-29T00:59", True),
        (UNTIL_SKIPPED, "2026-03-29T01:00", False),
        (NIGHT, "2026-01-02T23:00", True),
        (NIGHT, "2026-01-03T03:59", True),  # Saturday, but it began on Friday
        (NIGHT, "2026-01-03T04:00", False),
        (NIGHT, "2026-01-03T23:00", False),
        (ALWAYS_SUNDAY, "2026-01-04T00:00", True),
        (ALWAYS_SUNDAY, "2026-01-04T23:59", True),
        (ALWAYS_SUNDAY, "2026-01-05T00:00", False),
    ],
)
def test_open_or_not(hours: OpeningHours, at: str, expected: bool) -> None:
    assert is_open(hours, utc(at)) is expected


@pytest.mark.parametrize(
    ("hours", "at", "opens"),
    [
        (WORKING, "2026-01-01T05:00", "2026-01-01T09:00+01:00"),
        (WORKING, "2026-01-02T18:00", "2026-01-05T09:00+01:00"),  # over the week-end
        (WORKING, "2026-03-27T18:00", "2026-03-30T09:00+02:00"),  # clocks go forward on Sunday
        (ALWAYS_SUNDAY, "2026-01-05T00:00", "2026-01-11T00:00+00:00"),
    ],
)
def test_the_next_opening(hours: OpeningHours, at: str, opens: str) -> None:
    assert next_opening(hours, utc(at)).isoformat(timespec="minutes") == opens
