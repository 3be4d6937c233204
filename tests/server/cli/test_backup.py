"""`candor backup` and `candor restore`: what is not yet in the database's own file is there, too."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from server.access.auth import load_auth, make_secrets
from server.db.engine import migrate
from tests.server.support.commands import Candor


def test_a_backup_has_what_is_in_the_log_alone_and_is_for_its_owner_alone(
    candor: Candor, tmp_path: Path
) -> None:
    data, elsewhere, file = tmp_path / "data", tmp_path / "elsewhere", tmp_path / "candor.tar"
    migrate(f"sqlite:///{data / 'candor.db'}")
    make_secrets(data)
    with closing(sqlite3.connect(data / "candor.db")) as server:
        server.execute("PRAGMA wal_autocheckpoint=0")  # as between two checkpoints of a server that runs
        with server:
            server.execute("CREATE TABLE said AS SELECT 'I bake bread.' AS text")
        assert b"I bake bread." not in (data / "candor.db").read_bytes()
        done = candor("backup", file, "--data", data)
        assert done.exit_code == 0, done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    done = candor("restore", file, "--data", elsewhere)
    assert done.exit_code == 0, done.stderr
    assert {stat.S_IMODE(path.stat().st_mode) for path in elsewhere.iterdir()} == {0o600}
    with closing(sqlite3.connect(elsewhere / "candor.db")) as restored:
        assert restored.execute("SELECT text FROM said").fetchall() == [("I bake bread.",)]
    assert load_auth(elsewhere, 7).researcher_token == load_auth(data, 7).researcher_token
