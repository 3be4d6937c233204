"""The time, in the forms of the tables and of researchers, and what the clock showed some time ago."""

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import PlainSerializer

_JUMP = 60.0  # seconds: clocks that are corrected slowly do not count as set
_JUMPS = 100  # remembered


def utc_now() -> datetime:
    """Return the time in the form in which the tables store it."""
    return datetime.now(UTC)


class PastTimes:
    """Computes what the clock showed some time ago, even if it was set since.

    A clock that measures durations, and cannot be set, shows when and how far the other one was set. Any
    thread may ask.
    """

    def __init__(
        self, now: Callable[[], datetime] = utc_now, measured: Callable[[], float] = time.monotonic
    ) -> None:
        self._now = now
        self._measured = measured
        self._difference = now().timestamp() - measured()
        self._jumps: deque[tuple[float, float]] = deque(maxlen=_JUMPS)  # when it was noticed, and how far
        self._lock = threading.Lock()

    def shown_ago(self, at: datetime, seconds: float) -> datetime:
        """Return what the clock showed so many seconds before it shows `at`.

        If the clock was set back meanwhile, return a time that is too early: `seconds` before `at`.
        """
        with self._lock:
            measured = self._measured()
            difference = self._now().timestamp() - measured
            if abs(difference - self._difference) >= _JUMP:
                self._jumps.append((measured, difference - self._difference))
            self._difference = difference
            set_forward = sum(jump for noticed, jump in self._jumps if measured - noticed < seconds)
        return at - timedelta(seconds=seconds + max(set_forward, 0.0))


def _shown(value: datetime) -> str:
    return value.isoformat(timespec="seconds")


# A time in the form for researchers: ISO 8601, to the second.
ShownTime = Annotated[datetime, PlainSerializer(_shown)]
