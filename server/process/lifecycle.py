"""Life cycle of a server process, from its start to its end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

Stage = Literal["starting", "serving", "draining"]


class Lifecycle:
    """The stage of this process: starting, serving after `begin_serving`, draining after `drain`.

    Args:
        drain_seconds: how long the process may take to finish its work.
    """

    def __init__(self, drain_seconds: float = 0.0) -> None:
        self.stage: Stage = "starting"
        self._drain_seconds = drain_seconds
        self._to_drain: list[Callable[[float], Awaitable[None]]] = []

    def on_drain(self, *drains: Callable[[float], Awaitable[None]]) -> None:
        """Register functions to call at the end of the process, with the seconds that they may take."""
        self._to_drain += drains

    def begin_serving(self) -> None:
        """Enter the stage `serving`, when everything has started."""
        self.stage = "serving"

    async def drain(self) -> None:
        """Enter the stage `draining`, and call all registered functions."""
        self.stage = "draining"
        await asyncio.gather(*(drain(self._drain_seconds) for drain in self._to_drain))
