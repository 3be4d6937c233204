"""Create, find, list and revoke tokens for people and machines.

A token is shown once, when it is created. Only its SHA-256 is stored, from which 32 random bytes cannot be
found again, so a copy of the database gives no access.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Select, func, insert, select, update

from server.access.roles import ALL_STUDIES, Role
from server.db.tables import TokenTable
from server.errors import InvalidField, TokenExists, TokenNotFound

Scope = Literal["researcher", "host", "analyst", "viewer"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_PREFIX = "cand_"
_BYTES = 32
_FORM = re.compile(_PREFIX + "[A-Za-z0-9_-]{43}")  # 43 characters hold 32 bytes
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


@dataclass(frozen=True, slots=True)
class Grant:
    """A stored token, without its secret.

    `study`: the study it is limited to; empty: all studies.
    """

    name: str
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None
    study: str = ALL_STUDIES

    @property
    def roles(self) -> dict[str, Role]:
        """The role of the token, by study; a host has none."""
        return {} if self.scope == "host" else {self.study: self.scope}


def hashed(token: str) -> str:
    """Return the stored form of a token: its SHA-256 in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_well_formed(text: str) -> bool:
    """Return whether `text` has the form of a token, so that it is worth a query of the database."""
    return _FORM.fullmatch(text) is not None


def new(connection: Connection, name: str, scope: Scope, at: datetime, study: str = ALL_STUDIES) -> str:
    """Create a token and return it. It cannot be shown again.

    Args:
        connection: a transaction.
        name: the token's name.
        scope: its role, or `host`.
        at: the current time.
        study: the name of the study it is limited to; a host's token is for all studies.

    Raises:
        InvalidField: `name` is not a valid name, or a host's token is limited to a study.
        TokenExists: a token of this name is in use.
    """
    if not _NAME.fullmatch(name):
        raise InvalidField(
            f"“{name}” cannot be the name of a token",
            "Use at most 64 letters, digits and . _ @ -, starting with a letter or a digit.",
        )
    if scope == "host" and study != ALL_STUDIES:
        raise InvalidField("A host's token is for all studies", "Omit the study.")
    if connection.execute(
        select(TokenTable.c.id).where(TokenTable.c.name == name, TokenTable.c.revoked_at.is_(None))
    ).first():
        raise TokenExists(f"A token named “{name}” exists already")
    token = _PREFIX + secrets.token_urlsafe(_BYTES)
    values = {"name": name, "scope": scope, "study": study or None, "hash": hashed(token), "created_at": at}
    connection.execute(insert(TokenTable).values(**values))
    return token


def find(connection: Connection, digest: str) -> Grant | None:
    """Return the grant whose token has this SHA-256, even if it was revoked.

    The search by index does not take constant time. That is safe: timing reveals only a hash, from which the
    token cannot be computed.
    """
    row = connection.execute(_grants().where(TokenTable.c.hash == digest)).one_or_none()
    return None if row is None else Grant(*row)


def every(connection: Connection) -> list[Grant]:
    """Return all tokens, including revoked ones, oldest first."""
    return [Grant(*row) for row in connection.execute(_grants().order_by(TokenTable.c.id))]


def revoke(connection: Connection, name: str, at: datetime) -> None:
    """Revoke the token of this name. Raises TokenNotFound."""
    in_use = update(TokenTable).where(TokenTable.c.name == name, TokenTable.c.revoked_at.is_(None))
    if connection.execute(in_use.values(revoked_at=at)).rowcount == 0:
        raise TokenNotFound(f"No token named “{name}” is in use")


def _grants() -> Select[Any]:
    return select(
        TokenTable.c.name,
        TokenTable.c.scope,
        TokenTable.c.created_at,
        TokenTable.c.revoked_at,
        func.coalesce(TokenTable.c.study, ALL_STUDIES),
    )
