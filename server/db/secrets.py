"""Secrets of the database: marks of those in use, and workers' ids, all encrypted under one key.

A mark identifies its secret without revealing it.
"""

from collections.abc import Callable
from typing import Final, Literal

from sqlalchemy import Connection, text

from server.errors import DatabaseUnfit
from server.recruiters.arrival import IdCipher

Purpose = Literal["signing", "worker_ids"]
_MARK: Final = text("SELECT mark FROM secret_mark WHERE purpose = :purpose")
# If two servers start at once, the second waits here, and then finds the mark of the first.
_FIRST_MARK: Final = text(
    "INSERT INTO secret_mark (purpose, mark) VALUES (:purpose, :mark) ON CONFLICT (purpose) DO NOTHING"
)
_NEW_MARK: Final = text("UPDATE secret_mark SET mark = :mark WHERE purpose = :purpose")


def mark_of(connection: Connection, purpose: Purpose) -> str | None:
    """Return the mark of the secret that this database was used with; None if it was used with none yet."""
    mark: str | None = connection.execute(_MARK, {"purpose": purpose}).scalar_one_or_none()
    return mark


def leave_mark(connection: Connection, purpose: Purpose, mark: str) -> None:
    """Store the mark of the secret in use, if there is none yet."""
    connection.execute(_FIRST_MARK, {"purpose": purpose, "mark": mark})


def replace_mark(connection: Connection, purpose: Purpose, mark: str) -> None:
    """Store the mark of the secret used from now on."""
    leave_mark(connection, purpose, mark)
    connection.execute(_NEW_MARK, {"purpose": purpose, "mark": mark})


FORGOTTEN: Final = "forgotten:"  # the prefix that replaces a removed id; encrypted ids contain no colon
PUT_KEY_BACK: Final = (
    "Put worker-ids.key back into the data folder from where you keep it, or set "
    "CANDOR_WORKER_ID_KEY to the key that was in use; every server over one database needs the same. "
    "docs/how-to/server/replace-secrets.md says more."
)
_KEYS: Final = {"worker": "id", "excluded_worker": "run_id"}  # each table's column for finding a row again


def external_id(kept: str, ids: IdCipher) -> str | None:
    """Return the id for its stored form; None if it was removed. Raises DatabaseUnfit: another key."""
    if kept.startswith(FORGOTTEN):
        return None
    plain = ids.decrypted(kept)
    if plain is None:
        raise _another_key()
    return plain


def needs_key(connection: Connection) -> bool:
    """Return whether a key was in use: it has left its mark, or encrypted ids."""
    if mark_of(connection, "worker_ids") is not None:
        return True
    found = (connection.execute(text(f"SELECT 1 FROM {table} LIMIT 1")).first() for table in _KEYS)  # noqa: S608
    return any(row is not None for row in found)


def require_key(connection: Connection, ids: IdCipher) -> None:
    """Check that ids are encrypted under one of these keys, or none is yet. Raises DatabaseUnfit."""
    mark = mark_of(connection, "worker_ids")
    if mark is not None and mark not in ids.marks:
        raise _another_key()


def _another_key() -> DatabaseUnfit:
    return DatabaseUnfit(
        "The workers' ids in the database are encrypted under another key than the present one",
        PUT_KEY_BACK,
    )


def encrypt_again(connection: Connection, ids: IdCipher) -> int:
    """Encrypt every id under the key in use, and leave that key's mark; return the number of rows changed.

    If that key is the only one and has left its mark already, no row is read. Otherwise this takes time of
    the order of all workers, when the server starts.

    Raises:
        DatabaseUnfit: An id was encrypted under a missing key, or another server has left another key's mark.
    """
    if (mark_of(connection, "worker_ids"),) == ids.marks:
        return 0
    leave_mark(connection, "worker_ids", ids.marks[0])
    require_key(connection, ids)
    replace_mark(connection, "worker_ids", ids.marks[0])

    def again(kept: str) -> str:
        plain = external_id(kept, ids)
        return kept if plain is None else ids.encrypted(plain)

    return _rewrite(connection, again)


def encrypt_plain(connection: Connection, ids: Callable[[], IdCipher]) -> None:
    """Encrypt the ids of a database that has them in plain text. The key is only needed if there are any."""
    _rewrite(connection, lambda plain: ids().encrypted(plain))


def decrypt_all(connection: Connection, ids: Callable[[], IdCipher]) -> None:
    """Decrypt all ids, for versions of Candor that store them in plain text."""
    _rewrite(connection, lambda kept: ids().decrypted(kept) or kept)


def _rewrite(connection: Connection, rewritten: Callable[[str], str]) -> int:
    changed = 0
    for table, key in _KEYS.items():
        rows = connection.execute(text(f"SELECT {key}, external_id FROM {table}")).all()  # noqa: S608
        changes = [
            {"key": where, "old": old, "new": new} for where, old in rows if (new := rewritten(old)) != old
        ]
        if changes:
            update = f"UPDATE {table} SET external_id = :new WHERE {key} = :key AND external_id = :old"  # noqa: S608
            connection.execute(text(update), changes)
        changed += len(changes)
    return changed
