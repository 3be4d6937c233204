"""How a database is opened: who may read its files, and what of it never gets into a log."""

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from server.db.engine import migrate, open_engine


def test_only_its_owner_can_read_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "new" / "candor.db"
    migrate(f"sqlite:///{path}")
    engine = open_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE more (x)"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    engine.dispose()
    assert {"candor.db", "candor.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_what_workers_say_is_in_no_error_of_the_database(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'candor.db'}")
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(text("INSERT INTO nowhere VALUES (:said)"), {"said": "my secret"})
    engine.dispose()
    assert "my secret" not in str(caught.value)
