"""Run fitness checks of registered bots in the background of this process, and store their reports."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from bots import Bot
from server.bots import stored_bots
from server.bots.fitness import FitnessCheck
from server.bots.stored_bots import Registration
from server.clock import utc_now
from server.db.store.store import Store
from server.errors import CandorError
from server.news import News

log = structlog.get_logger()
TOPIC = "checks"  # of news: a check has made progress, or has ended


@dataclass(slots=True)
class BackgroundCheck:
    """A check that began at `at`, with `done` of `total` calls. `error`: why it broke off."""

    at: datetime
    done: int = 0
    total: int = 0
    error: str | None = None


class BackgroundChecks:
    """Checks by bot name, at most one per bot. A finished check is removed once it is stored."""

    def __init__(self, store: Store, news: News) -> None:
        """Store reports in `store`, and announce progress over `news`."""
        self._store = store
        self._news = news
        self._checks: dict[str, BackgroundCheck] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, bot: Bot, row: Registration, ask: FitnessCheck) -> BackgroundCheck:
        """Start a check of a bot, or return its running check.

        Args:
            bot: the bot.
            row: its registration; the report is stored only if it is the same bot at the end.
            ask: carries out the check.
        """
        if self.is_under_way(row.name):
            return self._checks[row.name]
        check = self._checks[row.name] = BackgroundCheck(utc_now())
        work = self._carry_out(check, bot, row, ask)
        self._tasks[row.name] = asyncio.get_running_loop().create_task(work)
        return check

    def is_under_way(self, name: str) -> bool:
        """Return whether a bot is being checked."""
        task = self._tasks.get(name)
        return task is not None and not task.done()

    def find(self, name: str) -> BackgroundCheck | None:
        """Return the running or broken-off check of a bot; None if there is none."""
        return self._checks.get(name)

    async def cancel(self, name: str) -> None:
        """Cancel the check of a bot, if there is one, and wait for its end."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._checks.pop(name, None)

    async def close(self) -> None:
        """Cancel all checks."""
        for name in tuple(self._tasks):
            await self.cancel(name)

    async def _carry_out(
        self, check: BackgroundCheck, bot: Bot, row: Registration, ask: FitnessCheck
    ) -> None:
        try:
            report = await ask(bot, progress=partial(self._take, check, row.name))
            at = utc_now()
            await self._store.submit(lambda c: stored_bots.store_check(c, row, report, at))
            del self._checks[row.name]
        except CandorError as error:
            check.error = error.message
        except Exception as error:  # bots are foreign code: report any of their errors to the researcher
            log.exception("check failed", bot=row.name)
            check.error = f"the check broke off: {type(error).__name__}"
        self._tell(row.name)

    def _take(self, check: BackgroundCheck, name: str, done: int, total: int) -> None:
        check.done, check.total = done, total
        self._tell(name)

    def _tell(self, name: str) -> None:
        self._news.publish(TOPIC, {"name": name})
