"""The time that the clock showed some time ago, though it was set since."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from server.clock import PastTimes

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HALF_AN_HOUR, DAY = 1_800.0, 86_400.0


@dataclass
class Clocks:
    """The time that has passed, and how far the clock was set forward."""

    passed: float = 0.0
    ahead: float = 0.0

    def now(self) -> datetime:
        return AT + timedelta(seconds=self.passed + self.ahead)


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def past(clocks: Clocks) -> PastTimes:
    return PastTimes(clocks.now, lambda: clocks.passed)


def half_an_hour_ago(past: PastTimes, clocks: Clocks) -> float:
    """Return what the clock showed half an hour ago, in seconds from `AT`."""
    return (past.shown_ago(clocks.now(), HALF_AN_HOUR) - AT).total_seconds()


def test_of_a_clock_that_was_not_set_it_is_the_difference(past: PastTimes, clocks: Clocks) -> None:
    clocks.passed = 2_000
    assert half_an_hour_ago(past, clocks) == 200


def test_what_it_showed_before_it_was_set_forward_counts_until_that_is_long_ago(
    past: PastTimes, clocks: Clocks
) -> None:
    clocks.passed, clocks.ahead = 2_000, DAY
    assert half_an_hour_ago(past, clocks) == 200
    clocks.passed = 3_799
    assert half_an_hour_ago(past, clocks) == 1_999
    clocks.passed = 3_801  # set 1,801 s ago: half an hour ago it showed the new time
    assert half_an_hour_ago(past, clocks) == 2_001 + DAY


def test_a_clock_that_is_set_forward_and_back_again_shows_the_right_past(
    past: PastTimes, clocks: Clocks
) -> None:
    clocks.passed, clocks.ahead = 2_000, DAY
    half_an_hour_ago(past, clocks)
    clocks.passed, clocks.ahead = 2_100, 0
    assert half_an_hour_ago(past, clocks) == 300


def test_a_clock_that_is_set_back_makes_the_past_no_later(past: PastTimes, clocks: Clocks) -> None:
    clocks.passed, clocks.ahead = 2_000, -DAY
    assert half_an_hour_ago(past, clocks) == 200 - DAY


def test_slow_corrections_are_no_jumps(past: PastTimes, clocks: Clocks) -> None:
    for _ in range(100):
        clocks.passed, clocks.ahead = clocks.passed + 20, clocks.ahead + 1
        last = half_an_hour_ago(past, clocks)
    assert last == 2_000 + 100 - HALF_AN_HOUR
