"""Tokens for people and machines beside the installation's own: made, found, listed, revoked.

A token is shown once, when it is made. What is stored is its SHA-256: of 32 random bytes nobody finds
the token again, so that a copy of the database opens nothing. Rows only; who may do what is `auth`'s.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Select, func, insert, select, update

from server.access.roles import ALL_STUDIES, Role
from server.db.tables import Token
from server.errors import InvalidField, TokenExists, TokenNotFound

Scope = Literal["researcher", "host", "analyst", "viewer"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_PREFIX = "cand_"
_BYTES = 32
_FORM = re.compile(_PREFIX + "[A-Za-z0-9_-]{43}")  # 43 characters hold 32 bytes
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


@dataclass(frozen=True, slots=True)
class Grant:
    """A token as it stands in the database: everything but the token.

    `study`: the one that it is for; empty: all of them.
    """

    name: str
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None
    study: str = ALL_STUDIES

    @property
    def roles(self) -> dict[str, Role]:
        """The role that the token stands for, by study; a host has none."""
        return {} if self.scope == "host" else {self.study: self.scope}


def hashed(token: str) -> str:
    """Return what is stored of a token: its SHA-256 in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_well_formed(text: str) -> bool:
    """Return whether `text` looks like a token of this module, so that the database need be asked."""
    return _FORM.fullmatch(text) is not None


def new(connection: Connection, name: str, scope: Scope, at: datetime, study: str = ALL_STUDIES) -> str:
    """Make a token and return it; nobody can learn it again.

    Args:
        connection: a transaction.
        name: whose it is.
        scope: the role that it stands for, or `host`.
        at: now.
        study: the name of the study that it is for; a host's is for all.

    Raises:
        InvalidField: `name` cannot name a token, or a host's is to be for one study.
        TokenExists: a token of this name is in use.
    """
    if not _NAME.fullmatch(name):
        raise InvalidField(
            f"`{name}` cannot be the name of a token",
            "Use letters, digits and . _ @ -, at most 64 of them, the first one a letter or a digit.",
        )
    if scope == "host" and study != ALL_STUDIES:
        raise InvalidField("a host's token is for all studies", "Leave the study away.")
    if connection.execute(
        select(Token.c.id).where(Token.c.name == name, Token.c.revoked_at.is_(None))
    ).first():
        raise TokenExists(f"there is a token named `{name}`, and it is in use")
    token = _PREFIX + secrets.token_urlsafe(_BYTES)
    values = {"name": name, "scope": scope, "study": study or None, "hash": hashed(token), "created_at": at}
    connection.execute(insert(Token).values(**values))
    return token


def find(connection: Connection, digest: str) -> Grant | None:
    """Return the grant whose token has this SHA-256, revoked ones too.

    The search by index takes no constant time, and need not: whoever measures it learns of a hash,
    from which no token can be made.
    """
    row = connection.execute(_grants().where(Token.c.hash == digest)).one_or_none()
    return None if row is None else Grant(*row)


def every(connection: Connection) -> list[Grant]:
    """Return every token there ever was, oldest first."""
    return [Grant(*row) for row in connection.execute(_grants().order_by(Token.c.id))]


def revoke(connection: Connection, name: str, at: datetime) -> None:
    """Let the token of this name open nothing any more. Raises TokenNotFound."""
    in_use = update(Token).where(Token.c.name == name, Token.c.revoked_at.is_(None))
    if connection.execute(in_use.values(revoked_at=at)).rowcount == 0:
        raise TokenNotFound(f"no token named `{name}` is in use")


def _grants() -> Select[Any]:
    return select(
        Token.c.name,
        Token.c.scope,
        Token.c.created_at,
        Token.c.revoked_at,
        func.coalesce(Token.c.study, ALL_STUDIES),
    )
