"""Work for bots that dial in, shared over Redis: any process asks any host, wherever that dialled in."""

import asyncio
from collections.abc import Mapping

import structlog

from bots import Replica, StreamAsker, StreamConsumer, StreamReplica, WorkCount

_ROOM = 64  # asks that a host has of others at the same time: one batch that it computes, one that gathers
log = structlog.get_logger()


class SharedWork:
    """Asks hosts over a Redis, and has the hosts that have dialled in here answer what others ask."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._asker = StreamAsker(redis_url)
        self._replicas: dict[str, StreamReplica] = {}
        self._consumers: dict[tuple[str, str], tuple[StreamConsumer, asyncio.Task[None]]] = {}

    def start(self) -> None:
        """Begin to hear answers."""
        self._asker.start()

    async def close(self) -> None:
        """Ask and answer nothing more; others take over what the hosts here have begun for them."""
        tasks = [task for _, task in self._consumers.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._asker.close()

    def replica(self, name: str) -> StreamReplica:
        """Return the replica of the bot `name` that is all hosts that work for this Redis."""
        self._replicas[name] = self._asker.replica(name)
        return self._replicas[name]

    def counts(self) -> Mapping[str, WorkCount]:
        """Return how many hosts and asks there were for each bot when its replicas were last probed."""
        return {name: replica.count for name, replica in self._replicas.items()}

    def share(self, name: str, host: Replica) -> None:
        """Have a host that has dialled in here answer what any process asks of the bot `name`."""
        consumer = StreamConsumer(self._url, name, host, label=host.url, room=_ROOM)
        task = asyncio.get_running_loop().create_task(consumer.run())
        task.add_done_callback(_report)
        self._consumers[name, host.url] = consumer, task

    async def end(self, name: str, url: str) -> None:
        """Have the host at `url` be asked nothing more, at once; return when it has answered the rest."""
        consumer, task = self._consumers.pop((name, url))
        consumer.leave()
        await asyncio.gather(task, return_exceptions=True)

    async def forget(self, name: str) -> None:
        """Have no host here answer as the bot `name` any more."""
        self._replicas.pop(name, None)
        urls = [url for called, url in self._consumers if called == name]
        await asyncio.gather(*(self.end(name, url) for url in urls))


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a host takes no work over Redis any more", exc_info=error)
