"""The asking side: add work for a bot to its stream, and wait for the answer."""

import asyncio
import secrets
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import structlog
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import RedisError

from bots.core.ask import seconds_left
from bots.core.chat import Chat, Reply
from bots.core.failures import BotBusy, BotError, ChatRefused
from bots.core.host_protocol import Failed, Replied, WireError, ask_frame, from_host
from bots.streams.queue import (
    BEAT,
    MOST_PER_HOST,
    AnswerList,
    NobodyThere,
    QueueFull,
    WorkCount,
    WorkQueue,
    connect,
    require_wanted,
)
from candor.common.telemetry import carrier

_PATIENCE = 60.0  # seconds for an ask without a time limit
_BACKOFF = ExponentialWithJitterBackoff(base=0.1, cap=2.0)
log = structlog.get_logger()


class HostFailed(BotError):
    """A host could not reply. The stream works: the next ask may go to another host."""

    counts_against_replica = False


@dataclass(slots=True)
class _Asked:
    """A pending ask; `id` is None until it is in the stream."""

    queue: WorkQueue
    answer: asyncio.Future[Reply | BotError]
    id: bytes | None = None

    def end(self, answer: Reply | BotError) -> None:
        """Set the result, unless it is set already."""
        if not self.answer.done():
            self.answer.set_result(answer)


class StreamAsker:
    """Asks the hosts that work for a Redis. One for each asking process; `start` it in the event loop.

    An ask that is lost, with Redis or in it, fails soon, and can be made again.
    """

    def __init__(self, url: str, most_per_host: int = MOST_PER_HOST) -> None:
        """Ask over the Redis at `url`; refuse more than `most_per_host` asks for each host.

        Raises:
            ValueError: `url` is not the URL of a Redis.
        """
        self._redis = connect(url)
        self._key = f"candor:answers:{secrets.token_hex(8)}"
        self._answers = AnswerList(self._redis, self._key)
        self._most_per_host = most_per_host
        self._queues: dict[str, WorkQueue] = {}
        self._numbers = count(1)
        self._asked: dict[int, _Asked] = {}
        self._receiving: asyncio.Task[None] | None = None
        self._in_background: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start to receive answers."""
        self._receiving = asyncio.get_running_loop().create_task(self._receive_forever())

    async def close(self) -> None:
        """Stop receiving answers; pending asks fail."""
        if self._receiving is not None:
            self._receiving.cancel()
            await asyncio.gather(self._receiving, return_exceptions=True)
        self._fail_all("this process is about to end")
        await asyncio.gather(*self._in_background, return_exceptions=True)
        with suppress(RedisError, OSError):  # it expires by itself
            await self._answers.delete()
        await self._redis.aclose()

    def replica(self, name: str) -> "StreamReplica":
        """Return all the hosts that work for the bot `name`, as one replica."""
        return StreamReplica(self, name)

    async def ask(self, name: str, chat: Chat) -> Reply:
        """Return the next line of `chat` by the bot `name`. If the caller cancels, the work is removed.

        Raises:
            BotBusy, ChatRefused: the bot cannot take this ask now, or at all.
            BotError: no host works for it, Redis is away or has lost the ask, or the host failed.
        """
        number = next(self._numbers)
        try:
            question = ask_frame(number, name, chat, trace=carrier())
        except ValueError as error:
            raise ChatRefused("the conversation is too long to be sent to a bot host") from error
        asked = _Asked(self._queue(name), asyncio.get_running_loop().create_future())
        self._asked[number] = asked
        adding = asyncio.ensure_future(self._add(asked, question))
        try:
            await asyncio.shield(adding)
            answer = await asked.answer
        except asyncio.CancelledError:
            self._start_task(self._give_up(asked, adding))
            raise
        finally:
            del self._asked[number]
        if isinstance(answer, BotError):
            raise answer
        return answer

    async def count(self, name: str) -> WorkCount:
        """Return the numbers of hosts and of asks for a bot. Raises BotError if Redis is away."""
        try:
            return await self._queue(name).count()
        except (RedisError, OSError) as error:
            raise _away(error) from error

    def _queue(self, name: str) -> WorkQueue:
        if name not in self._queues:
            self._queues[name] = WorkQueue(self._redis, name)
        return self._queues[name]

    async def _add(self, asked: _Asked, question: str) -> None:
        seconds = seconds_left(_PATIENCE)
        try:
            asked.id = await asked.queue.add(question, seconds, self._key, self._most_per_host)
        except NobodyThere:
            raise BotError("no bot host is connected for this bot") from None
        except QueueFull as full:
            raise BotBusy(f"busy: {full.waiting} replies wait or are under way") from None
        except (RedisError, OSError) as error:
            raise _away(error) from error

    async def _give_up(self, asked: _Asked, adding: "asyncio.Future[None]") -> None:
        """Remove a cancelled ask; a host that is working on it stops."""
        with suppress(BotError, RedisError, OSError):  # it is not in the stream, or will expire
            await adding
            if asked.id is not None:
                await asked.queue.finish(asked.id)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._in_background.add(task)
        task.add_done_callback(self._in_background.discard)

    async def _receive_forever(self) -> None:
        failures, looked = 0, asyncio.get_running_loop().time()
        while True:
            require_wanted()
            try:
                for answer in await self._answers.next(BEAT):
                    self._take(answer)
                if failures:
                    log.info("redis is back", subject="bot work")
                failures = 0
                if asyncio.get_running_loop().time() - looked >= BEAT:
                    await self._find_lost()
                    looked = asyncio.get_running_loop().time()
            except (RedisError, OSError) as error:
                if not failures:
                    log.warning("redis is lost", subject="bot work", error=type(error).__name__)
                failures += 1
                self._fail_all("Redis is away")
                await asyncio.sleep(_BACKOFF.compute(failures))

    async def _find_lost(self) -> None:
        """Fail the unanswered asks that Redis has lost, for example because it was flushed."""
        asked = [each for each in self._asked.values() if each.id is not None and not each.answer.done()]
        if not asked:
            return
        missing = await self._answers.missing([(each.queue.stream, each.id or b"") for each in asked])
        # An ask may be missing because it was answered: both happen in one step.
        for answer in await self._answers.now():
            self._take(answer)
        for at in missing:
            asked[at].end(BotError("Redis has lost what was asked"))

    def _take(self, received: bytes) -> None:
        try:
            message = from_host(received)
        except WireError as error:
            log.warning("invalid answer", error=str(error))
            return
        match message:
            case Replied(ask=number) as replied if number in self._asked:
                self._asked[number].end(replied.reply())
            case Failed(ask=number) as failed if number in self._asked:
                self._asked[number].end(_failure_of(failed))

    def _fail_all(self, reason: str) -> None:
        for asked in self._asked.values():
            asked.end(BotError(reason))


class StreamReplica:
    """All the hosts that work for a bot over Redis, as one replica."""

    def __init__(self, asker: StreamAsker, name: str) -> None:
        """Ask for the bot `name`."""
        self._asker = asker
        self._name = name
        self.count = WorkCount()  # as of the latest probe

    @property
    def url(self) -> str:
        """The name that researchers see."""
        return "redis stream"

    async def reply(self, chat: Chat) -> Reply:
        """Return the next line of `chat` by one of the hosts. Raises BotError."""
        return await self._asker.ask(self._name, chat)

    async def probe(self) -> None:
        """Count hosts and asks. Raises BotError: no host works for the bot, or Redis is away."""
        self.count = WorkCount()
        self.count = await self._asker.count(self._name)
        if not self.count.hosts:
            raise BotError("no bot host is connected for this bot")

    async def close(self) -> None:
        """Do nothing: it has no connection of its own."""


def _failure_of(failed: Failed) -> BotError:
    error = failed.error()
    if not error.counts_against_replica:
        return error
    of_host = HostFailed(failed.reason)
    of_host.output, of_host.provenance = error.output, error.provenance
    return of_host


def _away(error: Exception) -> BotError:
    return BotError(f"Redis cannot be asked: {type(error).__name__}")
