"""Count changes of bots and runs, so that processes notice each other's changes."""

from collections.abc import Mapping
from typing import Literal

from sqlalchemy import Connection, select, text

from server.db.tables import RevisionTable

Subject = Literal["bots", "runs"]
_RAISE = text("""
    INSERT INTO revision (subject, number) VALUES (:subject, 1)
    ON CONFLICT (subject) DO UPDATE SET number = revision.number + 1""")


def raise_revision(connection: Connection, subject: Subject) -> None:
    """Note that this transaction changes `subject`; call this before reading anything for the change.

    Other transactions that change it wait until this one ends, so that none of them uses outdated data.
    """
    connection.execute(_RAISE, {"subject": subject})


def revisions(connection: Connection) -> Mapping[str, int]:
    """Return the revision of each subject that was ever changed. Read it before the subjects."""
    rows = connection.execute(select(RevisionTable.c.subject, RevisionTable.c.number))
    return {row.subject: row.number for row in rows}
