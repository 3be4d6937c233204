"""Sign-ins, and the links that lead to a first or another password: rows only.

Each is known by a random secret, of which the SHA-256 is stored: a copy of the database opens nothing.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select

from server.access import people
from server.access.people import Member
from server.access.tokens import hashed
from server.clock import utc_now
from server.db.tables import OneTimeLink, Person, SignIn
from server.errors import LinkUsed

HOURS = 12  # a working day: whoever leaves the page open over night signs in again
_LINK_DAYS = 7
_BYTES = 32


def begin(connection: Connection, person: int, at: datetime) -> str:
    """Sign somebody in, and return the secret that their browser keeps; forget what is over."""
    connection.execute(delete(SignIn).where(SignIn.c.expires_at <= at))
    secret = secrets.token_urlsafe(_BYTES)
    values = {"person_id": person, "hash": hashed(secret), "created_at": at}
    connection.execute(insert(SignIn).values(**values, expires_at=at + timedelta(hours=HOURS)))
    return secret


def signed_in(connection: Connection, digest: str, at: datetime) -> Member | None:
    """Return who has signed in under the secret with this SHA-256; None where that is over."""
    query = select(SignIn.c.person_id).where(SignIn.c.hash == digest, SignIn.c.expires_at > at)
    person = connection.execute(query).scalar_one_or_none()
    return None if person is None else people.by_id(connection, person)


def end(connection: Connection, digest: str) -> None:
    """Sign somebody out in one browser."""
    connection.execute(delete(SignIn).where(SignIn.c.hash == digest))


def end_all(connection: Connection, person: int) -> None:
    """Sign somebody out everywhere."""
    connection.execute(delete(SignIn).where(SignIn.c.person_id == person))


@dataclass(frozen=True, slots=True)
class Invited:
    """Whom a one-time link is for: a person, or whoever becomes the first owner (None)."""

    member: Member | None


def new_link(connection: Connection, person: int | None, at: datetime) -> str:
    """Return the secret of a link that lets `person` choose a password, once; earlier ones open nothing more.

    Without a person it is the first owner's, and good only as long as nobody uses the desk.
    """
    mine = OneTimeLink.c.person_id.is_(None) if person is None else OneTimeLink.c.person_id == person
    connection.execute(delete(OneTimeLink).where(mine))
    secret = secrets.token_urlsafe(_BYTES)
    values = {"person_id": person, "hash": hashed(secret), "expires_at": at + timedelta(days=_LINK_DAYS)}
    connection.execute(insert(OneTimeLink).values(**values))
    return secret


def look_at_link(connection: Connection, secret: str) -> Invited:
    """Return whom a link is for; it stays good. Raises LinkUsed: it leads nowhere (any more)."""
    query = select(OneTimeLink.c.person_id).where(
        OneTimeLink.c.hash == hashed(secret), OneTimeLink.c.expires_at > utc_now()
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise LinkUsed("this link was used before, or is too old")
    if row.person_id is None:
        if has_people(connection):
            raise LinkUsed("this installation has an owner already")
        return Invited(None)
    return Invited(people.by_id(connection, row.person_id))


def use_link(connection: Connection, secret: str) -> None:
    """Let a link lead nowhere any more."""
    connection.execute(delete(OneTimeLink).where(OneTimeLink.c.hash == hashed(secret)))


def has_people(connection: Connection) -> bool:
    """Return whether anybody may sign in."""
    return (
        connection.execute(select(Person.c.id).where(Person.c.removed_at.is_(None)).limit(1)).first()
        is not None
    )
