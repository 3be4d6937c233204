"""The fitness checks of registered bots that are under way in this process. Their reports are stored."""

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
TOPIC = "checks"  # of news: a check has come further, or is over


@dataclass(slots=True)
class BackgroundCheck:
    """A check since `at`: `done` of `total` calls; `error` where it could not be carried to its end."""

    at: datetime
    done: int = 0
    total: int = 0
    error: str | None = None


class BackgroundChecks:
    """Checks by the bot's name, one at a time each. One that is over is forgotten once it is stored."""

    def __init__(self, store: Store, news: News) -> None:
        """Keep reports in `store`, and tell of every step."""
        self._store = store
        self._news = news
        self._checks: dict[str, BackgroundCheck] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, bot: Bot, row: Registration, ask: FitnessCheck) -> BackgroundCheck:
        """Begin to check a bot, or return the check of it that is under way.

        Args:
            bot: who is asked.
            row: the bot's registration; the report is stored only if it is the same bot at the end.
            ask: checks it.
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
        """Return the check of a bot that is under way, or that failed to come to its end."""
        return self._checks.get(name)

    async def cancel(self, name: str) -> None:
        """Give up the check of a bot, if there is one; return when it asks no more."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._checks.pop(name, None)

    async def close(self) -> None:
        """Give up every check."""
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
        except Exception as error:  # foreign code is asked: whatever it does, the researcher is told
            log.exception("check failed", bot=row.name)
            check.error = f"the check broke off: {type(error).__name__}"
        self._tell(row.name)

    def _take(self, check: BackgroundCheck, name: str, done: int, total: int) -> None:
        check.done, check.total = done, total
        self._tell(name)

    def _tell(self, name: str) -> None:
        self._news.publish(TOPIC, {"name": name})
