"""A server that finishes the replies under way before it stops."""

import time
from types import FrameType

import uvicorn

from bots.host.app import Host

PATIENCE = 60.0


class DrainingServer(uvicorn.Server):
    """Serves a host. The first SIGTERM or SIGINT drains it, the second ends it at once.

    While it drains, new chats get 503. It ends when no reply is under way, or after PATIENCE seconds.
    """

    def __init__(self, config: uvicorn.Config, host: Host) -> None:
        super().__init__(config)
        self._host = host
        self._until: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain, or end at once if it is draining already."""
        if self._until is not None:
            self.force_exit = True
            self.should_exit = True
            return
        self._until = time.monotonic() + PATIENCE
        self._host.drain()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end now."""
        if self._until is not None and (not self._host.under_way or time.monotonic() >= self._until):
            self.should_exit = True
        return await super().on_tick(counter)
