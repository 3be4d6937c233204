"""The audit log: all actions, with their actors.

A row is written in the same transaction as the action. A trigger of the database refuses to change it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Connection, Select, insert, select

from server.clock import utc_now
from server.db.tables import AuditEntryTable


class Doer(Protocol):
    """The actor of an action: a kind, such as `person` or `token`, and a name."""

    @property
    def kind(self) -> str:
        """The kind of actor."""
        ...

    @property
    def name(self) -> str:
        """The actor's name."""
        ...


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A user of a command on the server's machine. They have the database, so they need no permission."""

    kind: str = "command"
    name: str = "command line"


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A row of the log. `detail`: a sentence for people, or empty."""

    id: int
    at: datetime
    kind: str
    actor: str
    action: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Conditions for rows; None means any. `before`: rows older than this id."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


def record(connection: Connection, actor: Doer, action: str, subject: str, detail: str = "") -> None:
    """Log an action.

    Args:
        connection: The transaction of the action.
        actor: The actor.
        action: The kind of thing and the action, such as `run.close`.
        subject: The name of the thing.
        detail: Anything else a reader should know; never a password, a token or a worker's id.
    """
    values = {"kind": actor.kind, "actor": actor.name, "action": action, "subject": subject, "detail": detail}
    connection.execute(insert(AuditEntryTable).values(at=utc_now(), **values))


def entries(connection: Connection, wanted: AuditFilter, most: int | None = None) -> list[AuditRecord]:
    """Return the matching rows, newest first, at most `most`."""
    query = _matching(wanted).order_by(AuditEntryTable.c.id.desc())
    return [AuditRecord(*row) for row in connection.execute(query if most is None else query.limit(most))]


def _matching(wanted: AuditFilter) -> Select[Any]:
    query = select(
        AuditEntryTable.c.id,
        AuditEntryTable.c.at,
        AuditEntryTable.c.kind,
        AuditEntryTable.c.actor,
        AuditEntryTable.c.action,
        AuditEntryTable.c.subject,
        AuditEntryTable.c.detail,
    )
    for condition in (
        AuditEntryTable.c.actor == wanted.actor if wanted.actor is not None else None,
        AuditEntryTable.c.action.startswith(wanted.action, autoescape=True)
        if wanted.action is not None
        else None,
        AuditEntryTable.c.subject == wanted.subject if wanted.subject is not None else None,
        AuditEntryTable.c.at >= wanted.since if wanted.since is not None else None,
        AuditEntryTable.c.at < wanted.until if wanted.until is not None else None,
        AuditEntryTable.c.id < wanted.before if wanted.before is not None else None,
    ):
        if condition is not None:
            query = query.where(condition)
    return query
