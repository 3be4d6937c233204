"""Life cycle shared by all connections over which a host gets work."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress


class HostClient(ABC):
    """Serves a host until it is drained or stopped, which may be asked for from any thread; `run` once."""

    def __init__(self) -> None:
        """Begin nothing yet. To be called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._running: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    def changed(self) -> None:
        """Look again which models are ready."""
        self._soon(self._news.set)

    def drain(self) -> None:
        """Leave when what was taken is answered. Called again: leave now."""
        self._soon(self._leave)

    def stop(self) -> None:
        """Leave now."""
        self._soon(self._cancel)

    async def run(self) -> None:
        """Serve until drained or stopped.

        Raises:
            HostRejected: this host is not wanted.
        """
        self._running = asyncio.ensure_future(self._serve())
        with suppress(asyncio.CancelledError):
            await self._running

    @abstractmethod
    async def _serve(self) -> None:
        """Serve until the host has left."""

    @abstractmethod
    def _leave(self) -> None:
        """Take nothing more; where that was said before, cancel."""

    def _soon(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: it is over anyway
            self._loop.call_soon_threadsafe(call)

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()
