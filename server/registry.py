"""The bots that run elsewhere, as this process holds them: opened once, closed at the end."""

from bots import Bot, Endpoint, Replicas, open_endpoint


class Registry:
    """Opens endpoints. Belongs, once a bot is asked, to the event loop that asked it."""

    def __init__(self, *, refuse_private: bool) -> None:
        """Hold no bot yet. `refuse_private`: connect to public addresses only."""
        self._refuse_private = refuse_private
        self._opened: list[Replicas] = []
        self._registered: dict[str, Replicas] = {}

    def open(self, endpoint: Endpoint) -> Bot:
        """Return the bot at `endpoint`. Raises EndpointError."""
        replicas = open_endpoint(endpoint, refuse_private=self._refuse_private)
        self._opened.append(replicas)
        return replicas

    def registered(self, name: str) -> Bot | None:
        """Return the bot that is registered as `name`."""
        return self._registered.get(name)

    async def close(self) -> None:
        """Let go of every connection."""
        for replicas in (*self._opened, *self._registered.values()):
            await replicas.close()
