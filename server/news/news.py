"""Protocol of messages between processes, and its transport within one process."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import structlog

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


log = structlog.get_logger()


class LocalNews:
    """Tells this process."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Have `handler` called with the payload of every piece of news of `topic`; it must not wait."""
        self._handlers.setdefault(topic, []).append(handler)

    def publish(self, topic: str, payload: Payload) -> None:
        """Tell whoever subscribes to `topic` here."""
        for handler in self._handlers.get(topic, ()):
            try:
                handler(payload)
            except Exception:  # whoever publishes is not to suffer from who listens
                log.exception("news was not taken", topic=topic)

    def start(self) -> None:
        """Nobody else is to be heard."""

    async def close(self) -> None:
        """Nothing is open."""
