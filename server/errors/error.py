"""Base of all errors for callers, and those of the database."""

from typing import ClassVar

from pydantic import BaseModel


class CandorError(Exception):
    """An unexpected failure, and the base of every error that a caller gets."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    retry: ClassVar[bool] = False
    hint: str = "Try again; if it happens again, tell the researchers."

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else type(self).hint


class NeedsConfirmation(CandorError):
    """The request costs money, or much of it, and was not confirmed."""

    code = "needs_confirmation"
    status = 409
    hint = "To do it, confirm (as a program: set confirmed to true)."


class ErrorDetail(BaseModel):
    """An error in a response: `code` for programs, `message` and `hint` for people."""

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """The body of every HTTP response that is an error."""

    error: ErrorDetail


class StorageFailed(CandorError):
    """The rows could not be written; nothing was stored."""

    code = "storage_failed"
    status = 503
    retry = True
    hint = "Nothing is lost on your side: send the same message again."


class StorageDamaged(StorageFailed):
    """SQLite has found damage in its file while the server ran."""

    hint = (
        "Stop the server, keep a copy of its data folder and restore the newest backup. To see what is "
        "damaged, run candor data audit. Without a backup, see "
        "docs/how-to/server/repair-a-damaged-database.md."
    )

    def __init__(self) -> None:
        super().__init__("The database is damaged: parts of it cannot be read or stored")


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
