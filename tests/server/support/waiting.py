"""Waiting for what happens in another thread."""

import time
from typing import Any

PATIENCE = 20.0  # seconds until a test gives up waiting for something that should come at once


def wait_until(holds: Any, what: str) -> None:
    """Wait for something that happens in another thread."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.005)
