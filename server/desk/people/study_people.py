"""Endpoints that manage the people of one study, for its owners."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, StringConstraints
from sqlalchemy import Connection

from server.access import people, sign_ins
from server.access.actor import Actor, Allowed, Caller
from server.access.parts import PublicUrl
from server.access.people import Member
from server.access.roles import ALL_STUDIES, Role
from server.clock import utc_now
from server.db.audit import record
from server.db.runs.studies import find_study
from server.desk.listed import Lists
from server.desk.people.people import password_link, said
from server.errors import NotYours, PersonNotFound

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class InStudy(BaseModel):
    """An account with access to a study. `role`: its role in this study; `of_all`: its role for all studies.

    `has_password`: its owner has chosen one. `may_have_link`: the caller may create a password link for it.
    """

    name: str
    role: Role | None
    of_all: Role | None
    has_password: bool
    may_have_link: bool


class StudyPeople(BaseModel):
    """All accounts with access to a study, by name."""

    people: list[InStudy]


class RoleInStudy(BaseModel):
    """An account's name, and its role in the study."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    role: Role


class GrantedInStudy(InStudy):
    """An account with its role. A new account has a link for choosing a password, which is shown only now."""

    link: str | None


router = APIRouter(
    prefix="/api/desk/studies/{study}/people",
    tags=["people"],
    dependencies=[Depends(Allowed("manage_study_people"))],
)


@router.get("")
async def list_study_people(study: str, actor: Caller, store: Lists) -> StudyPeople:
    """List accounts with access to the study, including those with a role for all studies."""
    return people_of(study, await store.read(people.every), actor)


@router.post("", status_code=201)
async def grant_in_study(
    study: str, body: RoleInStudy, actor: Caller, store: Lists, public_url: PublicUrl
) -> GrantedInStudy:
    """Give an account a role in the study.

    A new account gets a password link; others keep their password.
    """
    at = utc_now()

    def grant(connection: Connection) -> GrantedInStudy:
        find_study(connection, study)
        new = people.grant(connection, body.name, body.role, study, at)
        member = people.require(connection, body.name)
        action = "person.role" if new is None else "person.add"
        record(connection, actor, action, member.name, said(body.role, study))
        link = None if new is None else sign_ins.new_link(connection, new, at)
        shown = None if link is None else password_link(public_url, link)
        return GrantedInStudy(**dict(_row(member, study, actor)), link=shown)

    return await store.submit(grant)


@router.post("/{person}/link")
async def new_link_in_study(
    study: str, person: str, actor: Caller, store: Lists, public_url: PublicUrl
) -> GrantedInStudy:
    """Create another link for choosing a password. Earlier links are cancelled.

    Allowed only if the caller owns all studies in which the account has a role, because the link gives
    access to the account.
    """

    def make(connection: Connection) -> GrantedInStudy:
        member = people.require(connection, person)
        row = _row(member, study, actor)
        if row.role is None:
            raise PersonNotFound(f"`{member.name}` has no role in this study")
        if not row.may_have_link:
            raise NotYours(f"`{member.name}` has a role in a study that {actor.name} does not own")
        record(connection, actor, "person.link", member.name)
        link = sign_ins.new_link(connection, member.id, utc_now())
        return GrantedInStudy(**dict(row), link=password_link(public_url, link))

    return await store.submit(make)


@router.delete("/{person}", status_code=204)
async def remove_from_study(study: str, person: str, actor: Caller, store: Lists) -> Response:
    """Remove an account's role in the study. An account without any role can no longer sign in."""

    def leave(connection: Connection) -> None:
        people.leave_study(connection, person, study, utc_now())
        record(connection, actor, "person.role", person.lower(), f"none of {study}")

    await store.submit(leave)
    return Response(status_code=204)


def people_of(study: str, found: Iterable[Member], actor: Actor) -> StudyPeople:
    """Return the accounts with access to a study, as `actor` sees them."""
    rows = [_row(member, study, actor) for member in found]
    return StudyPeople(people=[row for row in rows if row.role is not None or row.of_all is not None])


def _row(member: Member, study: str, actor: Actor) -> InStudy:
    return InStudy(
        name=member.name,
        role=member.roles.get(study),
        of_all=member.roles.get(ALL_STUDIES),
        has_password=member.password is not None,
        may_have_link=all(actor.may("manage_study_people", where) for where in member.roles),
    )
