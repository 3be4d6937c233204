"""`candor data backup` and `candor data restore`: with what is not yet in the database's own file."""

import gzip
import io
import os
import shutil
import sqlite3
import stat
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from server.access.auth import load_auth, make_secrets
from server.db.engine import migrate
from tests.server.support.commands import Candor, assert_refused


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
        done = candor("data", "backup", file, "--data", data)
        assert done.exit_code == 0, done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    done = candor("data", "restore", file, "--data", elsewhere)
    assert done.exit_code == 0, done.stderr
    assert {stat.S_IMODE(path.stat().st_mode) for path in elsewhere.iterdir()} == {0o600}
    with closing(sqlite3.connect(elsewhere / "candor.db")) as restored:
        assert restored.execute("SELECT text FROM said").fetchall() == [("I bake bread.",)]
    assert load_auth(elsewhere, 7).researcher_token == load_auth(data, 7).researcher_token


SECRETS = '{"secret": "s", "researcher_token": "t"}'


def archive(folder: Path, database: bytes, secrets: str = SECRETS) -> Path:
    """Write a tar archive with a database and secrets, as a backup has them."""
    file = folder / "given.tar"
    with tarfile.open(file, "w") as tar:
        for name, content in (("candor.db", database), ("secrets.json", secrets.encode())):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return file


def foreign(folder: Path, *statements: str) -> bytes:
    """Return a database that another program has made."""
    path = folder / "foreign.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in ("CREATE TABLE bookmark (url TEXT)", *statements):
            connection.execute(statement)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("secrets", "reason"),
    [
        ("", "secrets.json cannot be used"),
        ("{}", "secrets.json cannot be used"),
        ('{"secret": "", "researcher_token": "t"}', "a secret in it is empty"),
    ],
)
def test_secrets_that_are_none_are_not_restored(
    candor: Candor, tmp_path: Path, migrated: Path, secrets: str, reason: str
) -> None:
    file = archive(tmp_path, migrated.read_bytes(), secrets)
    assert_refused(
        candor("data", "restore", file, "--data", tmp_path / "new"), reason, "Nothing was restored"
    )
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("made_by", "reason"),
    [
        (None, "no database of Candor: it has no table alembic_version"),
        ("0001", "no database of Candor: it has no table assignment"),
        ("9999", "A later version of Candor has made this database"),
    ],
)
def test_a_database_of_another_program_is_not_restored(
    candor: Candor, tmp_path: Path, made_by: str | None, reason: str
) -> None:
    put = f"INSERT INTO alembic_version VALUES ('{made_by}')"  # noqa: S608
    marked = ("CREATE TABLE alembic_version (version_num)", put)
    file = archive(tmp_path, foreign(tmp_path, *(marked if made_by else ())))
    assert_refused(
        candor("data", "restore", file, "--data", tmp_path / "new"), reason, "Nothing was restored"
    )
    assert list((tmp_path / "new").iterdir()) == []


def test_a_database_without_a_table_of_its_version_is_not_restored(
    candor: Candor, tmp_path: Path, migrated: Path
) -> None:
    path = tmp_path / "cut.db"
    shutil.copy(migrated, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE rating")
    file = archive(tmp_path, path.read_bytes())
    assert_refused(candor("data", "restore", file, "--data", tmp_path / "new"), "it has no table rating")


@pytest.mark.parametrize("database", [b"", b"no database" * 1000])
def test_what_is_no_database_is_not_restored(candor: Candor, tmp_path: Path, database: bytes) -> None:
    refused = candor("data", "restore", archive(tmp_path, database), "--data", tmp_path / "new")
    assert_refused(refused, "does not contain an installation that can be served", "Nothing was restored")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_damaged_database_is_not_restored(candor: Candor, tmp_path: Path, migrated: Path) -> None:
    content = bytearray(migrated.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle : middle + 4096] = os.urandom(4096)
    refused = candor("data", "restore", archive(tmp_path, bytes(content)), "--data", tmp_path / "new")
    assert_refused(refused, "does not contain an installation", "Nothing was restored")


def test_an_archive_that_grows_as_it_is_unpacked_is_not_restored(candor: Candor, tmp_path: Path) -> None:
    """A compressed one, and one whose member says that it is mostly a hole: 8 GB in 10 KB."""
    plain = archive(tmp_path, bytes(64_000_000))
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert_refused(
        candor("data", "restore", packed, "--data", tmp_path / "new"),
        "is not a backup",
        "decompress it first",
    )
    holed = tmp_path / "holed.tar"
    with tarfile.open(holed, "w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("candor.db")
        member.pax_headers = {
            "GNU.sparse.map": "0,0",
            "GNU.sparse.size": str(8 * 1024**3),
            "GNU.sparse.numblocks": "1",
        }
        tar.addfile(member)
        tar.addfile(tarfile.TarInfo("secrets.json"))
    assert_refused(
        candor("data", "restore", holed, "--data", tmp_path / "new"), "candor.db in it is not a plain file"
    )
    assert list((tmp_path / "new").iterdir()) == []
