"""A session event being processed, with its completion callback, one at a time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sqlalchemy import Connection as Transaction

from bots import NO_TRACE, Trace
from server.session.events import Event


class SerialQueue:
    """What is let in keeps all others waiting until it leaves. Used within one event loop.

    asyncio's lock is for coroutines only: a task for each message takes longer than what is done about it.
    """

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_taken(self) -> bool:
        """Whether something is under way."""
        return self._is_taken

    def enter(self, begin: Callable[[], None]) -> None:
        """Call `begin`, which must not raise, once nothing else is under way: now, where nothing is.

        Whatever it begins ends with a call of `leave`.
        """
        if self._is_taken:
            self._waiting.append(begin)
        else:
            self._is_taken = True
            begin()

    def leave(self) -> None:
        """Let in what has waited longest."""
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._waiting.popleft())
        else:
            self._is_taken = False

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be what is under way."""
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
            if not entered.cancelled():  # it was let in, in the moment in which it was given up
                self.leave()
            raise
        try:
            yield
        finally:
            self.leave()


WhenDone = Callable[[Exception | None], None]  # gets None once something is done, or why it is not


class PendingEvent:
    """An event that a session takes. `then` is told of its end.

    `also`: what is written with its records. `is_behind`: the state was, and has been loaded anew for it.
    `storing`: the trace of its records' way.
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
    """A `WhenDone` for which a coroutine can wait."""

    def __init__(self) -> None:
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __call__(self, error: Exception | None) -> None:
        """Let whoever waits go on, or raise the error there."""
        if self.future.cancelled():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)
