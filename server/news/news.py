"""Protocol of messages between processes, independent of their transport."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Payload = Mapping[str, Any]  # what JSON can say
Handler = Callable[[Payload], None]


class News(Protocol):
    """Tells every process, this one too. Used within one event loop, between `start` and `close`."""

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Have `handler` called with the payload of every piece of news of `topic`; it must not wait."""

    def publish(self, topic: str, payload: Payload) -> None:
        """Tell whoever subscribes to `topic`. Returns at once, and raises nothing; news may be lost."""

    def start(self) -> None:
        """Begin to hear others."""

    async def close(self) -> None:
        """Hear and tell nothing more."""
