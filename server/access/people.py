"""Store accounts of the desk, their passwords (Argon2id) and roles. The audit log names removed ones too."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, delete, func, insert, select, update

from server.access.roles import ALL_STUDIES, ROLES, Role
from server.db.tables import OneTimeLinkTable, PersonRoleTable, PersonTable, SignInTable
from server.errors import InvalidField, LastOwner, PersonExists, PersonNotFound

_NAME = re.compile("[a-z0-9][a-z0-9._@+-]{0,99}")


@dataclass(frozen=True, slots=True)
class Member:
    """An account of the desk. `roles`: by study name, with `ALL_STUDIES` for all studies.

    `password`: its stored hash; None if there is no password yet. `link_expires_at`: when its open link for
    choosing a password expires, or has expired; None if it has none.
    """

    id: int
    name: str
    password: str | None
    created_at: datetime
    link_expires_at: datetime | None
    roles: Mapping[str, Role]


def add(connection: Connection, name: str, role: Role, study: str, at: datetime) -> int:
    """Add an account without a password, and return the id of its row.

    Args:
        connection: a transaction.
        name: the name to sign in with, such as an e-mail address; converted to lowercase.
        role: its role.
        study: the study of the role, or `ALL_STUDIES`.
        at: the current time.

    Raises:
        InvalidField: `name` is not a valid name.
        PersonExists: there is an account with this name.
    """
    name = name.lower()
    if not _NAME.fullmatch(name):
        raise InvalidField(
            f"“{name}” cannot be the name of a person",
            "Use an e-mail address, or at most 100 letters, digits and . _ + -",
        )
    if find(connection, name) is not None:
        raise PersonExists(f"An account named “{name}” exists already")
    added = insert(PersonTable).values(name=name, created_at=at).returning(PersonTable.c.id)
    person = int(connection.execute(added).scalar_one())
    connection.execute(insert(PersonRoleTable).values(person_id=person, study=study, role=role))
    return person


def every(connection: Connection) -> list[Member]:
    """Return all accounts, by name."""
    rows = connection.execute(_PEOPLE.order_by(PersonTable.c.name))
    return [_member(connection, row) for row in rows]


def find(connection: Connection, name: str) -> Member | None:
    """Return the account with that name, in upper or lower case; None if there is none."""
    row = connection.execute(_PEOPLE.where(PersonTable.c.name == name.lower())).one_or_none()
    return None if row is None else _member(connection, row)


def require(connection: Connection, name: str) -> Member:
    """Return the account with that name. Raises PersonNotFound."""
    found = find(connection, name)
    if found is None:
        raise PersonNotFound(f"There is no account named “{name}”")
    return found


def by_id(connection: Connection, person: int) -> Member | None:
    """Return the account whose row has this id, unless it was removed."""
    row = connection.execute(_PEOPLE.where(PersonTable.c.id == person)).one_or_none()
    return None if row is None else _member(connection, row)


def set_role(connection: Connection, name: str, role: Role | None, study: str) -> bool:
    """Set an account's role for a study or for all studies. None removes the role there.

    If the account gains permissions, its open password links are deleted: their creator could use them, and
    may own fewer studies. For the same reason, the first role for all studies deletes its password and
    sign-ins, because those who managed the account so far may know the password.

    Returns:
        Whether the account needs a password link now.

    Raises:
        PersonNotFound: there is no such account.
        InvalidField: it is the last role: remove the account instead.
        LastOwner: there is no other owner of all studies.
    """
    person = require(connection, name)
    left = {where: held for where, held in person.roles.items() if where != study}
    if role is None and not left:
        raise InvalidField(f"“{person.name}” would have no role left", "Remove the person instead.")
    if study == ALL_STUDIES and role != "owner":
        _require_another_owner(connection, person)
    gains = role is not None and _gains(person, role, study)
    begins = study == ALL_STUDIES and ALL_STUDIES not in person.roles
    if gains:
        connection.execute(delete(OneTimeLinkTable).where(OneTimeLinkTable.c.person_id == person.id))
    if gains and begins:
        connection.execute(update(PersonTable).where(PersonTable.c.id == person.id).values(password=None))
        connection.execute(delete(SignInTable).where(SignInTable.c.person_id == person.id))
    its_row = (PersonRoleTable.c.person_id == person.id, PersonRoleTable.c.study == study)
    connection.execute(delete(PersonRoleTable).where(*its_row))
    if role is not None:
        connection.execute(insert(PersonRoleTable).values(person_id=person.id, study=study, role=role))
    return gains and (begins or person.password is None)


def _gains(person: Member, role: Role, study: str) -> bool:
    held = person.roles.get(study)
    return held is None or ROLES.index(role) > ROLES.index(held)


def grant(connection: Connection, name: str, role: Role, study: str, at: datetime) -> int | None:
    """Give an account a role in one study. Return the id of its row if the account is new, else None.

    Raises InvalidField if `name` is not a valid name.
    """
    if find(connection, name) is None:
        return add(connection, name, role, study, at)
    set_role(connection, name, role, study)
    return None


def leave_study(connection: Connection, name: str, study: str, at: datetime) -> None:
    """Remove an account's role in one study, and the account if it was the last role.

    Raises PersonNotFound if no account of this name has a role there.
    """
    person = require(connection, name)
    if study not in person.roles:
        raise PersonNotFound(f"“{person.name}” has no role in this study")
    if len(person.roles) == 1:
        remove(connection, name, at)
    else:
        set_role(connection, name, None, study)


def forget_study(connection: Connection, study: str) -> None:
    """Remove the roles in a deleted study, so that they do not apply to a later study with the same name.

    Every account must have a role. So an account without another role keeps it, for a name that no study can
    have.
    """
    elsewhere = select(PersonRoleTable.c.person_id).where(PersonRoleTable.c.study != study)
    of_it = PersonRoleTable.c.study == study
    connection.execute(delete(PersonRoleTable).where(of_it, PersonRoleTable.c.person_id.in_(elsewhere)))
    connection.execute(update(PersonRoleTable).where(of_it).values(study=f"{study} (deleted)"))


def remove(connection: Connection, name: str, at: datetime) -> None:
    """Remove an account at once. Raises PersonNotFound, or LastOwner if it is the last owner."""
    person = require(connection, name)
    _require_another_owner(connection, person)
    connection.execute(delete(PersonRoleTable).where(PersonRoleTable.c.person_id == person.id))
    connection.execute(delete(SignInTable).where(SignInTable.c.person_id == person.id))
    connection.execute(delete(OneTimeLinkTable).where(OneTimeLinkTable.c.person_id == person.id))
    connection.execute(
        update(PersonTable).where(PersonTable.c.id == person.id).values(removed_at=at, password=None)
    )


def set_password(connection: Connection, person: int, stored: str, *, kept: str = "") -> None:
    """Set an account's password; delete its links, and all its sign-ins except that with the hash `kept`."""
    connection.execute(update(PersonTable).where(PersonTable.c.id == person).values(password=stored))
    connection.execute(
        delete(SignInTable).where(SignInTable.c.person_id == person, SignInTable.c.hash != kept)
    )
    connection.execute(delete(OneTimeLinkTable).where(OneTimeLinkTable.c.person_id == person))


def _require_another_owner(connection: Connection, person: Member) -> None:
    if person.roles.get(ALL_STUDIES) != "owner":
        return
    owners = [other for other in every(connection) if other.roles.get(ALL_STUDIES) == "owner"]
    if len(owners) == 1:
        raise LastOwner(f"“{person.name}” is the only owner of this installation")


_LINK = (
    select(func.max(OneTimeLinkTable.c.expires_at))
    .where(OneTimeLinkTable.c.person_id == PersonTable.c.id)
    .scalar_subquery()
)
_PEOPLE = select(
    PersonTable.c.id, PersonTable.c.name, PersonTable.c.password, PersonTable.c.created_at, _LINK
).where(PersonTable.c.removed_at.is_(None))


def _member(connection: Connection, row: Any) -> Member:
    person, name, password, created_at, link_expires_at = row
    query = select(PersonRoleTable.c.study, PersonRoleTable.c.role).where(
        PersonRoleTable.c.person_id == person
    )
    roles = {held.study: held.role for held in connection.execute(query.order_by(PersonRoleTable.c.study))}
    return Member(person, name, password, created_at, link_expires_at, roles)


SHORTEST, LONGEST = (
    12,
    200,
)  # characters: only length counts (NIST SP 800-63B, 3.1.1)
_AT_ONCE = 2  # each takes 64 MiB for some 50 ms
hasher = PasswordHasher()
_turns = asyncio.Semaphore(_AT_ONCE)


def require_good(password: str) -> None:
    """Check that a password may be chosen. Raises InvalidField."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidField(
            f"A password must have {SHORTEST} to {LONGEST} characters",
            "Choose several words: they are easy to remember and hard to guess.",
        )


def hashed_now(password: str) -> str:
    """Return the hash of a password. Takes tens of milliseconds."""
    return hasher.hash(password)


async def hashed(password: str) -> str:
    """Return the hash of a password, computed in a thread."""
    async with _turns:
        return await asyncio.to_thread(hashed_now, password)


async def is_right(stored: str | None, password: str) -> bool:
    """Return whether `stored` is the hash of a password. None (no account) takes as long, and is wrong."""
    async with _turns:
        return await asyncio.to_thread(_verified, stored, password)


def _verified(stored: str | None, password: str) -> bool:
    try:
        hasher.verify(stored or _nobodys(), password[:LONGEST])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


@cache
def _nobodys() -> str:
    return hasher.hash("the password of nobody")
