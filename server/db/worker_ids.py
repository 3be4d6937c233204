"""Workers' ids in the database: all of them encrypted, under the key in use."""

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, text

from server.db.engine.secret_marks import leave_mark, mark_of, replace_mark
from server.errors import DatabaseUnfit
from server.recruiters.id_cipher import IdCipher

FORGOTTEN: Final = "forgotten:"  # begins what stands where an id was; no encrypted id has a colon
PUT_KEY_BACK: Final = (
    "Put worker-ids.key back into the data folder from where you keep it, or set "
    "CANDOR_WORKER_ID_KEY to the key that was in use; every server over one database needs the same. "
    "docs/privacy.md says more."
)
_KEYS: Final = {"worker": "id", "excluded_worker": "run_id"}  # by which an id is found again, of each table


def external_id(kept: str, ids: IdCipher) -> str | None:
    """Return the id that the database keeps so; None: it was forgotten. Raises DatabaseUnfit: another key."""
    if kept.startswith(FORGOTTEN):
        return None
    plain = ids.decrypted(kept)
    if plain is None:
        raise _another_key()
    return plain


def needs_key(connection: Connection) -> bool:
    """Return whether a key was in use: it has left its mark, or ids that are encrypted under it."""
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
        "the ids of workers in the database are encrypted under another key than the one at hand",
        PUT_KEY_BACK,
    )


def encrypt_again(connection: Connection, ids: IdCipher) -> int:
    """Have every id encrypted under the key in use, and mark it as that; return in how many rows one was not.

    Where that key is the only one and is marked already, nothing is looked at: otherwise it takes time of the
    order of all workers, at a start of the server.

    Raises:
        DatabaseUnfit: an id was encrypted under a key that is not at hand, or another server has marked one.
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
    """Encrypt the ids of a database that has them in plain text. Without any, no key is asked for."""
    _rewrite(connection, lambda plain: ids().encrypted(plain))


def decrypt_all(connection: Connection, ids: Callable[[], IdCipher]) -> None:
    """Put the ids back in plain text, for a version of Candor that knows no other."""
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
