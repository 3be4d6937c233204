"""Endpoints that manage the roles that accounts have in one study, for its owners."""

from collections.abc import Iterable

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, StrictBool
from sqlalchemy import Connection

from server.access import people, sign_ins
from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.parts import PublicUrl
from server.access.people import Member
from server.access.roles import ALL_STUDIES, Role
from server.clock import ShownTime, utc_now
from server.db.audit import record
from server.db.runs.studies import find_study
from server.desk.listed import Lists
from server.desk.people.people import Mail, Name, NewLink, password_link, said
from server.errors import NotYours, PersonNotFound


class InStudy(BaseModel):
    """An account with access to a study. `role`: its role in this study; `of_all`: its role for all studies.

    `has_password`: its owner has chosen one. `link_expires_at`: when its open link for choosing one expires;
    None if it has no link. `may_have_link`: the caller may create or revoke a password link for it.
    """

    name: str
    role: Role | None
    of_all: Role | None
    has_password: bool
    link_expires_at: ShownTime | None
    may_have_link: bool


class StudyPeople(BaseModel):
    """All accounts with access to a study, by name."""

    people: list[InStudy]


class RoleInStudy(RequestBody):
    """An account's name, and its role in the study. `by_mail`: send the link of a new account by e-mail."""

    name: Name
    role: Role
    by_mail: StrictBool = False


class GrantedInStudy(InStudy):
    """An account with its role. A new account has a link for choosing a password, which is shown only now.

    `mailed`: the link was sent by e-mail. `mail_failure`: why it could not be sent.
    """

    link: str | None
    mailed: bool = False
    mail_failure: str | None = None


router = APIRouter(prefix="/api/desk", tags=["people"])
_OF_STUDY = [Depends(Allowed("manage_study_people"))]


@router.get("/studies/{study}/people", dependencies=_OF_STUDY)
async def list_study_people(study: str, actor: Caller, store: Lists) -> StudyPeople:
    """List accounts with access to the study, including those with a role for all studies."""
    return people_of(study, await store.read(people.every), actor)


@router.post("/studies/{study}/people", status_code=201, dependencies=_OF_STUDY)
async def grant_in_study(
    study: str, body: RoleInStudy, actor: Caller, store: Lists, public_url: PublicUrl, mail: Mail
) -> GrantedInStudy:
    """Give an account a role in the study.

    A new account gets a password link; others keep their password.
    """
    at = utc_now()
    if body.by_mail:
        mail.require(body.name)

    def grant(connection: Connection) -> GrantedInStudy:
        find_study(connection, study)
        new = people.grant(connection, body.name, body.role, study, at)
        member = people.require(connection, body.name)
        action = "person.role" if new is None else "person.add"
        record(connection, actor, action, member.name, said(body.role, study))
        link = None if new is None else sign_ins.new_link(connection, new, at)
        shown = None if link is None else password_link(public_url, link)
        row = _row(people.require(connection, body.name), study, actor)
        return GrantedInStudy(**dict(row), link=shown)

    made = await store.submit(grant)
    if not body.by_mail:
        return made
    texts = await store.read(lambda connection: mail.texts_for(study, connection))
    sent = await mail.send_any(
        texts, made.name, actor.name, study, made.link, made.link_expires_at, has_password=made.has_password
    )
    return made.model_copy(update=sent._asdict())


@router.post("/studies/{study}/people/{person}/link", dependencies=_OF_STUDY)
async def new_link_in_study(
    study: str,
    person: str,
    actor: Caller,
    store: Lists,
    public_url: PublicUrl,
    mail: Mail,
    body: NewLink | None = None,
) -> GrantedInStudy:
    """Create another link for choosing a password. Earlier links are cancelled.

    Allowed only if the caller owns all studies in which the account has a role, because the link gives
    access to the account.
    """
    by_mail = body is not None and body.by_mail
    if by_mail:
        mail.require(person)

    def make(connection: Connection) -> GrantedInStudy:
        member = _own(connection, person, study, actor)
        record(connection, actor, "person.link", member.name)
        link = sign_ins.new_link(connection, member.id, utc_now())
        row = _row(people.require(connection, person), study, actor)
        return GrantedInStudy(**dict(row), link=password_link(public_url, link))

    made = await store.submit(make)
    if not by_mail:
        return made
    texts = await store.read(lambda connection: mail.texts_for(study, connection))
    sent = await mail.send_any(
        texts, made.name, actor.name, study, made.link, made.link_expires_at, has_password=made.has_password
    )
    return made.model_copy(update=sent._asdict())


@router.delete("/studies/{study}/people/{person}/link", status_code=204, dependencies=_OF_STUDY)
async def revoke_link_in_study(study: str, person: str, actor: Caller, store: Lists) -> Response:
    """Revoke an account's open password link. Allowed to those who may create one."""

    def change(connection: Connection) -> None:
        member = _own(connection, person, study, actor)
        sign_ins.revoke_links(connection, member.id)
        record(connection, actor, "person.revoke_link", member.name)

    await store.submit(change)
    return Response(status_code=204)


@router.delete("/studies/{study}/people/{person}", status_code=204, dependencies=_OF_STUDY)
async def remove_from_study(study: str, person: str, actor: Caller, store: Lists) -> Response:
    """Remove an account's role in the study. An account without any role can no longer sign in."""

    def leave(connection: Connection) -> None:
        people.leave_study(connection, person, study, utc_now())
        record(connection, actor, "person.role", person.lower(), f"none of {study}")

    await store.submit(leave)
    return Response(status_code=204)


def _own(connection: Connection, person: str, study: str, actor: Actor) -> Member:
    """Return an account whose password links the caller manages. Raises PersonNotFound, NotYours."""
    member = people.require(connection, person)
    row = _row(member, study, actor)
    if row.role is None:
        raise PersonNotFound(f"“{member.name}” has no role in this study")
    if not row.may_have_link:
        raise NotYours(f"“{member.name}” has a role in a study that {actor.name} does not own")
    return member


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
        link_expires_at=member.link_expires_at,
        may_have_link=all(actor.may("manage_study_people", where) for where in member.roles),
    )
