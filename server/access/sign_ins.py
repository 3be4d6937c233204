"""Sign people in: one-time links, cookies, and the database behind `auth`.

Each is identified by a random secret. Only its SHA-256 is stored, so a copy of the database gives no access.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, insert, select

from server.access import people
from server.access.people import Member
from server.access.roles import Actor
from server.access.tokens import Grant, find, hashed
from server.clock import utc_now
from server.db.store import Store
from server.db.tables import AssignmentTable, OneTimeLinkTable, PersonTable, RunTable, SignInTable, StudyTable
from server.errors import LinkUsed

HOURS = 12  # a working day: a page left open overnight needs another sign-in
_LINK_DAYS = 7
_BYTES = 32


def begin(connection: Connection, person: int, at: datetime) -> str:
    """Store a sign-in and return its secret for the browser's cookie. Delete expired sign-ins."""
    connection.execute(delete(SignInTable).where(SignInTable.c.expires_at <= at))
    secret = secrets.token_urlsafe(_BYTES)
    values = {"person_id": person, "hash": hashed(secret), "created_at": at}
    connection.execute(insert(SignInTable).values(**values, expires_at=at + timedelta(hours=HOURS)))
    return secret


def signed_in(connection: Connection, digest: str, at: datetime) -> Member | None:
    """Return the account signed in under the secret with this SHA-256; None if the sign-in has ended."""
    query = select(SignInTable.c.person_id).where(SignInTable.c.hash == digest, SignInTable.c.expires_at > at)
    person = connection.execute(query).scalar_one_or_none()
    return None if person is None else people.by_id(connection, person)


def end(connection: Connection, digest: str) -> None:
    """Delete one sign-in."""
    connection.execute(delete(SignInTable).where(SignInTable.c.hash == digest))


def end_all(connection: Connection, person: int) -> None:
    """Delete all sign-ins of an account."""
    connection.execute(delete(SignInTable).where(SignInTable.c.person_id == person))


@dataclass(frozen=True, slots=True)
class Invited:
    """The account of a one-time link; None for the link that makes the first owner."""

    member: Member | None


def new_link(connection: Connection, person: int | None, at: datetime) -> str:
    """Create a one-time link for choosing a password, and return its secret. Earlier links are deleted.

    Without a person, it is the first owner's link, which is valid only while there are no accounts.
    """
    mine = (
        OneTimeLinkTable.c.person_id.is_(None) if person is None else OneTimeLinkTable.c.person_id == person
    )
    connection.execute(delete(OneTimeLinkTable).where(mine))
    secret = secrets.token_urlsafe(_BYTES)
    values = {"person_id": person, "hash": hashed(secret), "expires_at": at + timedelta(days=_LINK_DAYS)}
    connection.execute(insert(OneTimeLinkTable).values(**values))
    return secret


def revoke_links(connection: Connection, person: int) -> None:
    """Delete an account's one-time links."""
    connection.execute(delete(OneTimeLinkTable).where(OneTimeLinkTable.c.person_id == person))


def look_at_link(connection: Connection, secret: str) -> Invited:
    """Return the account of a link, without using the link up. Raises LinkUsed if it is not valid."""
    query = select(OneTimeLinkTable.c.person_id).where(
        OneTimeLinkTable.c.hash == hashed(secret), OneTimeLinkTable.c.expires_at > utc_now()
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise LinkUsed("This link was used before, or is too old")
    if row.person_id is None:
        if has_people(connection):
            raise LinkUsed("This installation has an owner already")
        return Invited(None)
    return Invited(people.by_id(connection, row.person_id))


def use_link(connection: Connection, secret: str) -> None:
    """Let a link lead nowhere any more."""
    connection.execute(delete(OneTimeLinkTable).where(OneTimeLinkTable.c.hash == hashed(secret)))


def has_people(connection: Connection) -> bool:
    """Return whether anybody may sign in."""
    return (
        connection.execute(
            select(PersonTable.c.id).where(PersonTable.c.removed_at.is_(None)).limit(1)
        ).first()
        is not None
    )


class StoredDirectory:
    """Looks up tokens, sign-ins, and the studies of requests."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def grant(self, digest: str) -> Grant | None:
        """Return the grant whose token has this SHA-256."""
        return await self._store.look_up(lambda connection: find(connection, digest))

    async def signed_in(self, digest: str) -> Actor | None:
        """Return the person whose browser has signed in under the secret with this SHA-256."""

        def read(connection: Connection) -> Actor | None:
            person = signed_in(connection, digest, utc_now())
            return None if person is None else Actor("person", person.name, person.roles)

        return await self._store.look_up(read)

    async def study_of(self, named: Mapping[str, str]) -> str | None:
        """Return the name of the study that a request's path belongs to; None if it belongs to none.

        For a missing run or assignment, return an empty name, which is not any account's study.
        """
        if "study" in named:
            return named["study"]
        if "run" in named:
            query, key = _OF_RUN, named["run"]
        elif "assignment" in named:
            query, key = _OF_ASSIGNMENT, named["assignment"]
        else:
            return None

        def read(connection: Connection) -> str:
            found: str | None = connection.execute(query, {"key": key}).scalar_one_or_none()
            return found or ""

        return await self._store.look_up(read)


_OF_RUNS = (
    select(StudyTable.c.name).select_from(StudyTable).join(RunTable, RunTable.c.study_id == StudyTable.c.id)
)
_OF_RUN = _OF_RUNS.where(RunTable.c.slug == bindparam("key"))
_OF_ASSIGNMENT = _OF_RUNS.join(AssignmentTable, AssignmentTable.c.run_id == RunTable.c.id).where(
    AssignmentTable.c.id == bindparam("key")
)
