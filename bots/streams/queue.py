"""The work of bots in Redis: a stream for each bot, a group of consumers, a list of answers."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bots.core.host_protocol import VERSION
from candor.common.network import redis_pool

BEAT = 1.0  # seconds between two heartbeats of a host
LEASE = 5.0  # seconds without a heartbeat after which a host counts as gone, and others claim its work
MOST_PER_HOST = 256  # waiting or running asks for each host
MOST_BEGUN = 3  # attempts at one ask: an ask that crashes its host must not crash all hosts
_KEPT = 60.0  # seconds that a stream without hosts, or an answer that nobody fetches, is kept
_SECONDS = 5.0  # until Redis counts as lost; longer than any read blocks
_GROUP = "hosts"

# Lua scripts, each of which changes a queue in one atomic step. They use the clock of Redis, in milliseconds,
# because the clocks of hosts and asking processes may differ.
_NOW = "local time = redis.call('TIME')\nlocal now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
# A stream expires some time after the last host and the last work.
_KEEP = """
local function keep(stream, milliseconds)
    if redis.call('PTTL', stream) < milliseconds then redis.call('PEXPIRE', stream, milliseconds) end
end
"""

# KEYS: stream, hosts. ARGV: ask, its time limit, key of the answers, most asks for each host, lease, time to
# keep the stream.
_ADD = f"""{_NOW}{_KEEP}
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[5])
local hosts = redis.call('ZCARD', KEYS[2])
if hosts == 0 then return {{'nobody', 0}} end
local waiting = redis.call('XLEN', KEYS[1])
if waiting >= hosts * ARGV[4] then return {{'full', waiting}} end
local fields = {{'ask', ARGV[1], 'until', string.format('%.0f', now + ARGV[2]), 'answers', ARGV[3]}}
local id = redis.call('XADD', KEYS[1], '*', unpack(fields))
keep(KEYS[1], ARGV[2] + ARGV[6])
return {{'added', id}}
"""

# KEYS: stream, hosts. ARGV: group, consumer, whether it takes work, lease, time to keep the stream, most work
# to claim, cursor of claiming, most attempts at an ask, and the ids under way.
# Returns: now, ids that are gone, claimed work, cursor of claiming.
_BEAT = f"""{_NOW}{_KEEP}
redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
if ARGV[3] == '1' then
    redis.call('ZADD', KEYS[2], now, ARGV[2])
else
    redis.call('ZREM', KEYS[2], ARGV[2])
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
keep(KEYS[1], tonumber(ARGV[5]))
local lost = {{}}
for at = 9, #ARGV do
    if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[at], ARGV[at], 1, ARGV[2]) == 1 then
        redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[at], 'JUSTID')
    else
        lost[#lost + 1] = ARGV[at]
    end
end
local claimed, cursor = {{}}, '0-0'
if tonumber(ARGV[6]) > 0 then
    local found = redis.call(
        'XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[4], ARGV[7], 'COUNT', ARGV[6])
    cursor = found[1]
    for _, work in ipairs(found[2]) do
        local pending = redis.call('XPENDING', KEYS[1], ARGV[1], work[1], work[1], 1)
        if pending[1][4] > tonumber(ARGV[8]) then
            redis.call('XACK', KEYS[1], ARGV[1], work[1])
            redis.call('XDEL', KEYS[1], work[1])
        else
            claimed[#claimed + 1] = work
        end
    end
end
for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    if each[4] == 0 and each[6] > 10 * ARGV[4] then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], each[2])
    end
end
return {{string.format('%.0f', now), lost, claimed, cursor}}
"""

# KEYS: stream, answers. ARGV: group, id, answer or nothing, time to keep the answer.
# Work that is gone is not answered: it was answered by another host, or cancelled.
_FINISH = """
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 and ARGV[3] ~= '' then
    redis.call('RPUSH', KEYS[2], ARGV[3])
    redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
"""

# KEYS: stream, hosts. ARGV: group, consumer. Others can claim its unfinished work at once.
_LEAVE = """
redis.call('ZREM', KEYS[2], ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return end
local begun = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 10000, ARGV[2])
if begun.err then return end
for _, each in ipairs(begun) do
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, each[1], 'IDLE', 86400000, 'JUSTID')
end
if #begun == 0 then redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2]) end
if redis.call('ZCARD', KEYS[2]) == 0 and redis.call('XLEN', KEYS[1]) == 0 then redis.call('DEL', KEYS[1]) end
"""

# KEYS: streams. ARGV: an id for each. Returns the numbers, from 1, of the ids that are missing.
_MISSING = """
local missing = {}
for at, id in ipairs(ARGV) do
    if #redis.call('XRANGE', KEYS[at], id, id) == 0 then missing[#missing + 1] = at end
end
return missing
"""

# KEYS: stream, hosts. ARGV: lease. Returns the number of hosts, and of asks.
_COUNT = f"""{_NOW}
return {{redis.call('ZCOUNT', KEYS[2], now - ARGV[1], '+inf'), redis.call('XLEN', KEYS[1])}}
"""


@dataclass(frozen=True, slots=True)
class StreamWork:
    """An ask that a consumer has taken: a frame of the hosts' protocol, and the seconds left to answer it."""

    id: bytes
    ask: bytes
    answers: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class Beat:
    """The result of a heartbeat: ids of own work that is gone, and work claimed from other hosts."""

    lost: Sequence[bytes]
    claimed: Sequence[StreamWork]


@dataclass(frozen=True, slots=True)
class WorkCount:
    """The number of hosts that work for a bot, and of its waiting or running asks."""

    hosts: int = 0
    waiting: int = 0


class NobodyThere(Exception):
    """No host works for the bot."""


class QueueFull(Exception):
    """The queue is full; `waiting` asks are in it."""

    def __init__(self, waiting: int) -> None:
        super().__init__(waiting)
        self.waiting = waiting


def connect(url: str, password: str | None = None) -> Redis:
    """Return a client of the Redis at `url`, with `password` if the url has none; nothing is sent yet.

    Raises:
        ValueError: `url` is not the URL of a Redis.
    """
    pool = redis_pool(
        url,
        password=password,
        protocol=2,
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        retry=Retry(NoBackoff(), 1),  # for an idle connection that a restart of Redis has closed
    )
    return Redis.from_pool(pool)


def require_wanted() -> None:
    """Raise CancelledError if the running task was cancelled, for loops that call Redis over and over.

    Python 3.11's `wait_for`, which redis-py uses, loses a cancellation that comes as it ends.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class WorkQueue:
    """The work of the bot `name`. Every method raises RedisError or OSError if Redis is away."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._redis = redis
        # Hosts with another version of the protocol do not see this work.
        self._stream = f"candor:work:{VERSION}:{name}"
        self._hosts = f"candor:hosts:{VERSION}:{name}"
        self._add = redis.register_script(_ADD)
        self._beat = redis.register_script(_BEAT)
        self._finish = redis.register_script(_FINISH)
        self._leave = redis.register_script(_LEAVE)
        self._count = redis.register_script(_COUNT)
        self._cursor: bytes | str = "0-0"

    @property
    def stream(self) -> str:
        """The key of the stream."""
        return self._stream

    async def add(self, ask: str, seconds: float, answers: str, most_per_host: int) -> bytes:
        """Add an ask, to be answered to the list `answers` within `seconds`; return its id.

        Raises:
            NobodyThere: no host works for the bot.
            QueueFull: there are already `most_per_host` asks for each host.
        """
        arguments: list[str | int] = [ask, _ms(seconds), answers, most_per_host, _ms(LEASE), _ms(_KEPT)]
        outcome, value = await self._add(keys=[self._stream, self._hosts], args=arguments)
        if outcome == b"nobody":
            raise NobodyThere
        if outcome == b"full":
            raise QueueFull(int(value))
        return bytes(value)

    async def beat(self, consumer: str, under_way: Iterable[bytes], room: int, takes: bool) -> Beat:
        """Send a heartbeat; keep the work that is `under_way`, and claim up to `room` asks of lost hosts.

        Creates the group if there is none. `takes`: the consumer counts as a host.
        """
        arguments: list[str | bytes | int] = [_GROUP, consumer, int(takes), _ms(LEASE), _ms(_KEPT)]
        arguments += [room, self._cursor, MOST_BEGUN, *under_way]
        answer = await self._beat(keys=[self._stream, self._hosts], args=arguments)
        now, lost, claimed, self._cursor = answer
        works = [_work(id_, dict(zip(each[::2], each[1::2], strict=True)), int(now)) for id_, each in claimed]
        return Beat(lost, works)

    async def read(self, consumer: str, most: int, seconds: float) -> list[StreamWork]:
        """Return up to `most` new asks, as soon as there are some; none after `seconds`."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.xreadgroup(_GROUP, consumer, {self._stream: ">"}, most, max(_ms(seconds), 1))
            pipeline.time()
            streams, (whole, millionths) = await pipeline.execute()
        now = whole * 1_000 + millionths // 1_000
        return [_work(id_, fields, now) for _, entries in streams or () for id_, fields in entries]

    async def finish(self, id_: bytes, answers: bytes = b"", answer: str = "") -> None:
        """Remove an ask, and add its answer to the list. Does nothing if the ask was removed before."""
        await self._finish(keys=[self._stream, answers], args=[_GROUP, id_, answer, _ms(_KEPT)])

    async def leave(self, consumer: str) -> None:
        """Remove a consumer from the group; others can claim its work. The last deletes an empty stream."""
        await self._leave(keys=[self._stream, self._hosts], args=[_GROUP, consumer])

    async def count(self) -> WorkCount:
        """Return the numbers of hosts and of asks."""
        hosts, waiting = await self._count(keys=[self._stream, self._hosts], args=[_ms(LEASE)])
        return WorkCount(hosts, waiting)


def _work(id_: bytes, fields: dict[bytes, bytes], now: int) -> StreamWork:
    seconds = (int(fields.get(b"until", 0)) - now) / 1_000
    return StreamWork(id_, fields.get(b"ask", b""), fields.get(b"answers", b""), seconds)


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)


class AnswerList:
    """The answers for one asking process. Every method raises RedisError or OSError."""

    def __init__(self, redis: Redis, key: str) -> None:
        self._redis = redis
        self._key = key
        self._missing = redis.register_script(_MISSING)

    async def next(self, seconds: float) -> list[bytes]:
        """Return the available answers as soon as there are some; none after `seconds`."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.blpop([self._key], timeout=seconds)
            pipeline.lpop(self._key, 1_000)
            first, more = await pipeline.execute()
        return ([first[1]] if first else []) + (more or [])

    async def now(self) -> list[bytes]:
        """Return the available answers."""
        return (await _awaited(self._redis.lpop(self._key, 1_000))) or []

    async def missing(self, asked: Sequence[tuple[str, bytes]]) -> list[int]:
        """Return the indices of the asks, each a stream and an id, that are no longer in their streams."""
        keys, ids = [stream for stream, _ in asked], [id_ for _, id_ in asked]
        return [number - 1 for number in await self._missing(keys=keys, args=ids)]

    async def delete(self) -> None:
        """Delete the remaining answers."""
        await self._redis.delete(self._key)


async def _awaited(value: Any) -> Any:
    """Await a command, which redis-py types as if it might not be awaitable."""
    return await value
