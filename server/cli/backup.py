"""`candor data backup`, `restore` and `new-secrets`: keep an installation, and replace lost secrets.

The file is a tar archive of the database and `secrets.json`. Links that were given out, and workers'
pseudonyms in exports, depend on both. The archive does not contain the key of workers' ids, so that encrypted
data and its key are kept apart. The server may run during a backup.
"""

import os
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from candor.common.terminal import console, fail
from server.access.auth import key_file, load_signer, make_secrets, token_file
from server.cli.database import check_secrets_beside, served, transaction
from server.cli.settings import Data, settings_from
from server.config import Settings
from server.db.audit import CommandLine, record
from server.db.engine.damage import damage_in, damaged, is_damage, remember_backup
from server.db.engine.engines import require_installation
from server.db.engine.secret_marks import replace_mark
from server.errors import CandorError

_DATABASE, _SECRETS = "candor.db", "secrets.json"
File = Annotated[Path, typer.Argument(help="The backup's file.")]
backup_cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
restore_cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@backup_cli.command()
def backup(file: File, data: Data = None) -> None:
    """Write the database and the secrets to a new file that only you can read.

    The server may keep running.
    """
    settings = settings_from(data=data)
    database, secrets = _database(settings), token_file(settings.data)
    for path in (database, secrets):
        if not path.exists():
            fail(f"there is no {path}", "Name the data folder of the installation with --data.")
    if file.exists():
        fail(f"{file} exists", "Choose another name: a backup never replaces a file.")
    with _new_folder(file) as folder:
        copy, archive = folder / _DATABASE, folder / "archive"
        _copy(database, copy)
        try:
            check_secrets_beside(settings)
        except CandorError as error:
            fail(error.message, error.hint)
        with tarfile.open(archive, "w") as tar:
            tar.add(copy, _DATABASE)
            tar.add(secrets, _SECRETS)
        _settle(archive)
        archive.rename(file)
    remember_backup(database, file)
    console.print(f"Backed up to {file} ({file.stat().st_size:,} bytes).")
    if settings.worker_id_key is None:
        key = key_file(settings.data)
        console.print(
            f"The backup does not contain {key}, the key of workers' ids. Keep a copy of the key elsewhere.",
            soft_wrap=True,
        )


@restore_cli.command()
def restore(file: File, data: Data = None) -> None:
    """Restore a backup to a folder that has no installation."""
    settings = settings_from(data=data)
    database, secrets = _database(settings), token_file(settings.data)
    for path in (database, secrets, database.with_name(f"{database.name}-wal")):
        if path.exists():
            fail(
                f"{path} exists",
                "Stop the server and move the file away, or restore to another folder with --data.",
            )
    with _new_folder(database) as folder:
        _unpack(file, folder)
        _require_installation(file, settings.model_copy(update={"data": folder, "database_url": None}))
        for name, path in ((_SECRETS, secrets), (_DATABASE, database)):
            _settle(folder / name)
            (folder / name).rename(path)
    console.print(f"Restored to {settings.data}. Start the server.")
    key = key_file(settings.data)
    if settings.worker_id_key is None and not key.exists():
        console.print(f"Before that, put the key of workers' ids back: {key}", soft_wrap=True)


def _database(settings: Settings) -> Path:
    url = make_url(settings.resolved_database_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        fail(
            "the database is not SQLite",
            "Use pg_dump and pg_restore, and keep secrets.json with the dump; see docs/deploy.md.",
        )
    return Path(url.database)


@contextmanager
def _new_folder(beside: Path) -> Iterator[Path]:
    """Yield a private temporary folder beside a file, and remove it afterwards."""
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".candor-", dir=beside.parent) as folder:
            yield Path(folder)
    except (OSError, sqlite3.Error, tarfile.TarError) as error:
        fail(f"{beside}: {error}", "Check the file and the free disk space.")


def _copy(database: Path, copy: Path) -> None:
    """Copy a consistent snapshot of a database that may be in use, and check the copy for damage."""
    copy.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")  # one file, without a write-ahead log
        found = damage_in(copy, whole=True)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        found = str(error)
    if found is not None:  # damage in the copy was in the original
        damage = damaged(database, found)
        fail(damage.message, damage.hint)


def _unpack(file: Path, folder: Path) -> None:
    """Unpack a backup. Compressed archives are refused, because they could unpack to any size."""
    try:
        with tarfile.open(file, "r:") as tar:
            for name in (_DATABASE, _SECRETS):
                member = tar.getmember(name)
                if not member.isreg() or member.issparse():
                    raise tarfile.TarError(f"{name} in it is not a plain file")
                tar.extract(member, folder, filter="data")
    except (OSError, KeyError, tarfile.TarError) as error:
        reason = str(error).splitlines()[0].rstrip(":")
        fail(
            f"{file} is not a backup: {reason}",
            "Name a file that `candor data backup` wrote. If you compressed it, decompress it first.",
        )


def _require_installation(file: Path, unpacked: Settings) -> None:
    """End the command if a backup does not contain an installation that this version can serve."""
    try:
        load_signer(unpacked.data, 1)
        found = damage_in(_database(unpacked), whole=True)
        if found is None:
            require_installation(unpacked.resolved_database_url)
            check_secrets_beside(unpacked)
    except CandorError as error:
        found = error.message.replace(f"{unpacked.data}{os.sep}", "")
    except (sqlite3.Error, SQLAlchemyError) as error:
        found = str(error)
    if found is not None:
        fail(
            f"{file} does not contain an installation that can be served: {found}",
            "Nothing was restored. Name a file that `candor data backup` wrote, or an older backup.",
        )


def _settle(path: Path) -> None:
    """Make a file private and flush it to disk, before it is renamed."""
    path.chmod(0o600)
    with path.open("rb") as file:
        os.fsync(file.fileno())


new_secrets_cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@new_secrets_cli.command()
def new_secrets(data: Data = None) -> None:
    """Create new secrets for an installation whose secrets are lost or leaked. Stop the server first.

    Links and completion codes that were given out are no longer valid, and workers who come back get other
    pseudonyms. Conversations and ratings do not change.
    """
    settings = settings_from(data=data)
    path = token_file(settings.data)
    if path.exists():
        fail(f"{path} exists", "If it is the wrong file, or its secrets have leaked, move it away first.")
    try:
        with served(settings), transaction(settings) as connection:
            make_secrets(settings.data)
            replace_mark(connection, "signing", load_signer(settings.data, settings.token_days).mark)
            record(connection, CommandLine(), "secrets.replace", path.name)
    except CandorError as error:
        fail(error.message, error.hint)
    console.print(
        f"Made {path}. Copy it to every other machine that serves this database, and start the server.",
        soft_wrap=True,
    )
