"""Tell every process that something has changed in a run, a few times a second at most."""

import asyncio

from server.news import News

TOPIC = "run"  # a topic of news: something of a run was stored, or one of its pages was opened or closed
_SECONDS = 0.3  # for which changes are collected


class RunNews:
    """Announce changes of runs. For use within one event loop."""

    def __init__(self, news: News) -> None:
        self._news = news
        self._due: set[int] = set()

    def tell(self, run: int) -> None:
        """Announce soon that the run of this id has changed."""
        if run in self._due:
            return
        self._due.add(run)
        asyncio.get_running_loop().call_later(_SECONDS, self._publish, run)

    def _publish(self, run: int) -> None:
        self._due.discard(run)
        self._news.publish(TOPIC, {"run": run})
