"""Lines of studies with `moderation: classifier` are judged by the moderation service, beside all else."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from bots import BotBusy, BotError, BudgetSpent, ChatRefused, Declined, Judgement, Moderation, backoff
from server.clock import utc_now
from server.db.review.moderation import UnjudgedLine, store_judgements, unjudged_lines
from server.db.runs.runs import open_slugs, studies_of_runs
from server.db.store.store import Store
from server.errors import StorageFailed
from server.lease import Lease
from server.periodic import PeriodicTask
from server.study import parse_study

SECONDS = 5.0  # between two looks
AT_ONCE = 32  # lines in a request
_PAUSE = 1.0  # seconds between two requests, at least: 32 lines a second are more than a run has
_TRIES = 3
_LOOKS = 3  # that fail in a row, before each line is asked about by itself
_PROBE = "Hello."  # what no service has a reason not to take
_OVERLAP = timedelta(minutes=10)  # by which clocks of processes may differ, and commits be late
_LONGEST_WAIT = 10.0  # seconds between two tries; with the time of an answer less than the lease
log = structlog.get_logger()


class ModerationJob:
    """Has the lines judged that are not yet, in one process of those that serve; no worker waits for it.

    What is judged is stored at once, and is not asked about again. While the service is away lines wait, and
    the pause between two looks grows. A line that it does not take, or on which it fails again and again, is
    stored as one that it would not judge, if it takes a harmless one at the same time.

    Args:
        store: where the runs are.
        service: judges lines; None: there is none, and lines wait; the log says of which runs.
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
        self._lease = Lease(store, "moderation", now)
        self._not_before: datetime | None = None
        self._runs = _JudgedRuns()
        self._judged_until: datetime | None = None  # whatever was said before is judged
        self._failed_looks = 0  # in a row
        self._warned: set[int] = set()  # runs
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
            await self._lease.release()

    async def look(self) -> None:
        """Have every line judged that is not yet, unless another process does.

        Raises:
            BotError: the service does not answer, or nothing of use.
            StorageFailed: the database could not be asked, or not write.
        """
        if self._service is None:
            await self._warn()
        elif self._not_before is None or self._now() >= self._not_before:
            with suppress(_LeaseLost):
                await self._look(self._service)

    async def _look(self, service: Moderation) -> None:
        while not self._closing.is_set() and (lines := await self._mine()):
            try:
                await self._judge(service, lines)
            except BotError:
                self._failed_looks += 1
                raise
            self._failed_looks = 0
            await self._wait(self._pause)

    async def _warn(self) -> None:
        """Say of each open run once that nobody judges its lines."""
        runs = await self._store.read(self._runs.open_ones)
        for number in runs.keys() - self._warned:
            log.warning(
                "no moderation service is set, and lines of this run wait for one: set CANDOR_MODERATION_URL",
                run=runs[number],
            )
        self._warned |= runs.keys()

    async def _mine(self) -> Sequence[UnjudgedLine]:
        """Return lines for this process to have judged; none where another one does that."""
        began = self._now()
        run_ids = await self._store.read(self._runs.all)
        if not run_ids or not await self._store.read(partial(self._unjudged, run_ids, 1)):
            self._judged_until = began - _OVERLAP
            return ()
        if not await self._lease.take():
            return ()
        return await self._store.read(partial(self._unjudged, run_ids, AT_ONCE))

    def _unjudged(self, run_ids: Sequence[int], most: int, connection: Connection) -> list[UnjudgedLine]:
        return unjudged_lines(connection, run_ids, most, self._judged_until)

    async def _judge(self, service: Moderation, lines: Sequence[UnjudgedLine]) -> None:
        texts = list(dict.fromkeys(line.text for line in lines))
        try:
            judgements = await self._asked(service, texts)
        except BotError as error:
            if not self._is_of_a_line(error):
                raise
            await self._judge_apart(service, lines)
        else:
            judged = dict(zip(texts, judgements, strict=True))
            await self._keep({line: judged[line.text] for line in lines})

    def _is_of_a_line(self, error: BotError) -> bool:
        """Return whether a failure can be for a line of those that were sent."""
        if isinstance(error, ChatRefused | Declined):
            return True
        return not isinstance(error, BotBusy | BudgetSpent) and self._failed_looks >= _LOOKS

    async def _judge_apart(self, service: Moderation, lines: Sequence[UnjudgedLine]) -> None:
        """Ask about each text by itself, so that one that is not taken keeps no other from being judged.

        Raises:
            BotError: the service is not well, or takes nothing, so that the lines are not the reason.
        """
        for text in dict.fromkeys(line.text for line in lines):
            await self._wait(self._pause)
            judgement = await self._judged_alone(service, text)
            await self._keep({line: judgement for line in lines if line.text == text})

    async def _judged_alone(self, service: Moderation, text: str) -> Judgement | None:
        """Return what the service says of a text; None: it does not take this one, and takes another."""
        try:
            (judgement,) = await self._asked(service, [text])
        except BotError as error:
            if not self._is_of_a_line(error):
                raise
            await self._asked(service, [_PROBE])
            return None
        return judgement

    async def _keep(self, judged: Mapping[UnjudgedLine, Judgement | None]) -> None:
        await self._store.submit(lambda connection: store_judgements(connection, judged, self._now()))

    async def _asked(self, service: Moderation, texts: Sequence[str]) -> list[Judgement]:
        """Ask about texts, a few times where the service is busy or away. Raises BotError."""
        try:
            return await self._retrying()(self._ask_once, service, texts)
        except BotError as error:
            if error.after is not None:
                self._not_before = self._now() + timedelta(seconds=error.after)
            raise

    async def _ask_once(self, service: Moderation, texts: Sequence[str]) -> list[Judgement]:
        if not await self._lease.take():
            raise _LeaseLost
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

    async def _wait(self, seconds: float) -> None:
        """Wait, but not for the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()


def _may_help(error: BaseException) -> bool:
    """Return whether asking again may help; who is told to wait for long waits without holding the lease."""
    return isinstance(error, BotError) and error.retry and (error.after or 0.0) <= _LONGEST_WAIT


class _JudgedRuns:
    """The runs whose lines the service is sent. A run's study never changes: each is read once."""

    def __init__(self) -> None:
        self._judged: dict[int, bool] = {}

    def all(self, connection: Connection) -> list[int]:
        """Return their numbers."""
        for number, yaml in studies_of_runs(connection, self._judged.keys()):
            self._judged[number] = parse_study(yaml).moderation == "classifier"
        return [number for number, judged in self._judged.items() if judged]

    def open_ones(self, connection: Connection) -> dict[int, str]:
        """Return the names of those that are open, by number."""
        return open_slugs(connection, self.all(connection))


class _LeaseLost(Exception):
    """Another process has begun to ask: this one took too long."""
