"""`candor data audit`, `backup`, `restore` and `new-secrets`: check an installation, and keep it from loss.

A backup is a tar archive of the database and `secrets.json`. Links that were given out, and workers'
pseudonyms in exports, depend on both. The archive does not contain the key of workers' ids, so that encrypted
data and its key are kept apart. The server may run during a backup.
"""

import os
import sqlite3
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Connection, make_url
from sqlalchemy.exc import SQLAlchemyError

from candor.common.terminal import console, fail
from server.access.auth import key_file, load_signer, make_secrets, token_file
from server.cli.installation import (
    Data,
    check_secrets,
    check_secrets_beside,
    require_undamaged,
    served,
    settings_from,
    transaction,
    transaction_or_fail,
)
from server.config import Settings
from server.db.audit import CommandLine, record
from server.db.counts import differences, positions
from server.db.engine import damage_in, damaged, is_damage, remember_backup, require_installation
from server.db.runs.items import items_of_run, judgments
from server.db.runs.runs import RunEntry, all_runs
from server.db.secrets import replace_mark
from server.errors import CandorError


@dataclass(frozen=True, slots=True)
class ItemBalance:
    """Minimum and maximum of counts that should be equal, over the assigned slots of a run.

    `items`: judgments per ordinary item. `systems`: for each system, the mean judgments per item.
    `positions`: how often a system is shown at a position; 0 if none of its items was.
    """

    judged: int
    items: tuple[int, int]
    systems: tuple[float, float]
    positions: tuple[int, int]


def item_balance(connection: Connection, run: RunEntry, *, simulated: bool) -> ItemBalance | None:
    """Return how evenly a run's items are judged; None if it has no items, or none is assigned yet."""
    system_of = {name: item.system for name, item in items_of_run(connection, run.id).items()}
    counts = judgments(connection, run.id, simulated=simulated)
    if not counts:
        return None
    numbers = [counts.get(name, 0) for name in system_of]
    systems = sorted(set(system_of.values()))
    means = []
    for system in systems:
        theirs = [counts.get(name, 0) for name, of in system_of.items() if of == system]
        means.append(sum(theirs) / len(theirs))
    stands = positions(connection, run.id, simulated=simulated)
    last = max(position for _, position in stands)
    cells = [stands.get((system, at), 0) for system in systems for at in range(1, last + 1)]
    return ItemBalance(
        judged=sum(numbers),
        items=(min(numbers), max(numbers)),
        systems=(min(means), max(means)),
        positions=(min(cells), max(cells)),
    )


audit_cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)

_REFERENCES = (
    "Another program changed the file, or the file was recovered from a damaged one. Restore your newest "
    "backup into another folder: `candor data restore BACKUP --data FOLDER`."
)


@audit_cli.command()
def audit(data: Data = None) -> None:
    """Check the database for damage, its secrets, and the counters that assign workers.

    The command reads every page of an SQLite file, which takes about a minute for a few gigabytes. For runs
    in which workers rate items, it also prints how evenly the items were assigned.
    """
    settings = settings_from(data=data)
    try:
        require_undamaged(settings, whole=True)
    except CandorError as error:
        fail(error.message, error.hint)
    with transaction_or_fail(data) as connection:
        if broken := _broken_references(connection):
            fail(f"Rows refer to rows that are missing: {broken}", _REFERENCES)
        if found := differences(connection):
            fail(
                "Some counters differ from the stored data:\n" + "\n".join(found),
                "Workers still get assignments, but less balanced ones. Report this with the lines above.",
            )
        check_secrets(settings, connection)
        balances = {
            (run.slug, who): balance
            for run in all_runs(connection)
            for who, simulated in (("workers", False), ("simulated workers", True))
            if (balance := item_balance(connection, run, simulated=simulated)) is not None
        }
    console.print("The database is sound, and all counters agree with the stored data.", soft_wrap=True)
    for (run, who), balance in balances.items():
        console.print(
            f"{run}, {who}: {balance.judged} judgments: {_range(balance.items)} per item, "
            f"{_range(balance.systems)} per item on average for each system, "
            f"{_range(balance.positions)} per system and position.",
            soft_wrap=True,
        )


def _broken_references(connection: Connection) -> str:
    """Return the number of rows, by table, whose foreign keys point to missing rows; "" if there are none.

    Only SQLite is checked.
    """
    if connection.dialect.name != "sqlite":
        return ""  # PostgreSQL checks them at every commit
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    counts = Counter(f"{table}, of {parent}" for table, _, parent, _ in rows)
    return "; ".join(f"{number} of {name}" for name, number in sorted(counts.items()))


def _range(ends: tuple[float, float]) -> str:
    low, high = (f"{end:.2f}".rstrip("0").rstrip(".") for end in ends)
    return low if low == high else f"{low} to {high}"


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
            "Use pg_dump and pg_restore, and keep secrets.json with the dump; see "
            "docs/how-to/server/back-up-and-restore.md.",
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
