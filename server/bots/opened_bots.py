"""The opened bots of this process: registered bots with changing replicas, and builtin bots in bot hosts."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from hashlib import sha256
from weakref import WeakSet

import structlog
from sqlalchemy import Connection

from bots import Bot, BotError, Chat, Reply
from bots.serving import (
    BotGone,
    DialInEndpoint,
    Endpoint,
    EndpointError,
    Moderation,
    Replica,
    Replicas,
    ReplicaState,
    StreamAsker,
    StreamConsumer,
    StreamReplica,
    WorkCount,
    failure,
    open_endpoint,
)
from server.bots import stored_bots
from server.bots.bot_hosts import BotHosts
from server.bots.earlier_replies import EarlierReplies
from server.bots.people import People
from server.bots.stored_bots import Registration
from server.db.store import Store
from server.news import News, Payload

_ROOM = 64  # calls that a host takes from others at a time: a batch in progress, and the next one


class SharedWork:
    """Calls bot hosts through Redis, and lets hosts connected here answer calls of other processes."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._asker = StreamAsker(redis_url)
        self._replicas: dict[str, StreamReplica] = {}
        self._consumers: dict[tuple[str, str], tuple[StreamConsumer, asyncio.Task[None]]] = {}

    def start(self) -> None:
        """Begin to receive replies."""
        self._asker.start()

    async def close(self) -> None:
        """Stop calling and answering. Other hosts take over unfinished calls of hosts here."""
        tasks = [task for _, task in self._consumers.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._asker.close()

    def replica(self, name: str) -> StreamReplica:
        """Return one replica of the bot `name` that stands for all its hosts at this Redis."""
        self._replicas[name] = self._asker.replica(name)
        return self._replicas[name]

    def counts(self) -> Mapping[str, WorkCount]:
        """Return the numbers of hosts and calls of each bot at the last probe of its replicas."""
        return {name: replica.count for name, replica in self._replicas.items()}

    def share(self, name: str, host: Replica) -> None:
        """Let a host connected to this process answer calls of the bot `name` from any process."""
        consumer = StreamConsumer(self._url, name, host, label=host.url, room=_ROOM)
        task = asyncio.get_running_loop().create_task(consumer.run())
        task.add_done_callback(_report)
        self._consumers[name, host.url] = consumer, task

    async def end(self, name: str, url: str) -> None:
        """Send no more calls to the host at `url`; return when it has answered the open ones."""
        consumer, task = self._consumers.pop((name, url))
        consumer.leave()
        await asyncio.gather(task, return_exceptions=True)

    async def forget(self, name: str) -> None:
        """Let no host of this process answer for the bot `name` any more."""
        self._replicas.pop(name, None)
        urls = [url for called, url in self._consumers if called == name]
        await asyncio.gather(*(self.end(name, url) for url in urls))


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a host takes no work over Redis any more", exc_info=error)


HEARTBEAT = 5.0  # seconds between probes of a replica
TOPIC = "outages"  # of news: a replica has an outage, or has recovered
log = structlog.get_logger()


class BotHandle:
    """A stable handle of a registered bot, which lives as long as this process.

    Runs keep the handle while replicas change, and while the bot is disabled, deleted, or registered again.
    """

    def __init__(self, name: str) -> None:
        """Create the handle of the bot `name`, unavailable until it gets replicas and is enabled."""
        self.name = name
        self.registered_at: datetime | None = None
        self.endpoint: Endpoint | None = None
        self.replicas: Replicas | None = None
        self.fault = ""  # why a registered bot has no replicas
        self.unavailable = "it is not registered"  # why it does not answer; empty if it does
        self._calls: set[asyncio.Task[Reply]] = set()

    async def reply(self, chat: Chat) -> Reply:
        """Return the bot's reply.

        Raises:
            BotGone: the bot is disabled or deleted, also if that happens during the call.
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

    async def fitting_layout(self, chat: Chat) -> str | None:
        """Return the settings of another layout of messages in which a replica answers; None if none does."""
        return None if self.replicas is None else await self.replicas.fitting_layout(chat)

    @property
    def is_registered(self) -> bool:
        """Whether the bot is registered now."""
        return self.replicas is not None or bool(self.fault)

    @property
    def is_down(self) -> bool:
        """Whether it is known not to answer at the moment, so that no worker should be assigned to it."""
        return self.replicas is None or bool(self.unavailable) or self.replicas.is_down

    def stop_answering(self, reason: str) -> None:
        """Stop answering and cancel open calls: a bot may be disabled because it hangs."""
        self.unavailable = reason
        for call in self._calls:
            call.cancel()

    def start_answering(self) -> None:
        """Answer from now on."""
        self.unavailable = ""


class OpenedBots:
    """Opens endpoints and builtin bots, and holds the registered bots by name.

    Call `load` before use, `start` in the event loop, and `close` at the end. After the first call of a bot,
    use it only in that event loop.
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
        """Create it without bots.

        Args:
            refuse_private: connect to public addresses only.
            bot_hosts: the number of processes in which builtin bots compute.
            redis_url: a Redis through which bot hosts of other processes are called, too.
            heartbeat: seconds between probes of replicas.
            moderation: a service that moderates bots' replies in their check, if there is one.
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

    @asynccontextmanager
    async def briefly(self, endpoint: Endpoint) -> AsyncIterator[Replicas]:
        """Open the bot at `endpoint` for a few calls, and close it afterwards. Raises EndpointError."""
        replicas = open_endpoint(endpoint, refuse_private=self._refuse_private)
        try:
            yield replicas
        finally:
            await replicas.close()

    def built_in(
        self, spec: str, corpus: str, earlier: EarlierReplies | None = None, language: str = "en"
    ) -> Bot:
        """Return the builtin bot `spec` over `corpus`. Both must have been checked.

        The bot answers after `start`. `earlier`: earlier replies of systems, for a QC bot that draws from
        them. `language`: the language of the corpus.
        """
        return self._bot_hosts.open(spec, corpus, earlier, language)

    async def require_openable(self, endpoint: Endpoint) -> None:
        """Check that the bot at `endpoint` can be opened here, without calling it. Raises EndpointError."""
        async with self.briefly(endpoint):
            pass

    def load(self, connection: Connection) -> None:
        """Load the registered bots from the database."""
        for row in stored_bots.registrations(connection):
            self.hold(row)

    def hold(self, row: Registration) -> None:
        """Add a bot, or update it to its current registration.

        New replicas answer at once; removed ones finish their open calls. A bot that cannot be opened here
        does not answer, and `registered` raises the reason.
        """
        bot = self._registered.setdefault(row.name, BotHandle(row.name))
        if bot.registered_at not in {None, row.created_at}:
            self.forget(row.name)  # another process has deleted it, and registered another bot with its name
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
        """Remove a bot that is no longer registered. An unknown name is ignored."""
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
        """Return the bot registered as `name`; None if there is none.

        Raises EndpointError if it failed to open.
        """
        bot = self._registered.get(name)
        if bot is not None and bot.fault:
            raise EndpointError(bot.fault)
        return bot if bot is not None and bot.is_registered else None

    def endpoint(self, name: str) -> Endpoint | None:
        """Return the endpoint of a registered bot; None if it is not registered."""
        bot = self._registered.get(name)
        return None if bot is None else bot.endpoint

    def names(self) -> tuple[str, ...]:
        """Return the names of the registered bots."""
        return tuple(sorted(name for name, bot in self._registered.items() if bot.is_registered))

    def states(self, name: str) -> tuple[ReplicaState, ...]:
        """Return the states of a registered bot's replicas; none if there is no such bot."""
        bot = self._registered.get(name)
        return () if bot is None or bot.replicas is None else bot.replicas.states()

    def work_counts(self) -> Mapping[str, WorkCount]:
        """Return the numbers of hosts and calls in Redis for each dial-in bot; nothing without Redis."""
        return {} if self._shared is None else self._shared.counts()

    def attach(self, name: str, replica: Replica) -> None:
        """Let a connected bot host answer for the registered bot `name`.

        With Redis, it also answers calls of other processes. This process calls it directly, even while Redis
        is unreachable.

        Raises:
            KeyError: no bot is registered as `name`.
            ValueError: the bot has a replica with this URL already.
        """
        self._replicas_of(name).add(replica)
        if self._shared is not None:
            self._shared.share(name, replica)

    async def detach(self, name: str, replica: Replica) -> None:
        """Send no more calls to a host; return when its open calls are over.

        Raises:
            KeyError: the host does not answer for this bot.
        """
        replicas = self._replicas_of(name)
        if self._shared is None:
            await replicas.remove(replica.url)
        else:
            await asyncio.gather(self._shared.end(name, replica.url), replicas.remove(replica.url))

    def start(self, store: Store | None = None, news: News | None = None) -> None:
        """Start the bot hosts, and probe replicas periodically.

        Args:
            store: the database for people who answer in place of bots; None if there are none.
            news: announces outages of replicas to other processes.
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
        """Stop probing, close every connection, and end the bot hosts."""
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
        """Set the bot's replicas as in `endpoint`. Raises EndpointError."""
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
                bot.replicas.add(endpoint.open(url, refuse_private=self._refuse_private))
        for url in there:
            if url not in endpoint.urls:
                self._in_background(bot.replicas.remove(url))

    def _share_outages(self, bot: str, replicas: Replicas) -> None:
        """Exchange outages of these replicas with other processes, under the common name `bot`."""
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
                # A slow bot must not delay probes of others.
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
    except Exception:  # a bug must not end the heartbeats
        log.exception("heartbeat failed", replicas=replicas.urls())


def _cancelled() -> bool:
    """Return whether the current task itself was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
