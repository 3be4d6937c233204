"""Protocol of messages between processes, and its transport within one process."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import structlog

Payload = Mapping[str, Any]  # JSON values
Handler = Callable[[Payload], None]


class News(Protocol):
    """Send messages to every process, including this one. For one event loop, between `start` and `close`."""

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Call `handler` with the payload of every message of `topic`; it must not wait."""

    def publish(self, topic: str, payload: Payload) -> None:
        """Send a message to the subscribers of `topic`. Returns at once and never raises; it may be lost."""

    def start(self) -> None:
        """Start receiving messages from others."""

    async def close(self) -> None:
        """Stop sending and receiving."""


log = structlog.get_logger()


class LocalNews(News):
    """Send messages within this process only."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Call `handler` with the payload of every message of `topic`; it must not wait."""
        self._handlers.setdefault(topic, []).append(handler)

    def publish(self, topic: str, payload: Payload) -> None:
        """Send a message to the subscribers of `topic` in this process."""
        for handler in self._handlers.get(topic, ()):
            try:
                handler(payload)
            except Exception:  # an error in a subscriber must not harm the publisher
                log.exception("news was not taken", topic=topic)

    def start(self) -> None:
        """Do nothing: there are no other processes."""

    async def close(self) -> None:
        """Do nothing: nothing is open."""
