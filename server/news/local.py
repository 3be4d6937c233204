"""News within one process."""

import structlog

from server.news.news import Handler, Payload

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
