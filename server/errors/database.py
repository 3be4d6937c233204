"""Errors of the database."""

from server.errors.error import CandorError


class StorageFailed(CandorError):
    """The rows could not be written; nothing was stored."""

    code = "storage_failed"
    status = 503
    retry = True
    hint = "Nothing is lost on your side: send the same message again."


class StorageDamaged(StorageFailed):
    """SQLite has found damage in its file while the server ran."""

    hint = (
        "Stop the server, keep a copy of its data folder and restore the newest backup; `candor audit` says "
        "what is damaged, and docs/deploy.md what to do without a backup."
    )

    def __init__(self) -> None:
        super().__init__("The database is damaged: some of it cannot be read or stored")


class DatabaseDamaged(CandorError):
    """A check of an SQLite database has found damage."""

    code = "database_damaged"


class DatabaseUnfit(CandorError):
    """The database can be opened, but its settings or its schema do not permit to serve it."""

    code = "database_unfit"


class DatabaseInUse(CandorError):
    """Another process serves the SQLite file, and only one may."""

    code = "database_in_use"
    hint = "Stop that server first, or use PostgreSQL, which many may serve: set CANDOR_DATABASE_URL."
