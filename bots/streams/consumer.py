"""The answering side: take as much work from a bot's stream as the bot can handle, and answer it."""

import asyncio
import secrets
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace

import structlog
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import AuthenticationError, RedisError

from bots.core.ask import ask
from bots.core.chat import Bot, Provenance
from bots.core.failures import BotError
from bots.core.host_protocol import Ask, Failed, Replied, WireError, failed, frame, from_server, replied
from bots.streams.queue import BEAT, StreamWork, WorkQueue, connect, require_wanted
from candor.common.telemetry import span

FAILURES = 3
PAUSE = 5.0
_BACKOFF = ExponentialWithJitterBackoff(base=0.1, cap=2.0)
log = structlog.get_logger()


class StreamConsumer:
    """Lets `bot` answer the asks for the bot `name` over Redis, until it leaves.

    A bot that fails FAILURES times in a row gets no work for PAUSE seconds, and then a single ask: a bot that
    fails at once would otherwise take the work from working hosts.
    """

    def __init__(
        self, url: str, name: str, bot: Bot, *, label: str, room: int, password: str | None = None
    ) -> None:
        """Prepare; no work is taken yet.

        Args:
            url: of the Redis.
            name: the bot's.
            bot: the bot that answers.
            label: the consumer's name, to which a random suffix is added.
            room: the most asks that `bot` works on at once.
            password: of the Redis, if the url has none.

        Raises:
            ValueError: `url` is not the URL of a Redis.
        """
        self._redis = connect(url, password)
        self._queue = WorkQueue(self._redis, name)
        self._name = name
        self._bot = bot
        self._label = label
        self._consumer = f"{label}-{secrets.token_hex(4)}"
        self._room = room
        self._tasks: dict[bytes, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._leaving = False
        self._reading: asyncio.Future[list[StreamWork]] | None = None
        self._admitted = False
        self._beat_due = 0.0
        self._in_a_row = 0
        self._rests_until = 0.0

    def leave(self) -> None:
        """Let the read under way, of BEAT seconds at most, be the last; `run` returns when all is answered.

        The read is not cancelled: Redis may have given it work already, and this host may be the only one.
        """
        self._leaving = True
        self._changed.set()

    async def run(self) -> None:
        """Take and answer work until told to leave. If cancelled, other consumers can claim its work.

        If Redis is away, it is tried again without a time limit.

        Raises:
            AuthenticationError: Redis refused the password at the first connection.
        """
        failures = 0
        try:
            while self._tasks or not self._leaving:
                require_wanted()
                try:
                    await self._take()
                    if failures:
                        log.info("redis is back", subject="bot work", bot=self._name)
                    failures = 0
                except (RedisError, OSError) as error:  # including NOGROUP: a beat creates the group again
                    if isinstance(error, AuthenticationError) and not self._admitted:
                        raise
                    if not failures:
                        log.warning(
                            "redis is lost", subject="bot work", bot=self._name, error=type(error).__name__
                        )
                    failures += 1
                    self._beat_due = 0.0
                    await asyncio.sleep(_BACKOFF.compute(failures))
        finally:
            await asyncio.shield(self._end())

    async def _end(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _ignore_errors(self._queue.leave(self._consumer))
        await self._redis.aclose()

    async def _take(self) -> None:
        """Take available work, or wait for it until the next beat. Raises RedisError, OSError."""
        loop = asyncio.get_running_loop()
        if not self._beat_due:
            await self._redis.ping()  # Redis does not report a missing password for a longer command
        if loop.time() >= self._beat_due:
            await self._beat()
            self._admitted = True
            self._beat_due = loop.time() + BEAT
        left = max(self._beat_due - loop.time(), 0.001)
        room = self._room_left()
        if room:
            for work in await self._read(room, left):
                self._start(work)
            return
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._changed.wait()

    async def _read(self, room: int, seconds: float) -> list[StreamWork]:
        """Return new work; none if the reading was stopped: what came meanwhile is claimed after a LEASE."""
        self._reading = asyncio.ensure_future(self._queue.read(self._consumer, room, seconds))
        try:
            return await self._reading
        except asyncio.CancelledError:
            require_wanted()
            return []
        finally:
            self._reading = None

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def _beat(self) -> None:
        beat = await self._queue.beat(
            self._consumer, tuple(self._tasks), self._room_left(), takes=not self._leaving
        )
        for id_ in beat.lost:
            if (task := self._tasks.get(id_)) is not None:
                task.cancel()
        for work in beat.claimed:
            log.info("work of a lost host is taken over", bot=self._name)
            self._start(work)

    def _room_left(self) -> int:
        if self._leaving:
            return 0
        if self._in_a_row >= FAILURES:
            rested = asyncio.get_running_loop().time() >= self._rests_until
            return int(rested and not self._tasks)
        return max(self._room - len(self._tasks), 0)

    def _start(self, work: StreamWork) -> None:
        if work.id in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._carry_out(work))
        self._tasks[work.id] = task
        task.add_done_callback(lambda _: self._ended(work.id))

    def _ended(self, id_: bytes) -> None:
        del self._tasks[id_]
        self._changed.set()

    async def _carry_out(self, work: StreamWork) -> None:
        if work.seconds <= 0:
            await _ignore_errors(self._queue.finish(work.id))
            return
        try:
            asked = from_server(work.ask)
            if not isinstance(asked, Ask):
                raise WireError(f"`{asked.type}` is not an ask")
        except WireError as error:
            log.warning("invalid work", bot=self._name, error=str(error))
            await _ignore_errors(self._queue.finish(work.id))
            return
        answer = await self._answer(asked, work.seconds)
        # If this does not reach Redis, the work is claimed again.
        await _ignore_errors(self._queue.finish(work.id, work.answers, frame(answer)))

    async def _answer(self, asked: Ask, seconds: float) -> Replied | Failed:
        try:
            with span("reply", parent=asked.trace):
                reply = await ask(self._bot, asked.chat.chat(), seconds)
        except BotError as error:
            if error.counts_against_replica:
                self._in_a_row += 1
                self._rests_until = asyncio.get_running_loop().time() + PAUSE
                if self._in_a_row >= FAILURES:
                    self._stop_reading()
            if error.provenance is not None:
                error.provenance = self._named(error.provenance)
            return failed(asked.ask, error)
        self._in_a_row = 0
        made = reply.provenance or Provenance()
        return replied(asked.ask, replace(reply, provenance=self._named(made)))

    def _named(self, made: Provenance) -> Provenance:
        """Add this host's label to a provenance, unless another host has named itself in it."""
        return made if made.replica is not None else replace(made, replica=self._label)


async def _ignore_errors(step: Awaitable[object]) -> None:
    """Do the step; ignore errors of Redis."""
    with suppress(RedisError, OSError):
        await step
