"""Run slow work on study texts in threads of its own, so that no worker waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
# A text of 60 kB is read in most of a second. They have threads of their own: however many texts are read,
# whatever else waits for a thread, such as signing in, goes on.
_THREADS = ThreadPoolExecutor(2, "study-texts")


async def in_thread(read: Callable[[], T]) -> T:
    """Return what `read` returns, while the event loop goes on. Raises what it raises."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, read)
