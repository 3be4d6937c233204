"""Marks of the secrets that a database depends on: a mark identifies its secret without revealing it."""

from typing import Final, Literal

from sqlalchemy import Connection, text

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
