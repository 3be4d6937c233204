"""Lines of studies with `moderation: classifier` are judged by the moderation service, beside all else."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import structlog
from sqlalchemy import Connection
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from bots import BotError, ChatRefused, Judgement, Moderation, backoff
from server.clock import utc_now
from server.db.jobs import release_lease, take_lease
from server.db.moderation import UnjudgedLine, store_judgements, unjudged_lines
from server.db.runs import all_runs
from server.db.store import Store
from server.errors import StorageFailed
from server.periodic import PeriodicTask
from server.study import parse_study

SECONDS = 5.0  # between two looks
AT_ONCE = 32  # lines in a request
_PAUSE = 1.0  # seconds between two requests, at least: 32 lines a second are more than a run has
_TRIES = 3
_LONGEST_WAIT = 10.0  # seconds between two tries; with the time of an answer less than the lease
_LEASE = "moderation"
log = structlog.get_logger()


class ModerationJob:
    """Has the lines judged that are not yet, in one process of those that serve; no worker waits for it.

    What is judged is stored at once, and is not asked about again. While the service is away lines wait, and
    the pause between two looks grows. A line that it does not take, where it takes others, is stored as one
    that it would not judge.

    Args:
        store: where the runs are.
        service: judges lines; None: there is none, and lines wait.
        now: tells the time.
        pause: seconds between two requests; tries of one have longer and longer pauses, beginning with it.
    """

    def __init__(
        self,
        store: Store,
        service: Moderation | None,
        now: Callable[[], datetime] = utc_now,
        pause: float = _PAUSE,
    ) -> None:
        self._store = store
        self._service = service
        self._now = now
        self._pause = pause
        self._backoff = backoff(pause, longest=_LONGEST_WAIT / 2, growth=3.0)
        self._holder = secrets.token_hex(8)
        self._not_before: datetime | None = None
        self._closing = asyncio.Event()
        self._task = PeriodicTask(self.look, SECONDS, "lines were not judged by the moderation service")

    def start(self) -> None:
        """Begin to look."""
        self._task.start()

    async def close(self) -> None:
        """Look no more; lines that are being judged are stored, and no other ones are asked about."""
        self._closing.set()
        await self._task.stop()
        with suppress(StorageFailed):
            await self._store.submit(lambda connection: release_lease(connection, self._holder))

    async def look(self) -> None:
        """Have every line judged that is not yet, unless another process does.

        Raises:
            BotError: the service does not answer, or nothing of use.
            StorageFailed: the database could not be asked, or not write.
        """
        service = self._service
        if service is None or (self._not_before is not None and self._now() < self._not_before):
            return
        while not self._closing.is_set() and (lines := await self._mine()):
            await self._judge(service, lines)
            await self._wait(self._pause)

    async def _mine(self) -> Sequence[UnjudgedLine]:
        """Return lines for this process to have judged; none where another one does that."""
        run_ids = await self._store.read(_judged_runs)
        if not run_ids or not await self._store.read(lambda c: unjudged_lines(c, run_ids, 1)):
            return ()
        if not await self._take_lease():
            return ()
        return await self._store.read(lambda c: unjudged_lines(c, run_ids, AT_ONCE))

    async def _judge(self, service: Moderation, lines: Sequence[UnjudgedLine]) -> None:
        try:
            judgements = await self._asked(service, lines)
        except ChatRefused:
            await self._judge_apart(service, lines)
        else:
            await self._keep(dict(zip(lines, judgements, strict=True)))

    async def _judge_apart(self, service: Moderation, lines: Sequence[UnjudgedLine]) -> None:
        """Ask about each line by itself, so that one that is not taken keeps no other from being judged.

        Raises:
            ChatRefused: the service takes none of them, so that the lines are not the reason.
        """
        refused: dict[UnjudgedLine, None] = {}
        for line in lines:
            await self._wait(self._pause)
            try:
                (judgement,) = await self._asked(service, [line])
            except ChatRefused:
                refused[line] = None
                if len(refused) == len(lines):
                    raise
            else:
                await self._keep({line: judgement})
        await self._keep(refused)

    async def _keep(self, judged: Mapping[UnjudgedLine, Judgement | None]) -> None:
        await self._store.submit(lambda connection: store_judgements(connection, judged, self._now()))

    async def _asked(self, service: Moderation, lines: Sequence[UnjudgedLine]) -> list[Judgement]:
        """Ask about lines, a few times where the service is busy or away. Raises BotError."""
        texts = [line.text for line in lines]
        try:
            return await self._retrying()(self._ask_once, service, texts)
        except BotError as error:
            if error.after is not None:
                self._not_before = self._now() + timedelta(seconds=error.after)
            raise

    async def _ask_once(self, service: Moderation, texts: Sequence[str]) -> list[Judgement]:
        await self._take_lease()
        return await service.judge(texts)

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(
            retry=retry_if_exception(_may_help),
            stop=lambda state: self._closing.is_set() or stop_after_attempt(_TRIES)(state),
            wait=self._pause_before,
            sleep=self._wait,
            reraise=True,
        )

    def _pause_before(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        named = error.after if isinstance(error, BotError) else None
        return self._backoff(state) if named is None else named

    async def _take_lease(self) -> bool:
        return await self._store.submit(lambda c: take_lease(c, _LEASE, self._holder, self._now()))

    async def _wait(self, seconds: float) -> None:
        """Wait, but not for the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()


def _may_help(error: BaseException) -> bool:
    """Return whether asking again may help; who is told to wait for long waits without holding the lease."""
    return isinstance(error, BotError) and error.retry and (error.after or 0.0) <= _LONGEST_WAIT


def _judged_runs(connection: Connection) -> list[int]:
    """Return the runs whose lines the service is sent."""
    return [run.id for run in all_runs(connection) if parse_study(run.yaml).moderation == "classifier"]
