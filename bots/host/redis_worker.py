"""A host that gets its work from Redis, without a connection to any server."""

import asyncio
from collections.abc import Callable

from redis.exceptions import AuthenticationError

from bots.core.chat import Chat, Reply
from bots.host.app import Host
from bots.host.client import HostClient
from bots.host.connection import HostRejected
from bots.host.connector import label
from bots.streams import StreamConsumer


class RedisWorker(HostClient):
    """Lets the models of a host answer the asks for the bots of the same names, over Redis.

    `say` shows a line to the user who started the host.
    """

    def __init__(
        self, host: Host, url: str, password: str | None, room: int, say: Callable[[str], None]
    ) -> None:
        """Prepare; no work is taken yet. Call this in the event loop.

        Args:
            host: the host of the models.
            url: of the Redis.
            password: of the Redis, if the url has none.
            room: the most asks that each model works on at once.
            say: see above.

        Raises:
            ValueError: `url` is not the URL of a Redis.
        """
        super().__init__()
        self._host = host
        self._consumers = {
            name: StreamConsumer(
                url, name, _HostedModel(host, name), label=label(), room=room, password=password
            )
            for name in host.names
        }
        self._say = say
        self._draining = False
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def _leave(self) -> None:
        if self._draining:
            self._cancel()
        self._draining = True
        for consumer in self._consumers.values():
            consumer.leave()
        self._news.set()

    async def _serve(self) -> None:
        try:
            while not self._draining:
                self._news.clear()
                self._start_ready()
                await self._news.wait()
                for task in self._tasks.values():
                    if task.done():
                        task.result()
            await asyncio.gather(*self._tasks.values())
        except AuthenticationError as error:
            raise HostRejected(
                f"Redis does not take this host: {error} Write the password into the URL,"
                " as redis://:PASSWORD@HOST:6379/0, or into the variable REDISCLI_AUTH."
            ) from error
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _start_ready(self) -> None:
        for name, consumer in self._consumers.items():
            if name not in self._tasks and self._host.health(name).ready:
                self._tasks[name] = asyncio.ensure_future(consumer.run())
                self._tasks[name].add_done_callback(lambda _: self._news.set())
                self._say(f"Ready: {name}")


class _HostedModel:
    """A model of a host, as a bot."""

    def __init__(self, host: Host, name: str) -> None:
        self._host = host
        self._name = name

    async def reply(self, chat: Chat) -> Reply:
        return await self._host.reply(self._name, chat)
