"""Messages between the processes of a server. Losing one is harmless: the database has it too."""

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import RedisError

from candor.common.network import redis_pool

Payload = Mapping[str, Any]  # JSON values
Handler = Callable[[Payload], None]
log = structlog.get_logger()
_SECONDS = 5.0  # after which Redis counts as lost
_MOST_WAITING = 1_000
_BACKOFF = ExponentialWithJitterBackoff(base=0.1, cap=2.0)


class News:
    """Messages within this process. For one event loop, between `start` and `close`."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = {}

    def subscribe(self, topic: str, handler: Handler) -> None:
        """Call `handler` with the payload of every message of `topic`; it must not wait."""
        self._handlers.setdefault(topic, []).append(handler)

    def publish(self, topic: str, payload: Payload) -> None:
        """Send a message to the subscribers of `topic`. Returns at once and never raises; it may be lost."""
        for handler in self._handlers.get(topic, ()):
            try:
                handler(payload)
            except Exception:  # an error in a subscriber must not harm the publisher
                log.exception("news was not taken", topic=topic)

    def start(self) -> None:
        """Start receiving messages from other processes, of which there are none."""

    async def close(self) -> None:
        """Stop sending and receiving."""


class RedisNews(News):
    """Send messages to every process that shares the Redis at a URL; within this process without Redis.

    A lost connection is made again, however long it takes. Messages sent meanwhile are lost to the other
    processes. The log says once that the connection is lost, and once that it is back.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._process = secrets.token_hex(8)
        pool = redis_pool(
            url,
            socket_timeout=_SECONDS,
            socket_connect_timeout=_SECONDS,
            health_check_interval=_SECONDS,
            retry=Retry(NoBackoff(), 0),  # `_listen_forever` retries, and logs it
        )
        self._redis = Redis.from_pool(pool)
        # Redis' publish and subscribe ignores database numbers, so the channel's name has it.
        number = self._redis.connection_pool.connection_kwargs.get("db", 0)
        self._channel = f"candor:{number}:news"
        self._waiting: asyncio.Queue[str] = asyncio.Queue(_MOST_WAITING)
        self._tasks: list[asyncio.Task[None]] = []
        self.connected = asyncio.Event()

    def publish(self, topic: str, payload: Payload) -> None:
        """Send a message to the subscribers of `topic`: here at once, elsewhere soon."""
        super().publish(topic, payload)
        told = json.dumps({"from": self._process, "topic": topic, "payload": payload})
        if self.connected.is_set() and not self._waiting.full():
            self._waiting.put_nowait(told)

    def start(self) -> None:
        """Start receiving messages from other processes."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._listen_forever()), loop.create_task(self._send_forever())]

    async def close(self) -> None:
        """Stop sending and receiving."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._redis.aclose()

    async def _listen_forever(self) -> None:
        failures = 0
        while True:
            try:
                async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
                    await channel.subscribe(self._channel)
                    await channel.ping()
                    if failures:
                        log.info("redis is back", subject="news")
                    failures = 0
                    self.connected.set()
                    await self._hear(channel)
            except (RedisError, OSError) as error:
                if not failures:
                    log.warning("redis is lost", subject="news", error=type(error).__name__)
                failures += 1
                self.connected.clear()
                await asyncio.sleep(_BACKOFF.compute(failures))

    async def _hear(self, channel: PubSub) -> None:
        """Receive messages until the connection is lost. Raises RedisError, OSError."""
        while True:
            message = await channel.get_message(timeout=_SECONDS)
            if message is not None and message["type"] == "message":
                self._take(message["data"])

    def _take(self, data: bytes) -> None:
        try:
            told: dict[str, Any] = json.loads(data)
            if told["from"] != self._process:
                super().publish(told["topic"], told["payload"])
        except (ValueError, KeyError, TypeError) as error:
            log.warning("news of no kind", error=type(error).__name__)

    async def _send_forever(self) -> None:
        while True:
            told = await self._waiting.get()
            try:
                await self._redis.publish(self._channel, told)
            except (RedisError, OSError):
                continue  # the message is lost, which is allowed; `_listen_forever` logs the lost connection


def open_news(redis_url: str | None) -> News:
    """Return news between the processes that share a Redis; without one, only within this process."""
    return News() if redis_url is None else RedisNews(redis_url)
