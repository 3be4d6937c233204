"""Process the events of a session one at a time, each with its completion callback."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sqlalchemy import Connection as Transaction

from candor.common.telemetry import NO_TRACE, Trace
from server.session.events import Event


class SerialQueue:
    """Run one thing at a time: all others wait until it leaves. For use within one event loop.

    asyncio's lock serves coroutines only, and a task for each message takes longer than processing it.
    """

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_taken(self) -> bool:
        """Whether something is in progress."""
        return self._is_taken

    def enter(self, begin: Callable[[], None]) -> None:
        """Call `begin` once nothing else is in progress: at once if the queue is free.

        `begin` must not raise, and whatever it starts must end with a call of `leave`.
        """
        if self._is_taken:
            self._waiting.append(begin)
        else:
            self._is_taken = True
            begin()

    def leave(self) -> None:
        """Start whatever has waited longest."""
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._waiting.popleft())
        else:
            self._is_taken = False

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold the queue during a `with` block."""
        entered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def begin() -> None:
            if entered.cancelled():
                self.leave()
            else:
                entered.set_result(None)

        self.enter(begin)
        try:
            await entered
        except asyncio.CancelledError:
            if not entered.cancelled():  # it was entered at the moment in which the wait was cancelled
                self.leave()
            raise
        try:
            yield
        finally:
            self.leave()


WhenDone = Callable[[Exception | None], None]  # called with None on success, or with the error


class PendingEvent:
    """An event that a session processes. `then` is called at its end.

    `also` writes in the same transaction as the event's records. `is_behind` is set once the state was found
    outdated and reloaded for this event. `storing` is the trace span of storing the records.
    """

    __slots__ = ("also", "event", "is_behind", "storing", "then", "trace")

    def __init__(
        self, event: Event, then: WhenDone, trace: Trace, also: Callable[[Transaction], None] | None = None
    ) -> None:
        self.event = event
        self.then = then
        self.trace = trace
        self.also = also
        self.is_behind = False
        self.storing = NO_TRACE


class Done:
    """A `WhenDone` that a coroutine can await."""

    def __init__(self) -> None:
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __call__(self, error: Exception | None) -> None:
        """Set the result, or the error, of `future`."""
        if self.future.cancelled():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)
