"""A store that announces changes of the desk's lists to those who watch them."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from sqlalchemy import Connection

from server.access.parts import part
from server.db.store import Store
from server.news import News

TOPIC = "lists"  # of news: studies, people or tokens have changed
T = TypeVar("T")


class ListedStore:
    """Reads and changes lists like `Store`, and announces changes to every process."""

    def __init__(self, store: Store, news: News) -> None:
        self._store = store
        self._news = news

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Return the result of reading with `work`. Raises as `Store.read`."""
        return await self._store.read(work)

    async def submit(self, work: Callable[[Connection], T]) -> T:
        """Return the result of `work` once its changes are stored and announced. Raises as `Store.submit`."""
        answer = await self._store.submit(work)
        self._news.publish(TOPIC, {})
        return answer


Lists = Annotated[ListedStore, part(ListedStore)]
