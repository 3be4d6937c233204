"""Life cycle of a server process, from its start to its end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

Stage = Literal["starting", "serving", "draining"]


class Lifecycle:
    """The stage of this process. `begin_serving` and then `drain` move it on; there is no way back.

    Args:
        drain_seconds: how long the process may take to finish what is under way.
    """

    def __init__(self, drain_seconds: float = 0.0) -> None:
        self.stage: Stage = "starting"
        self._drain_seconds = drain_seconds
        self._to_drain: list[Callable[[float], Awaitable[None]]] = []

    def on_drain(self, drain: Callable[[float], Awaitable[None]]) -> None:
        """Have `drain` called when the process is to end, with the seconds that it may take."""
        self._to_drain.append(drain)

    def begin_serving(self) -> None:
        """Everything that the process needs has been started."""
        self.stage = "serving"

    async def drain(self) -> None:
        """Finish what is under way, within the process's seconds for it."""
        self.stage = "draining"
        await asyncio.gather(*(drain(self._drain_seconds) for drain in self._to_drain))
