"""People who use the desk, and their roles: rows only. Whoever is removed stays in the log by their name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from server.access.roles import ALL_STUDIES, ROLES, Role
from server.db.tables import OneTimeLink, Person, PersonRole, SignIn
from server.errors import InvalidField, LastOwner, PersonExists, PersonNotFound

_NAME = re.compile("[a-z0-9][a-z0-9._@+-]{0,99}")


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who may use the desk. `roles`: by the study's name, `ALL_STUDIES` for all.

    `password`: what is stored of it; None as long as they have none.
    """

    id: int
    name: str
    password: str | None
    created_at: datetime
    roles: Mapping[str, Role]


def add(connection: Connection, name: str, role: Role, study: str, at: datetime) -> int:
    """Let somebody use the desk, and return the id of their row; they have no password yet.

    Args:
        connection: a transaction.
        name: by which they sign in, an e-mail address or another one; capitals are made small.
        role: theirs.
        study: the one that it is for, or `ALL_STUDIES`.
        at: now.

    Raises:
        InvalidField: `name` cannot be a person's.
        PersonExists: there is a person of this name.
    """
    name = name.lower()
    if not _NAME.fullmatch(name):
        raise InvalidField(
            f"`{name}` cannot be the name of a person",
            "Use an e-mail address, or letters, digits and . _ + -, at most 100 of them.",
        )
    if find(connection, name) is not None:
        raise PersonExists(f"there is a person named `{name}` already")
    added = insert(Person).values(name=name, created_at=at).returning(Person.c.id)
    person = int(connection.execute(added).scalar_one())
    connection.execute(insert(PersonRole).values(person_id=person, study=study, role=role))
    return person


def every(connection: Connection) -> list[Member]:
    """Return everybody who may use the desk, by name."""
    rows = connection.execute(select(Person).where(Person.c.removed_at.is_(None)).order_by(Person.c.name))
    return [_member(connection, row.id, row.name, row.password, row.created_at) for row in rows]


def find(connection: Connection, name: str) -> Member | None:
    """Return the person of that name, in small letters or capitals."""
    query = select(Person).where(Person.c.name == name.lower(), Person.c.removed_at.is_(None))
    row = connection.execute(query).one_or_none()
    return None if row is None else _member(connection, row.id, row.name, row.password, row.created_at)


def require(connection: Connection, name: str) -> Member:
    """Return the person of that name. Raises PersonNotFound."""
    found = find(connection, name)
    if found is None:
        raise PersonNotFound(f"there is no person named `{name}`")
    return found


def by_id(connection: Connection, person: int) -> Member | None:
    """Return the person whose row has this id, unless they were removed."""
    query = select(Person).where(Person.c.id == person, Person.c.removed_at.is_(None))
    row = connection.execute(query).one_or_none()
    return None if row is None else _member(connection, row.id, row.name, row.password, row.created_at)


def set_role(connection: Connection, name: str, role: Role | None, study: str) -> bool:
    """Give somebody a role for a study, or for all; None takes away the one that they have there.

    Whoever gains by it: links to a new password that are open lead nowhere any more. Who made one could use
    it, and may have been somebody who owns less. For the same reason a first role for all studies ends their
    password and their sign-ins: who let them in until now may know the one.

    Returns:
        Whether they need a link to a password now.

    Raises:
        PersonNotFound: there is no such person.
        InvalidField: it is their last role: whoever is to have none is removed.
        LastOwner: nobody else is an owner of all studies.
    """
    person = require(connection, name)
    left = {where: held for where, held in person.roles.items() if where != study}
    if role is None and not left:
        raise InvalidField(f"`{person.name}` would have no role left", "Remove the person instead.")
    if study == ALL_STUDIES and role != "owner":
        _require_another_owner(connection, person)
    gains = role is not None and _gains(person, role, study)
    begins = study == ALL_STUDIES and ALL_STUDIES not in person.roles
    if gains:
        connection.execute(delete(OneTimeLink).where(OneTimeLink.c.person_id == person.id))
    if gains and begins:
        connection.execute(update(Person).where(Person.c.id == person.id).values(password=None))
        connection.execute(delete(SignIn).where(SignIn.c.person_id == person.id))
    its_row = (PersonRole.c.person_id == person.id, PersonRole.c.study == study)
    connection.execute(delete(PersonRole).where(*its_row))
    if role is not None:
        connection.execute(insert(PersonRole).values(person_id=person.id, study=study, role=role))
    return gains and (begins or person.password is None)


def _gains(person: Member, role: Role, study: str) -> bool:
    held = person.roles.get(study)
    return held is None or ROLES.index(role) > ROLES.index(held)


def grant(connection: Connection, name: str, role: Role, study: str, at: datetime) -> int | None:
    """Give somebody a role in one study; return the id of their row where they are new, else None.

    Raises InvalidField: `name` cannot be a person's.
    """
    if find(connection, name) is None:
        return add(connection, name, role, study, at)
    set_role(connection, name, role, study)
    return None


def leave_study(connection: Connection, name: str, study: str, at: datetime) -> None:
    """Take somebody's role in one study away; whoever has none in another is removed.

    Raises PersonNotFound: nobody of this name has a role there.
    """
    person = require(connection, name)
    if study not in person.roles:
        raise PersonNotFound(f"`{person.name}` has no role in this study")
    if len(person.roles) == 1:
        remove(connection, name, at)
    else:
        set_role(connection, name, None, study)


def forget_study(connection: Connection, study: str) -> None:
    """Take the roles in a study that is no more away, so that a later one of its name is not theirs.

    Somebody who may sign in has a role: who has no other keeps theirs, for a name that no study can have.
    """
    elsewhere = select(PersonRole.c.person_id).where(PersonRole.c.study != study)
    of_it = PersonRole.c.study == study
    connection.execute(delete(PersonRole).where(of_it, PersonRole.c.person_id.in_(elsewhere)))
    connection.execute(update(PersonRole).where(of_it).values(study=f"{study} (deleted)"))


def remove(connection: Connection, name: str, at: datetime) -> None:
    """Let somebody in no more, at once. Raises PersonNotFound; LastOwner: nobody else is one."""
    person = require(connection, name)
    _require_another_owner(connection, person)
    connection.execute(delete(PersonRole).where(PersonRole.c.person_id == person.id))
    connection.execute(delete(SignIn).where(SignIn.c.person_id == person.id))
    connection.execute(delete(OneTimeLink).where(OneTimeLink.c.person_id == person.id))
    connection.execute(update(Person).where(Person.c.id == person.id).values(removed_at=at, password=None))


def set_password(connection: Connection, person: int, stored: str, *, kept: str = "") -> None:
    """Give somebody another password; end open links, and every sign-in but the one with the hash `kept`."""
    connection.execute(update(Person).where(Person.c.id == person).values(password=stored))
    connection.execute(delete(SignIn).where(SignIn.c.person_id == person, SignIn.c.hash != kept))
    connection.execute(delete(OneTimeLink).where(OneTimeLink.c.person_id == person))


def _require_another_owner(connection: Connection, person: Member) -> None:
    if person.roles.get(ALL_STUDIES) != "owner":
        return
    owners = [other for other in every(connection) if other.roles.get(ALL_STUDIES) == "owner"]
    if len(owners) == 1:
        raise LastOwner(f"`{person.name}` is the only owner of this installation")


def _member(
    connection: Connection, person: int, name: str, password: str | None, created_at: datetime
) -> Member:
    query = select(PersonRole.c.study, PersonRole.c.role).where(PersonRole.c.person_id == person)
    roles = {row.study: row.role for row in connection.execute(query.order_by(PersonRole.c.study))}
    return Member(person, name, password, created_at, roles)
