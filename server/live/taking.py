"""An event on its way through a session, and who is told of its end."""

import asyncio
from collections.abc import Callable

from sqlalchemy import Connection as Transaction

from bots import NO_TRACE, Trace
from server.session.events import Event

Then = Callable[[Exception | None], None]  # gets None once something is done, or why it is not


class Taking:
    """An event that a session takes. `then` is told of its end.

    `also`: what is written with its records. `is_behind`: the state was, and has been loaded anew for it.
    `storing`: the trace of its records' way.
    """

    __slots__ = ("also", "event", "is_behind", "storing", "then", "trace")

    def __init__(
        self, event: Event, then: Then, trace: Trace, also: Callable[[Transaction], None] | None = None
    ) -> None:
        self.event = event
        self.then = then
        self.trace = trace
        self.also = also
        self.is_behind = False
        self.storing = NO_TRACE


class Done:
    """A `Then` for which a coroutine can wait."""

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
