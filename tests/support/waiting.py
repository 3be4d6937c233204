"""Waiting for what happens in another thread, task or process. The bounds only end a test that hangs."""

import asyncio
import time
from collections.abc import Callable

PATIENCE = 6
ENOUGH = 500.0  # seconds for a process and what takes it a few, on a machine that is busy with other things


_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.25  # seconds


def _pause(waited: float) -> float:
    """Return how long to pause before the next look: a tenth of what was waited so far.

    A look may cost more than what is waited for: looks at a job, all 5 ms, took the processor from it.
    """
    return min(max(_FIRST_PAUSE, waited / 10), _LONGEST_PAUSE)


def wait_until(holds: Callable[[], object], what: str, within: float = PATIENCE) -> None:
    """Return when `holds()` is true. Fail, naming `what`, if it never is."""
    start = time.monotonic()
    while not holds():
        waited = time.monotonic() - start
        assert waited < within, f"waited in vain for {what}"
        time.sleep(_pause(waited))


async def until(holds: Callable[[], object]) -> None:
    """Return when `holds()` is true, other tasks running meanwhile. Raise TimeoutError if it never is."""
    start = time.monotonic()
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - who makes it true has no event to set
            await asyncio.sleep(_pause(time.monotonic() - start))
