"""Life cycle of all connections over which a host gets work."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress


class HostClient(ABC):
    """Serves a host until it is drained or stopped. Call `run` once; the other methods are thread-safe."""

    def __init__(self) -> None:
        """Prepare; nothing is started yet. Call this in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._running: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    def changed(self) -> None:
        """Check again which models are ready."""
        self._call_in_loop(self._news.set)

    def drain(self) -> None:
        """Leave when all accepted asks are answered. The second call leaves at once."""
        self._call_in_loop(self._leave)

    def stop(self) -> None:
        """Leave at once."""
        self._call_in_loop(self._cancel)

    async def run(self) -> None:
        """Serve until drained or stopped.

        Raises:
            HostRejected: the other side does not accept this host.
        """
        self._running = asyncio.ensure_future(self._serve())
        with suppress(asyncio.CancelledError):
            await self._running

    @abstractmethod
    async def _serve(self) -> None:
        """Serve until the host has left."""

    @abstractmethod
    def _leave(self) -> None:
        """Accept no more asks; on the second call, cancel."""

    def _call_in_loop(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: it is over anyway
            self._loop.call_soon_threadsafe(call)

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()
