"""Send messages of studies with `moderation: classifier` to the moderation service, in the background."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from bots import BotError
from bots.serving import BotBusy, BudgetSpent, ChatRefused, Declined, Moderation, ModerationJudgement
from candor.common.network import backoff
from server.clock import utc_now
from server.db.jobs import Lease
from server.db.review import UnjudgedLine, store_judgements, unjudged_lines
from server.db.runs.runs import open_slugs, studies_of_runs
from server.db.store import Store
from server.errors import StorageFailed
from server.periodic import PeriodicTask
from server.study import parse_study

SECONDS = 5.0  # between queries for new lines
AT_ONCE = 32  # lines per request
_PAUSE = 1.0  # shortest time between requests in seconds: no run has more than 32 lines a second
_TRIES = 3
_LOOKS = 3  # consecutive failures after which each line is sent separately
_PROBE = "Hello."  # a text that no service has a reason to refuse
_OVERLAP = timedelta(minutes=10)  # for differing clocks of processes, and late commits
_LONGEST_WAIT = 10.0  # longest time between attempts in seconds; with the request, it must fit in the lease
log = structlog.get_logger()


class ModerationJob:
    """Sends new lines to the moderation service, in one of the serving processes. Workers do not wait for it.

    Judgements are stored at once and not requested again. While the service is unreachable, lines wait, and
    the pause between queries grows. A line that the service refuses or repeatedly fails on is stored as not
    judged, provided that the service accepts a harmless text at the same time.

    Args:
        store: the database.
        service: the moderation service; None: lines wait, and the log names their runs.
        now: returns the current time.
        pause: seconds between requests; repeated attempts have growing pauses, starting with it.
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
        """Start the periodic job."""
        self._task.start()

    async def close(self) -> None:
        """Stop the job. Judgements of a running request are stored."""
        self._closing.set()
        await self._task.stop()
        with suppress(StorageFailed):
            await self._lease.release()

    async def look(self) -> None:
        """Send all new lines to the service, unless another process does.

        Raises:
            BotError: the service does not answer, or its answer is invalid.
            StorageFailed: the database could not be read or written.
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
        """Log a warning once for each open run whose lines are not judged."""
        runs = await self._store.read(self._runs.open_ones)
        for number in runs.keys() - self._warned:
            log.warning(
                "no moderation service is set, and lines of this run wait for one: set CANDOR_MODERATION_URL",
                run=runs[number],
            )
        self._warned |= runs.keys()

    async def _mine(self) -> Sequence[UnjudgedLine]:
        """Return lines for this process to send; none if another process does that."""
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
        """Return whether one of the sent lines may be the reason of a failure."""
        if isinstance(error, ChatRefused | Declined):
            return True
        return not isinstance(error, BotBusy | BudgetSpent) and self._failed_looks >= _LOOKS

    async def _judge_apart(self, service: Moderation, lines: Sequence[UnjudgedLine]) -> None:
        """Send each text separately, so that a refused one does not block the others.

        Raises:
            BotError: the service is not working, so the lines are not the reason.
        """
        for text in dict.fromkeys(line.text for line in lines):
            await self._wait(self._pause)
            judgement = await self._judged_alone(service, text)
            await self._keep({line: judgement for line in lines if line.text == text})

    async def _judged_alone(self, service: Moderation, text: str) -> ModerationJudgement | None:
        """Return the judgement of a text; None if the service refuses this text, but accepts another."""
        try:
            (judgement,) = await self._asked(service, [text])
        except BotError as error:
            if not self._is_of_a_line(error):
                raise
            await self._asked(service, [_PROBE])
            return None
        return judgement

    async def _keep(self, judged: Mapping[UnjudgedLine, ModerationJudgement | None]) -> None:
        await self._store.submit(lambda connection: store_judgements(connection, judged, self._now()))

    async def _asked(self, service: Moderation, texts: Sequence[str]) -> list[ModerationJudgement]:
        """Send texts, with a few attempts if the service is busy or unreachable. Raises BotError."""
        try:
            return await self._retrying()(self._ask_once, service, texts)
        except BotError as error:
            if error.after is not None:
                self._not_before = self._now() + timedelta(seconds=error.after)
            raise

    async def _ask_once(self, service: Moderation, texts: Sequence[str]) -> list[ModerationJudgement]:
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
        """Wait for some seconds, or until the job is closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()


def _may_help(error: BaseException) -> bool:
    """Return whether another attempt may help. Long waits are excluded: they must not hold the lease."""
    return isinstance(error, BotError) and error.retry and (error.after or 0.0) <= _LONGEST_WAIT


class _JudgedRuns:
    """The runs whose lines are moderated. A run's study never changes, so each is parsed once."""

    def __init__(self) -> None:
        self._judged: dict[int, bool] = {}

    def all(self, connection: Connection) -> list[int]:
        """Return the ids of these runs."""
        for number, yaml in studies_of_runs(connection, self._judged.keys()):
            self._judged[number] = parse_study(yaml).moderation == "classifier"
        return [number for number, judged in self._judged.items() if judged]

    def open_ones(self, connection: Connection) -> dict[int, str]:
        """Return the names of those that are open, by id."""
        return open_slugs(connection, self.all(connection))


class _LeaseLost(Exception):
    """This process took too long, and another has taken the lease."""
