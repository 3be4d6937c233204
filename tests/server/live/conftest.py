"""Live sessions over a real store and real bots."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from bots import Bot
from server.db.store import Store
from tests.server.support.database import audit, make_run
from tests.server.support.stage import Stage
from tests.server.support.study import study_text


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A store whose counts agree with what is stored, at the end too."""
    opened = Store(url)
    opened.start()
    yield opened
    opened.stop()
    assert audit(url) == []


@pytest.fixture
def staged(url: str) -> Iterator[Callable[..., Stage]]:
    """Return a function that makes a stage with bots, and changes to the study, of the test's choice."""
    stores: list[Store] = []

    def made(bots: Bot | Mapping[str, Bot] | None = None, **changes: Any) -> Stage:
        run = make_run(url, study_text(**changes), bots)
        store = Store(url)
        stores.append(store)
        store.start()
        return Stage(url, run, store)

    yield made
    for store in stores:
        store.stop()
