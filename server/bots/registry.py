"""The bots that run elsewhere, as this process holds them: opened once, changed while they answer."""

import asyncio
from collections.abc import Coroutine

import structlog
from sqlalchemy import Connection

from bots import (
    Bot,
    BotGone,
    Chat,
    DialInEndpoint,
    Endpoint,
    EndpointError,
    Replica,
    Replicas,
    ReplicaState,
    Reply,
    open_endpoint,
    open_replica,
)
from server.bots import registration

HEARTBEAT = 5.0  # seconds between two questions how a replica is
log = structlog.get_logger()


class Registered:
    """A registered bot for as long as this process runs, whatever becomes of its registration.

    Runs keep it: they see replicas come and go, and the bot disabled, deleted, or brought back.
    """

    def __init__(self, name: str) -> None:
        """Stand for the bot `name`, which is gone until it is given replicas and enabled."""
        self.name = name
        self.endpoint: Endpoint | None = None
        self.replicas: Replicas | None = None
        self.fault = ""  # why there are no replicas, where the bot is registered all the same
        self.gone = "it is not registered"
        self._asked: set[asyncio.Task[Reply]] = set()

    async def reply(self, chat: Chat) -> Reply:
        """Return what the bot says.

        Raises:
            BotGone: it is disabled or deleted, or became so while it was thinking.
            BotError: no replica could answer.
        """
        if self.replicas is None or self.gone:
            raise BotGone(f"{self.name}: {self.gone}")
        asked = asyncio.get_running_loop().create_task(self.replicas.reply(chat))
        self._asked.add(asked)
        try:
            return await asked
        except asyncio.CancelledError as error:
            if self.gone and asked.cancelled() and not _cancelled():
                raise BotGone(f"{self.name}: {self.gone}") from error
            raise
        finally:
            self._asked.discard(asked)

    @property
    def known(self) -> bool:
        """Whether the bot is registered now."""
        return self.replicas is not None or bool(self.fault)

    def leave(self, reason: str) -> None:
        """Answer nobody any more, nor those who wait: the bot may be left for hanging."""
        self.gone = reason
        for asked in self._asked:
            asked.cancel()

    def come_back(self) -> None:
        """Answer again."""
        self.gone = ""


class Registry:
    """Opens endpoints, and holds the registered bots by name.

    Belongs, once a bot is asked, to the event loop that asked it. `load` before it is used, `start` in the
    loop, `close` at the end.
    """

    def __init__(self, *, refuse_private: bool, heartbeat: float = HEARTBEAT) -> None:
        """Hold no bot yet.

        Args:
            refuse_private: connect to public addresses only.
            heartbeat: seconds between two questions how the replicas are.
        """
        self._refuse_private = refuse_private
        self._heartbeat = heartbeat
        self._opened: list[Replicas] = []
        self._registered: dict[str, Registered] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._beating: asyncio.Task[None] | None = None

    def open(self, endpoint: Endpoint) -> Replicas:
        """Return the bot at `endpoint`. Raises EndpointError."""
        replicas = open_endpoint(endpoint, refuse_private=self._refuse_private)
        self._opened.append(replicas)
        return replicas

    async def require(self, endpoint: Endpoint) -> None:
        """Check that the bot at `endpoint` can be opened here, without asking it. Raises EndpointError."""
        await open_endpoint(endpoint, refuse_private=self._refuse_private).close()

    def load(self, connection: Connection) -> None:
        """Take the registered bots from the database."""
        for row in registration.registrations(connection):
            self.apply(row.name, row.endpoint, row.enabled)

    def apply(self, name: str, endpoint: Endpoint | None, enabled: bool) -> None:
        """Hold the bot `name` as it is registered now; `endpoint` is None when it is no longer.

        Replicas that are new answer at once; those that are no longer there finish what they are at. A bot
        that cannot be opened here is gone, and `registered` says why.
        """
        bot = self._registered.setdefault(name, Registered(name))
        bot.endpoint = endpoint
        if endpoint is None:
            self._forget(bot)
            return
        try:
            self._fit(bot, endpoint)
            bot.fault = ""
        except EndpointError as error:
            bot.fault = str(error)
        if bot.fault or not enabled:
            bot.leave(bot.fault or "it is disabled")
        else:
            bot.come_back()

    def registered(self, name: str) -> Bot | None:
        """Return the bot that is registered as `name`. Raises EndpointError: it could not be opened."""
        bot = self._registered.get(name)
        if bot is not None and bot.fault:
            raise EndpointError(bot.fault)
        return bot if bot is not None and bot.known else None

    def endpoint(self, name: str) -> Endpoint | None:
        """Return what a bot is registered with."""
        bot = self._registered.get(name)
        return None if bot is None else bot.endpoint

    def names(self) -> tuple[str, ...]:
        """Return the names of the registered bots."""
        return tuple(sorted(name for name, bot in self._registered.items() if bot.known))

    def states(self, name: str) -> tuple[ReplicaState, ...]:
        """Return how each replica of a registered bot does."""
        bot = self._registered.get(name)
        return () if bot is None or bot.replicas is None else bot.replicas.states()

    def attach(self, name: str, replica: Replica) -> None:
        """Have a host that has dialled in answer for the registered bot `name`.

        Raises:
            KeyError: no bot is registered as `name`.
            ValueError: it has a replica with this url already.
        """
        self._held(name).add(replica)

    async def detach(self, name: str, replica: Replica) -> None:
        """Send nobody to a host any more, and return when what it was at is over.

        Raises:
            KeyError: it is not there.
        """
        await self._held(name).remove(replica.url)

    def start(self) -> None:
        """Begin to ask the replicas how they are, over and over."""
        self._beating = asyncio.get_running_loop().create_task(self._beat())

    async def close(self) -> None:
        """Stop asking, and let go of every connection."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        for replicas in self._everyone():
            await replicas.close()

    def _held(self, name: str) -> Replicas:
        bot = self._registered.get(name)
        if bot is None or bot.replicas is None:
            raise KeyError(name)
        return bot.replicas

    def _everyone(self) -> list[Replicas]:
        held = (bot.replicas for bot in self._registered.values() if bot.replicas is not None)
        return [*self._opened, *held]

    def _forget(self, bot: Registered) -> None:
        bot.leave("it is no longer registered")
        bot.fault = ""
        if bot.replicas is not None:
            self._let(bot.replicas.close())
            bot.replicas = None

    def _fit(self, bot: Registered, endpoint: Endpoint) -> None:
        """Give the bot the replicas that `endpoint` names. Raises EndpointError."""
        if bot.replicas is None:
            bot.replicas = open_endpoint(endpoint, refuse_private=self._refuse_private)
        if isinstance(endpoint, DialInEndpoint):
            return
        there = bot.replicas.urls()
        for url in endpoint.urls:
            if url not in there:
                bot.replicas.add(open_replica(endpoint, url, refuse_private=self._refuse_private))
        for url in there:
            if url not in endpoint.urls:
                self._let(bot.replicas.remove(url))

    def _let(self, leaving: Coroutine[None, None, None]) -> None:
        """Let a replica take its leave in the background."""
        task = asyncio.get_running_loop().create_task(leaving)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _beat(self) -> None:
        under_way: dict[Replicas, asyncio.Task[None]] = {}
        try:
            while True:
                await asyncio.sleep(self._heartbeat)
                # A bot that is slow to answer keeps no other waiting.
                under_way = {replicas: task for replicas, task in under_way.items() if not task.done()}
                for replicas in self._everyone():
                    if replicas not in under_way:
                        under_way[replicas] = asyncio.get_running_loop().create_task(_probe(replicas))
        finally:
            for task in under_way.values():
                task.cancel()
            await asyncio.gather(*under_way.values(), return_exceptions=True)


async def _probe(replicas: Replicas) -> None:
    try:
        await replicas.probe()
    except Exception:  # a heartbeat that fails by a fault of ours must not be the last one
        log.exception("heartbeat failed", replicas=replicas.urls())


def _cancelled() -> bool:
    """Whether the running task itself was told to stop."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
