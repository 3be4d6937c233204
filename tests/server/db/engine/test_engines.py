"""Tests of opening a database: permissions of its files, and no words of workers in its errors."""

import traceback
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from server.db.engine.engines import migrate, open_engine


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


SAID = "my secret"


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize("rule", ["CHECK (length(said) < 3)", "UNIQUE"])
def test_what_workers_say_is_in_no_error_of_the_database(url: str, rule: str) -> None:
    """Nor in what it was raised from: PostgreSQL adds the whole row that breaks a rule."""
    engine = open_engine(url)
    insert = text("INSERT INTO told VALUES (:said), (:said)")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE TEMPORARY TABLE told (said TEXT {rule})"))
        with pytest.raises(DBAPIError) as caught:
            connection.execute(insert, {"said": SAID})
    engine.dispose()
    logged = "".join(traceback.format_exception(caught.value))
    assert "told" in logged
    assert SAID not in logged
