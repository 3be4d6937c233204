"""The work of bots as Redis has it: a stream for each bot, a group of consumers, a list of answers."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bots.core.host_protocol import VERSION
from bots.streams import scripts
from bots.streams.redis_pool import redis_pool

BEAT = 1.0  # seconds between two signs of life of a host
LEASE = 5.0  # seconds without one after which a host is gone, and others claim what it had begun
MOST_PER_HOST = 256  # asks that wait or are under way, for each host that is there
MOST_BEGUN = 3  # how often work is begun: what ends every host that begins it must not end all
_KEPT = 60.0  # seconds: a stream without hosts, an answer that nobody fetches
_SECONDS = 5.0  # until Redis counts as lost; longer than any read blocks
_GROUP = "hosts"


@dataclass(frozen=True, slots=True)
class Work:
    """An ask that a consumer has taken: a frame of the hosts' wire, and the seconds left to answer it."""

    id: bytes
    ask: bytes
    answers: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Beat:
    """What a sign of life brings: ids that are under way here no more, and what was claimed of others."""

    lost: Sequence[bytes]
    claimed: Sequence[Work]


@dataclass(frozen=True, slots=True)
class WorkCount:
    """How many hosts work for a bot, and how many asks wait or are under way."""

    hosts: int = 0
    waiting: int = 0


class NobodyThere(Exception):
    """No host works for the bot."""


class QueueFull(Exception):
    """As much waits as may. `waiting` says how much."""

    def __init__(self, waiting: int) -> None:
        super().__init__(waiting)
        self.waiting = waiting


def connect(url: str, password: str | None = None) -> Redis:
    """Return a client of the Redis at `url`, with `password` where the url has none; nothing is sent yet.

    Raises:
        ValueError: it is no URL of a Redis.
    """
    pool = redis_pool(
        url,
        password=password,
        protocol=2,
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        retry=Retry(NoBackoff(), 1),  # a connection that lay idle while Redis was started again
    )
    return Redis.from_pool(pool)


def require_wanted() -> None:
    """Raise CancelledError if the running task was told to stop, for loops that ask Redis over and over.

    Python 3.11's `wait_for`, by which redis-py sends, loses a cancellation that comes as it ends.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class WorkQueue:
    """The work of the bot `name`. Every method raises RedisError or OSError where Redis is away."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._redis = redis
        # Hosts of another version of the wire do not see it.
        self._stream = f"candor:work:{VERSION}:{name}"
        self._hosts = f"candor:hosts:{VERSION}:{name}"
        self._add = redis.register_script(scripts.ADD)
        self._beat = redis.register_script(scripts.BEAT)
        self._finish = redis.register_script(scripts.FINISH)
        self._leave = redis.register_script(scripts.LEAVE)
        self._count = redis.register_script(scripts.COUNT)
        self._cursor: bytes | str = "0-0"

    @property
    def stream(self) -> str:
        """The key of the stream."""
        return self._stream

    async def add(self, ask: str, seconds: float, answers: str, most_per_host: int) -> bytes:
        """Add an ask, to be answered to the list `answers` within `seconds`; return its id.

        Raises:
            NobodyThere: no host works for the bot.
            QueueFull: `most_per_host` asks for each host are there already.
        """
        arguments: list[str | int] = [ask, _ms(seconds), answers, most_per_host, _ms(LEASE), _ms(_KEPT)]
        outcome, value = await self._add(keys=[self._stream, self._hosts], args=arguments)
        if outcome == b"nobody":
            raise NobodyThere
        if outcome == b"full":
            raise QueueFull(int(value))
        return bytes(value)

    async def beat(self, consumer: str, under_way: Iterable[bytes], room: int, takes: bool) -> Beat:
        """Give a sign of life; keep what is `under_way`, and claim up to `room` asks whose hosts are gone.

        It makes the group where there is none. `takes`: the consumer is counted as a host.
        """
        arguments: list[str | bytes | int] = [_GROUP, consumer, int(takes), _ms(LEASE), _ms(_KEPT)]
        arguments += [room, self._cursor, MOST_BEGUN, *under_way]
        answer = await self._beat(keys=[self._stream, self._hosts], args=arguments)
        now, lost, claimed, self._cursor = answer
        works = [_work(id_, dict(zip(each[::2], each[1::2], strict=True)), int(now)) for id_, each in claimed]
        return Beat(lost, works)

    async def read(self, consumer: str, most: int, seconds: float) -> list[Work]:
        """Return up to `most` new asks, as soon as there are some; none after `seconds`."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.xreadgroup(_GROUP, consumer, {self._stream: ">"}, most, max(_ms(seconds), 1))
            pipeline.time()
            streams, (whole, millionths) = await pipeline.execute()
        now = whole * 1_000 + millionths // 1_000
        return [_work(id_, fields, now) for _, entries in streams or () for id_, fields in entries]

    async def finish(self, id_: bytes, answers: bytes = b"", answer: str = "") -> None:
        """Remove an ask, and give its answer to who waits. Nothing happens where it was removed before."""
        await self._finish(keys=[self._stream, answers], args=[_GROUP, id_, answer, _ms(_KEPT)])

    async def leave(self, consumer: str) -> None:
        """Take a consumer out of the group; others can claim what it had begun. The last leaves nothing."""
        await self._leave(keys=[self._stream, self._hosts], args=[_GROUP, consumer])

    async def count(self) -> WorkCount:
        """Return how much there is of both."""
        hosts, waiting = await self._count(keys=[self._stream, self._hosts], args=[_ms(LEASE)])
        return WorkCount(hosts, waiting)


def _work(id_: bytes, fields: dict[bytes, bytes], now: int) -> Work:
    seconds = (int(fields.get(b"until", 0)) - now) / 1_000
    return Work(id_, fields.get(b"ask", b""), fields.get(b"answers", b""), seconds)


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)


class AnswerList:
    """The answers to one process that asks. Every method raises RedisError or OSError."""

    def __init__(self, redis: Redis, key: str) -> None:
        self._redis = redis
        self._key = key
        self._missing = redis.register_script(scripts.MISSING)

    async def next(self, seconds: float) -> list[bytes]:
        """Return what is there, as soon as there is something; nothing after `seconds`."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.blpop([self._key], timeout=seconds)
            pipeline.lpop(self._key, 1_000)
            first, more = await pipeline.execute()
        return ([first[1]] if first else []) + (more or [])

    async def now(self) -> list[bytes]:
        """Return what is there."""
        return (await _awaited(self._redis.lpop(self._key, 1_000))) or []

    async def missing(self, asked: Sequence[tuple[str, bytes]]) -> list[int]:
        """Return which of these asks, each a stream and an id, are not there; answers come before that."""
        keys, ids = [stream for stream, _ in asked], [id_ for _, id_ in asked]
        return [number - 1 for number in await self._missing(keys=keys, args=ids)]

    async def delete(self) -> None:
        """Forget answers that nobody waits for any more."""
        await self._redis.delete(self._key)


async def _awaited(value: Any) -> Any:
    """Return what a command returns, which redis-py types as if it might not be awaited."""
    return await value
