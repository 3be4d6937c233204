"""The bots of this process, none of which computes in it: opened once, changed while they answer.

What the database has of the registered ones is in `stored_bots`; `registered_bots` keeps the two in step.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from datetime import datetime
from functools import partial
from hashlib import sha256
from weakref import WeakSet

import structlog
from sqlalchemy import Connection

from bots import (
    Bot,
    BotError,
    BotGone,
    Chat,
    DialInEndpoint,
    Endpoint,
    EndpointError,
    Moderation,
    Replica,
    Replicas,
    ReplicaState,
    Reply,
    StreamAsker,
    StreamConsumer,
    StreamReplica,
    WorkCount,
    failure,
    open_endpoint,
    open_replica,
)
from server.bots import stored_bots
from server.bots.bot_hosts import BotHosts
from server.bots.earlier_replies import EarlierReplies
from server.bots.people import People
from server.bots.stored_bots import Registration
from server.db.store.store import Store
from server.news import News, Payload

_ROOM = 64  # asks that a host has of others at the same time: one batch that it computes, one that gathers


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


HEARTBEAT = 5.0  # seconds between two questions how a replica is
TOPIC = "outages"  # of news: a replica answers nobody for long, or answers again
log = structlog.get_logger()


class BotHandle:
    """A registered bot for as long as this process runs, whatever becomes of its registration.

    Runs keep it: they see replicas come and go, and the bot disabled, deleted, or registered again.
    """

    def __init__(self, name: str) -> None:
        """Stand for the bot `name`, which is unavailable until it is given replicas and enabled."""
        self.name = name
        self.registered_at: datetime | None = None
        self.endpoint: Endpoint | None = None
        self.replicas: Replicas | None = None
        self.fault = ""  # why there are no replicas, where the bot is registered all the same
        self.unavailable = "it is not registered"  # why it answers nobody; empty: it answers
        self._calls: set[asyncio.Task[Reply]] = set()

    async def reply(self, chat: Chat) -> Reply:
        """Return what the bot says.

        Raises:
            BotGone: it is disabled or deleted, or became so while it was thinking.
            BotError: no replica could answer.
        """
        if self.replicas is None or self.unavailable:
            raise BotGone(f"{self.name}: {self.unavailable}")
        call = asyncio.get_running_loop().create_task(self.replicas.reply(chat))
        self._calls.add(call)
        try:
            return await call
        except asyncio.CancelledError as error:
            if self.unavailable and call.cancelled() and not _cancelled():
                raise BotGone(f"{self.name}: {self.unavailable}") from error
            raise
        finally:
            self._calls.discard(call)

    @property
    def is_registered(self) -> bool:
        """Whether the bot is registered now."""
        return self.replicas is not None or bool(self.fault)

    @property
    def is_down(self) -> bool:
        """Whether it is known to answer nobody at the moment, so that no worker should be given it."""
        return self.replicas is None or bool(self.unavailable) or self.replicas.is_down

    def stop_answering(self, reason: str) -> None:
        """Answer nobody any more, nor those who wait: a bot may be disabled because it hangs."""
        self.unavailable = reason
        for call in self._calls:
            call.cancel()

    def start_answering(self) -> None:
        """Answer from now on."""
        self.unavailable = ""


class OpenedBots:
    """Opens endpoints and builtin bots, and holds the registered bots by name.

    Belongs, once a bot is asked, to the event loop that asked it. `load` before it is used, `start` in the
    loop, `close` at the end.
    """

    def __init__(
        self,
        *,
        refuse_private: bool,
        bot_hosts: int = 1,
        redis_url: str | None = None,
        heartbeat: float = HEARTBEAT,
        moderation: Moderation | None = None,
    ) -> None:
        """Hold no bot yet.

        Args:
            refuse_private: connect to public addresses only.
            bot_hosts: processes in which the builtin bots compute.
            redis_url: where hosts of bots that dial in are asked too, those of other processes among them.
            heartbeat: seconds between two questions how the replicas are.
            moderation: a service that judges what bots say in their check, if there is one.
        """
        self.people = People()
        self.moderation = moderation
        self._bot_hosts = BotHosts(bot_hosts)
        self._shared = None if redis_url is None else SharedWork(redis_url)
        self._refuse_private = refuse_private
        self._heartbeat = heartbeat
        self._opened: list[Replicas] = []
        self._known_by: dict[str, WeakSet[Replicas]] = {}
        self._news: News | None = None
        self._registered: dict[str, BotHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._heartbeats: asyncio.Task[None] | None = None

    def open(self, endpoint: Endpoint) -> Replicas:
        """Return the bot at `endpoint`. Raises EndpointError."""
        replicas = open_endpoint(endpoint, refuse_private=self._refuse_private)
        self._opened.append(replicas)
        self._share_outages(sha256(endpoint.model_dump_json().encode()).hexdigest(), replicas)
        return replicas

    def built_in(
        self, spec: str, corpus: str, earlier: EarlierReplies | None = None, language: str = "en"
    ) -> Bot:
        """Return the builtin bot `spec` over `corpus`, both of which must have been found to be good.

        It answers once this is started. `earlier`: what systems have said, for a qc bot that draws from that.
        `language`: that of the corpus.
        """
        return self._bot_hosts.open(spec, corpus, earlier, language)

    async def require_openable(self, endpoint: Endpoint) -> None:
        """Check that the bot at `endpoint` can be opened here, without asking it. Raises EndpointError."""
        await open_endpoint(endpoint, refuse_private=self._refuse_private).close()

    def load(self, connection: Connection) -> None:
        """Take the registered bots from the database."""
        for row in stored_bots.registrations(connection):
            self.hold(row)

    def hold(self, row: Registration) -> None:
        """Hold a bot as it is registered now.

        Replicas that are new answer at once; those that are no longer there finish what they are at. A bot
        that cannot be opened here answers nobody, and `registered` raises why.
        """
        bot = self._registered.setdefault(row.name, BotHandle(row.name))
        if bot.registered_at not in {None, row.created_at}:
            self.forget(row.name)  # another process has deleted it, and registered another bot by its name
        bot.registered_at, bot.endpoint = row.created_at, row.endpoint
        try:
            self._set_replicas(bot, row.endpoint)
            bot.fault = ""
        except EndpointError as error:
            bot.fault = str(error)
        if bot.fault or not row.enabled:
            bot.stop_answering(bot.fault or "it is disabled")
        else:
            bot.start_answering()

    def forget(self, name: str) -> None:
        """Hold a bot no longer, because it is registered no longer. Nothing happens where it was not held."""
        bot = self._registered.get(name)
        if bot is None:
            return
        bot.stop_answering("it is no longer registered")
        bot.registered_at, bot.endpoint, bot.fault = None, None, ""
        if bot.replicas is not None:
            self._in_background(bot.replicas.close())
            bot.replicas = None
            if self._shared is not None:
                self._in_background(self._shared.forget(name))

    def registered(self, name: str) -> Bot | None:
        """Return the bot that is registered as `name`. Raises EndpointError: it could not be opened."""
        bot = self._registered.get(name)
        if bot is not None and bot.fault:
            raise EndpointError(bot.fault)
        return bot if bot is not None and bot.is_registered else None

    def endpoint(self, name: str) -> Endpoint | None:
        """Return what a bot is registered with; None where it is not."""
        bot = self._registered.get(name)
        return None if bot is None else bot.endpoint

    def names(self) -> tuple[str, ...]:
        """Return the names of the registered bots."""
        return tuple(sorted(name for name, bot in self._registered.items() if bot.is_registered))

    def states(self, name: str) -> tuple[ReplicaState, ...]:
        """Return how each replica of a registered bot does; none where there is no such bot."""
        bot = self._registered.get(name)
        return () if bot is None or bot.replicas is None else bot.replicas.states()

    def work_counts(self) -> Mapping[str, WorkCount]:
        """Return how many hosts and asks Redis has for each bot that dials in; nothing without a Redis."""
        return {} if self._shared is None else self._shared.counts()

    def attach(self, name: str, replica: Replica) -> None:
        """Have a host that has dialled in answer for the registered bot `name`.

        With a Redis it answers what other processes ask, too. Here it is asked without that: also while
        Redis is away.

        Raises:
            KeyError: no bot is registered as `name`.
            ValueError: it has a replica with this url already.
        """
        self._replicas_of(name).add(replica)
        if self._shared is not None:
            self._shared.share(name, replica)

    async def detach(self, name: str, replica: Replica) -> None:
        """Send nobody to a host any more, at once; return when what it was at is over.

        Raises:
            KeyError: it answers for no such bot.
        """
        replicas = self._replicas_of(name)
        if self._shared is None:
            await replicas.remove(replica.url)
        else:
            await asyncio.gather(self._shared.end(name, replica.url), replicas.remove(replica.url))

    def start(self, store: Store | None = None, news: News | None = None) -> None:
        """Start the bot hosts; begin to ask the replicas how they are, over and over.

        `store`: where people are found who answer in the place of bots; None: nobody does. `news`: tells
        other processes of replicas that answer nobody.
        """
        if news is not None:
            self._news = news
            news.subscribe(TOPIC, self._hear)
        if store is not None:
            self.people.start(store)
        self._bot_hosts.start()
        if self._shared is not None:
            self._shared.start()
        self._heartbeats = asyncio.get_running_loop().create_task(self._send_heartbeats())

    async def close(self) -> None:
        """Stop asking, close every connection, and end the bot hosts."""
        await self.people.close()
        await self._bot_hosts.close()
        if self._heartbeats is not None:
            self._heartbeats.cancel()
            await asyncio.gather(self._heartbeats, return_exceptions=True)
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        for replicas in self._all_replicas():
            await replicas.close()
        if self._shared is not None:
            await self._shared.close()

    def _replicas_of(self, name: str) -> Replicas:
        bot = self._registered.get(name)
        if bot is None or bot.replicas is None:
            raise KeyError(name)
        return bot.replicas

    def _all_replicas(self) -> list[Replicas]:
        held = (bot.replicas for bot in self._registered.values() if bot.replicas is not None)
        return [*self._opened, *held]

    def _set_replicas(self, bot: BotHandle, endpoint: Endpoint) -> None:
        """Give the bot the replicas that `endpoint` names. Raises EndpointError."""
        if bot.replicas is None:
            bot.replicas = open_endpoint(endpoint, refuse_private=self._refuse_private)
            self._share_outages(bot.name, bot.replicas)
            if isinstance(endpoint, DialInEndpoint) and self._shared is not None:
                bot.replicas.add(self._shared.replica(bot.name))
        if isinstance(endpoint, DialInEndpoint):
            return
        there = bot.replicas.urls()
        for url in endpoint.urls:
            if url not in there:
                bot.replicas.add(open_replica(endpoint, url, refuse_private=self._refuse_private))
        for url in there:
            if url not in endpoint.urls:
                self._in_background(bot.replicas.remove(url))

    def _share_outages(self, bot: str, replicas: Replicas) -> None:
        """Tell other processes of outages of these replicas, and hear of theirs. All know them by `bot`."""
        self._known_by.setdefault(bot, WeakSet()).add(replicas)
        replicas.tell_outages(partial(self._tell, bot))

    def _tell(self, bot: str, url: str, error: BotError | None) -> None:
        if self._news is not None:
            found = error and {"kind": error.kind, "reason": str(error), "out": error.out}
            self._news.publish(TOPIC, {"bot": bot, "url": url, "failure": found})

    def _hear(self, payload: Payload) -> None:
        found, error = payload["failure"], None
        if found is not None:
            error = failure(found["kind"], found["reason"])
            error.out = found["out"]
        for replicas in tuple(self._known_by.get(payload["bot"], ())):
            replicas.take_outage(payload["url"], error)

    def _in_background(self, closing: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(closing)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _send_heartbeats(self) -> None:
        under_way: dict[Replicas, asyncio.Task[None]] = {}
        try:
            while True:
                await asyncio.sleep(self._heartbeat)
                # A bot that is slow to answer keeps no other waiting.
                under_way = {replicas: task for replicas, task in under_way.items() if not task.done()}
                for replicas in self._all_replicas():
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
