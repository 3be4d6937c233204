"""Waiting for what happens in another thread, task or process. The bounds only end a test that hangs."""

import asyncio
import time
from collections.abc import Callable

PATIENCE = 120.0  # seconds until a test gives up waiting for something that should come at once
ENOUGH = 500.0  # seconds for a process and what takes it a few, on a machine that is busy with other things


def wait_until(holds: Callable[[], object], what: str, within: float = PATIENCE) -> None:
    """Return when `holds()` is true. Fail, naming `what`, if it never is."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)


async def until(holds: Callable[[], object]) -> None:
    """Return when `holds()` is true, other tasks running meanwhile. Raise TimeoutError if it never is."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - who makes it true has no event to set
            await asyncio.sleep(0.005)
