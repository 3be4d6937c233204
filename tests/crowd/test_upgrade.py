"""An upgrade of a database at the very first migration, with a study under way in it."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from alembic import command
from sqlalchemy import create_engine, text
from websockets.sync.client import connect

from server.access.auth import load_auth
from server.db.engine import alembic_config
from tests.crowd.test_crowd import open_demo, report
from tests.server.support.page import Page
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH

pytestmark = pytest.mark.timeout(3 * ENOUGH)
TABLES = ("study", "run", "worker", "assignment", "conversation", "turn", "rating", "topic_mark")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.services, pytest.mark.soak])])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server of this version that has not been started; `database` is where its data is."""
    if request.param == "sqlite":
        made = Server(tmp_path)
        yield made
        made.stop()
        return
    with request.getfixturevalue("postgres").database(migrated=False) as url:
        made = Server(tmp_path, environment={"CANDOR_DATABASE_URL": url})
        made.database = url
        yield made
        made.stop()


def stored(server: Server) -> dict[str, list[tuple[Any, ...]]]:
    """Return what the tables of the first version hold, in columns that it had already."""
    engine = create_engine(server.database)
    with engine.connect() as connection:
        found = {}
        for table in TABLES:
            columns = ", ".join(sorted(COLUMNS[table]))
            rows = connection.execute(text(f"SELECT {columns} FROM {table} ORDER BY {columns}"))  # noqa: S608
            found[table] = [tuple(row) for row in rows]
    engine.dispose()
    return found


COLUMNS = {
    "study": ("id", "name", "hash", "yaml"),
    "run": ("id", "slug", "seed", "status"),
    "worker": ("id", "external_id", "pseudonym"),
    "assignment": ("id", "place", "status", "feedback"),
    "conversation": ("id", "position", "attempt", "seed", "persona"),
    "turn": ("conversation_id", "turn_index", "author", "text"),
    "rating": ("conversation_id", "criterion", "value"),
    "topic_mark": ("client_id",),
}


def figures_of(server: Server, out: Path) -> Any:
    return report(server, "demo", out)["systems"]


def open_page(server: Server, connection: Any) -> Page:
    """Return the page of Ann, who comes back to where she was; its snapshot is in `snapshot`."""
    joined = httpx2.post(f"{server.url}/api/join", json={"run": "demo", "worker": "ann"}, timeout=ENOUGH)
    page = Page(connection)
    page.send("hello", token=joined.json()["token"])
    page.snapshot = page.receive()
    return page


def test_an_upgrade_from_the_first_migration_keeps_everything(server: Server, tmp_path: Path) -> None:
    open_demo(server, "demo", inputs=3)
    server.start()
    crowd = server.crowd("demo", "--workers", "4")
    output, _ = crowd.communicate(timeout=ENOUGH)
    assert crowd.returncode == 0, output
    with connect(f"ws://127.0.0.1:{server.port}/ws") as connection:
        page = open_page(server, connection)
        page.ask("agree")
        page.ask("topic", text="music", opinion="like")
        assert page.ask("say", text="I was here before the upgrade")["type"] == "accepted"
        page.until("said")
    server.stop()
    before, figures = stored(server), figures_of(server, tmp_path / "before")
    ids = load_auth(server.data, 7).ids
    command.downgrade(alembic_config(server.database, lambda: ids), "0001")
    old = stored(server)
    workers = [(ids.decrypted(kept), *others) for kept, *others in before["worker"]]
    assert {name for name, *_ in workers} >= {"ann"}
    assert sorted(old.pop("worker")) == sorted(workers)
    assert old == {table: rows for table, rows in before.items() if table != "worker"}

    server.start()  # the upgrade
    assert httpx2.get(f"{server.url}/readyz", timeout=ENOUGH).json()["ready"]
    assert stored(server) == before
    assert figures_of(server, tmp_path / "after") == figures
    with connect(f"ws://127.0.0.1:{server.port}/ws") as connection:
        page = open_page(server, connection)
        assert page.snapshot["conversation"]["turns"][0]["text"] == "I was here before the upgrade"
        assert page.ask("say", text="And I am here after it")["type"] == "accepted"
    audit = [sys.executable, "-m", "server", "data", "audit", "--data", str(server.data)]
    subprocess.run(audit, check=True, capture_output=True, env=server.environment)
