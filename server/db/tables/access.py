"""The tables of desk accounts and tokens, and of the audit log."""

from datetime import datetime
from typing import ClassVar

from sqlmodel import Field

from server.db.tables.table import TableBase, index_where


class TokenTable(TableBase, table=True):
    """The right to use the researcher's API or to connect as a bot host. Only the token's SHA-256 is stored.

    `scope`: a role, or `host`. `study`: the study that the role is for; null: all.
    """

    __table_args__ = (index_where("revoked_at IS NULL", "one_token_of_a_name", "name", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    scope: str
    hash: str = Field(unique=True)
    created_at: datetime
    revoked_at: datetime | None = None
    study: str | None = None


class SecretMarkTable(TableBase, table=True):
    """The mark of a secret that this database depends on, by its purpose.

    The secret cannot be computed from it.
    """

    purpose: str = Field(primary_key=True)
    mark: str


class PersonTable(TableBase, table=True):
    """An account for the desk. `password`: its Argon2 hash."""

    __table_args__ = (index_where("removed_at IS NULL", "one_person_of_a_name", "name", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    password: str | None = None
    created_at: datetime
    removed_at: datetime | None = None


class PersonRoleTable(TableBase, table=True):
    """An account's role for a study; an empty name stands for all studies."""

    person_id: int = Field(foreign_key="person.id", primary_key=True)
    study: str = Field(primary_key=True)
    role: str


class SignInTable(TableBase, table=True):
    """A browser in which somebody is signed in, by its cookie's SHA-256."""

    removed_with: ClassVar = "when it is over"
    hash: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id")
    created_at: datetime
    expires_at: datetime


class OneTimeLinkTable(TableBase, table=True):
    """A link with which a person sets their password, once; without a person, the first owner's."""

    removed_with: ClassVar = "when used"
    hash: str = Field(primary_key=True)
    person_id: int | None = Field(default=None, foreign_key="person.id")
    expires_at: datetime


class AuditEntryTable(TableBase, table=True):
    """An action and the researcher who did it. A trigger refuses to update or delete a row.

    It can name pseudonyms, and never an id of a worker.
    """

    id: int | None = Field(default=None, primary_key=True)
    at: datetime
    kind: str
    actor: str
    action: str
    subject: str
    detail: str
