"""Registered bots: a study that names two, and how the API of bots is called."""

from collections.abc import Callable
from typing import Any

import httpx2

from server.bots import stored_bots
from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.db.engine import open_engine
from server.db.runs import runs
from tests.server.support.server import House
from tests.server.support.study import AT, study_text
from tests.server.support.talker import Talker, endpoint

Serve = Callable[..., House]
NOWHERE = {"kind": "http", "urls": ["http://127.0.0.1:1"]}


def study(**changes: Any) -> str:
    """Return a study of two systems, `parrot` and `macaw`, each of them registered; workers meet one."""
    systems = [{"name": bird, "family": bird, "bot": bird} for bird in ("parrot", "macaw")]
    few = {"systems_per_assignment": 1, "qc_per_assignment": 0, "minimum_inputs": 3, "simulate": None}
    return study_text(systems=systems, **few, **changes)


def register(url: str, **bots: Talker) -> None:
    """Write bots into the database, as an earlier call of the API has done."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for name, talker in bots.items():
            stored_bots.add(connection, name, endpoint(talker.endpoint), AT)
    engine.dispose()


def open_run(url: str, text: str, opened_bots: OpenedBots, slug: str = "harbour") -> OpenRun:
    """Open a run as a server does at its start."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        opened_bots.load(connection)
        entry = runs.open_run(connection, text, slug, AT)
    engine.dispose()
    return open_lineup(entry, opened_bots)


def bots(house: House, method: str = "GET", path: str = "", **kwargs: Any) -> httpx2.Response:
    return house.desk(f"/bots{path}", method=method, **kwargs)


def good(answer: httpx2.Response, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    content: dict[str, Any] = answer.json()
    return content


def bearer(house: House) -> dict[str, str]:
    return {"Authorization": f"Bearer {house.auth.researcher_token}"}
