"""The tables of who may use the desk, and of what they did there."""

from datetime import datetime

from sqlmodel import Field

from server.db.tables.table import Table, index_where


class Token(Table, table=True):
    """The right to use the researcher's API or to dial in. Of the token itself the SHA-256 is kept.

    `scope`: a role, or `host`; `study`: the one that the role is for; null: all.
    """

    __table_args__ = (index_where("revoked_at IS NULL", "one_token_of_a_name", "name", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    scope: str
    hash: str = Field(unique=True)
    created_at: datetime
    revoked_at: datetime | None = None
    study: str | None = None


class SecretMark(Table, table=True):
    """A mark of a secret that this database depends on, by its purpose: `secret_marks`."""

    __tablename__ = "secret_mark"
    purpose: str = Field(primary_key=True)
    mark: str


class Person(Table, table=True):
    """Somebody who uses the desk: `people`. `password`: Argon2's hash of it."""

    __table_args__ = (index_where("removed_at IS NULL", "one_person_of_a_name", "name", unique=True),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    password: str | None = None
    created_at: datetime
    removed_at: datetime | None = None


class PersonRole(Table, table=True):
    """The role that a person has for a study; an empty name stands for all studies."""

    __tablename__ = "person_role"
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    study: str = Field(primary_key=True)
    role: str


class SignIn(Table, table=True):
    """A browser in which somebody is signed in, by the SHA-256 of its cookie: `sign_ins`."""

    __tablename__ = "sign_in"
    hash: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id")
    created_at: datetime
    expires_at: datetime


class OneTimeLink(Table, table=True):
    """A link that lets a person choose a password, once; without a person, the first owner's."""

    __tablename__ = "one_time_link"
    hash: str = Field(primary_key=True)
    person_id: int | None = Field(default=None, foreign_key="person.id")
    expires_at: datetime


class AuditEntry(Table, table=True):
    """Something that was done, by whom: `audit`. A trigger refuses to update or delete a row."""

    __tablename__ = "audit_entry"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime
    kind: str
    actor: str
    action: str
    subject: str
    detail: str
