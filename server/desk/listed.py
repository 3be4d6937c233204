"""The store, for what the desk lists: whoever watches a list is told once a change of it is stored."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from server.db.store.store import Store
from server.news import News

TOPIC = "lists"  # of news: studies, people or tokens have changed
T = TypeVar("T")


class ListedStore:
    """Reads and changes what is listed, as `Store` does; tells every process of changes."""

    def __init__(self, store: Store, news: News) -> None:
        self._store = store
        self._news = news

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` reads. Raises as `Store.read`."""
        return await self._store.read(work)

    async def submit(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` answers, once it is stored and told. Raises as `Store.submit`."""
        answer = await self._store.submit(work)
        self._news.publish(TOPIC, {})
        return answer
