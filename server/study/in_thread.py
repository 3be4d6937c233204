"""Run slow work on study texts in separate threads, so that no worker waits for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
# Reading a text of 60 kB takes most of a second. With threads of their own, any number of texts delays
# nothing else that needs a thread, such as signing in.
_THREADS = ThreadPoolExecutor(2, "study-texts")


async def in_thread(read: Callable[[], T]) -> T:
    """Run `read` in a thread while the event loop goes on, and return its result. Raises what it raises."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, read)
