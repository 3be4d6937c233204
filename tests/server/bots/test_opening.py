"""Runs opened and changed while a server runs: what takes its time keeps nobody from writing."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection

from server.bots.lineup import OpenRun
from server.bots.opening import NewRun, RunChanges
from server.bots.planned_calls import Confirmation
from server.bots.registered_bots import ApiLimits
from server.db.runs.run_rules import all_rules_of
from server.db.runs.runs import find_run
from server.db.store import Store
from server.news import News
from server.recruiters.arrival import IdCipher
from server.run_rules import RunRules
from tests.server.support.study import RUN, SYSTEMS, study_text
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.databases("sqlite", "postgresql")

RULES = RunRules(excluded_workers=("eve", "ann", "eve"))
BUILTIN = [
    {"name": name, "family": family, "bot": "builtin:retrieval", "persona": "none"}
    for name, family in SYSTEMS.items()
]
STUDY = study_text(systems=BUILTIN, corpus="builtin:smalltalk", personas="corpus")
Change = Callable[[RunChanges], Coroutine[Any, Any, Any]]


class HeldCipher(IdCipher):
    """Begins to encrypt, and goes on when it may."""

    def __init__(self) -> None:
        super().__init__(["a key"])
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def encrypted(self, external_id: str) -> str:
        self.begun.set()
        assert self.may_go_on.wait(PATIENCE)
        return super().encrypted(external_id)


@pytest.fixture
def store(url: str, run: OpenRun) -> Iterator[Store]:
    """A store over a database with the small study's run."""
    opened = Store(url)
    opened.start()
    yield opened
    opened.stop()


class Researcher:
    kind, name = "person", "Rita"


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        (lambda changes: changes.set_rules(RUN, RULES, Researcher()), RUN),
        (
            lambda changes: changes.open(
                NewRun("second", STUDY, RULES, Confirmation(given=True), despite_failing_bots=True),
                Researcher(),
            ),
            "second",
        ),
    ],
    ids=["changed", "opened"],
)
async def test_while_ids_are_encrypted_others_are_served_and_write(
    store: Store, tmp_path: Any, change: Change, slug: str
) -> None:
    ids = HeldCipher()
    changes = RunChanges(
        store, News(), refuse_private=False, reach=ApiLimits({}, tmp_path), moderation=None, ids=ids
    )
    changing = asyncio.create_task(change(changes))
    try:
        assert await asyncio.to_thread(ids.begun.wait, PATIENCE)
        assert await asyncio.wait_for(store.submit(_written), PATIENCE / 2) == 1
        assert not changing.done()
    finally:
        ids.may_go_on.set()
    await asyncio.wait_for(changing, PATIENCE)
    found = await store.read(lambda c: all_rules_of(c, find_run(c, slug).id, ids))
    assert found.excluded_workers == ("ann", "eve")


def _written(connection: Connection) -> int:
    return connection.exec_driver_sql("UPDATE run SET seed = seed").rowcount
