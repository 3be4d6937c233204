"""Endpoints that manage accounts and tokens of the desk, and the roles that accounts have in a study."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, StringConstraints
from sqlalchemy import Connection

from server.access import people, sign_ins, tokens
from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.parts import PublicUrl
from server.access.people import Member
from server.access.roles import ALL_STUDIES, Role
from server.clock import ShownTime, utc_now
from server.db.audit import Doer, record
from server.db.runs.studies import find_study
from server.desk.listed import Lists
from server.desk.people.accounts import StudyRole
from server.errors import NotYours, PersonNotFound

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class NewPerson(RequestBody):
    """An account to create. `study`: the study of the role, or None for all studies."""

    name: Name
    role: Role
    study: Name | None = None


class RoleChange(RequestBody):
    """A role for a study, or for all studies (None). `role` None removes the role held there."""

    role: Role | None
    study: Name | None = None


class NewToken(RequestBody):
    """A token to create. `study`: the study it is limited to, or None for all studies."""

    name: Name
    scope: tokens.Scope
    study: Name | None = None


class PersonRow(BaseModel):
    """An account of the desk. `has_password`: its owner has chosen a password."""

    name: str
    roles: list[StudyRole]
    has_password: bool
    created_at: ShownTime


class PeopleList(BaseModel):
    """All accounts of the desk, by name."""

    people: list[PersonRow]


class PersonWithLink(PersonRow):
    """An account, and a link that works once, for choosing its password. It cannot be shown again."""

    link: str


class PersonChanged(PersonRow):
    """An account with its new role and, if it needs one, a link that works once, for choosing a password."""

    link: str | None


class TokenRow(BaseModel):
    """A token without its secret. `study` None: for all studies."""

    name: str
    scope: tokens.Scope
    study: str | None
    created_at: ShownTime
    revoked_at: ShownTime | None


class TokenList(BaseModel):
    """All tokens, including revoked ones, newest first."""

    tokens: list[TokenRow]


class PeopleUpdate(BaseModel):
    """All accounts, or all tokens, or both: a list that has not changed is left out."""

    people: list[PersonRow] = []
    tokens: list[TokenRow] = []


class TokenMade(BaseModel):
    """A new token. It cannot be shown again."""

    name: str
    token: str


router = APIRouter(prefix="/api/desk", tags=["people"])
_PEOPLE = [Depends(Allowed("manage_people"))]
_TOKENS = [Depends(Allowed("manage_tokens"))]


@router.get("/people", dependencies=_PEOPLE)
async def list_people(store: Lists) -> PeopleList:
    """List all accounts of the desk."""
    found = await store.read(people.every)
    return PeopleList(people=[person_row(member) for member in found])


@router.post("/people", status_code=201, dependencies=_PEOPLE)
async def invite_person(
    body: NewPerson, actor: Caller, store: Lists, public_url: PublicUrl
) -> PersonWithLink:
    """Create an account, and a link for choosing its password."""
    study, at = body.study or ALL_STUDIES, utc_now()

    def add(connection: Connection) -> PersonWithLink:
        person = people.add(connection, body.name, body.role, study, at)
        record(connection, actor, "person.add", body.name.lower(), said(body.role, study))
        return _linked(public_url, connection, body.name, sign_ins.new_link(connection, person, at))

    return await store.submit(add)


@router.put("/people/{person}/role", dependencies=_PEOPLE)
async def set_role(
    person: str, body: RoleChange, actor: Caller, store: Lists, public_url: PublicUrl
) -> PersonChanged:
    """Set or remove an account's role, for one study or for all.

    If the account gains permissions, its open password links are cancelled. The first role for all
    studies cancels its password, too. An account without a password gets a new link.
    """
    study = body.study or ALL_STUDIES

    def change(connection: Connection) -> PersonChanged:
        needs_link = people.set_role(connection, person, body.role, study)
        record(connection, actor, "person.role", person.lower(), said(body.role, study))
        if needs_link:
            member = people.require(connection, person)
            secret = sign_ins.new_link(connection, member.id, utc_now())
            return PersonChanged(**dict(_linked(public_url, connection, person, secret)))
        return PersonChanged(**dict(person_row(people.require(connection, person))), link=None)

    return await store.submit(change)


@router.post("/people/{person}/link", dependencies=_PEOPLE)
async def new_password_link(
    person: str, actor: Caller, store: Lists, public_url: PublicUrl
) -> PersonWithLink:
    """Create a link for choosing another password. Earlier links are cancelled."""

    def make(connection: Connection) -> PersonWithLink:
        member = people.require(connection, person)
        record(connection, actor, "person.link", member.name)
        return _linked(
            public_url, connection, member.name, sign_ins.new_link(connection, member.id, utc_now())
        )

    return await store.submit(make)


@router.delete("/people/{person}", status_code=204, dependencies=_PEOPLE)
async def remove_person(person: str, actor: Caller, store: Lists) -> Response:
    """Remove an account at once. Streams that it has open end within a minute."""

    def change(connection: Connection) -> None:
        people.remove(connection, person, utc_now())
        record(connection, actor, "person.remove", person.lower())

    await store.submit(change)
    return Response(status_code=204)


@router.get("/tokens", dependencies=_TOKENS)
async def list_tokens(store: Lists) -> TokenList:
    """List all tokens, including revoked ones, newest first."""
    found = await store.read(tokens.every)
    return TokenList(tokens=[token_row(grant) for grant in reversed(found)])


@router.post("/tokens", status_code=201, dependencies=_TOKENS)
async def make_token(body: NewToken, actor: Caller, store: Lists) -> TokenMade:
    """Create a token. It is returned only now, and is not stored."""
    study = body.study or ALL_STUDIES
    return await store.submit(lambda c: made(c, actor, body.name, body.scope, study))


@router.delete("/tokens/{token}", status_code=204, dependencies=_TOKENS)
async def revoke_token(token: str, actor: Caller, store: Lists) -> Response:
    """Revoke the token of this name at once."""
    await store.submit(lambda c: revoke(c, actor, token))
    return Response(status_code=204)


def _linked(public_url: str, connection: Connection, name: str, secret: str) -> PersonWithLink:
    row = person_row(people.require(connection, name))
    return PersonWithLink(**dict(row), link=password_link(public_url, secret))


def password_link(public_url: str, secret: str) -> str:
    """Return the address of a one-time link for choosing a password."""
    return f"{public_url}/desk#link={secret}"


def made(connection: Connection, actor: Doer, name: str, scope: tokens.Scope, study: str) -> TokenMade:
    """Create a token, and log it. Raises InvalidField, TokenExists."""
    token = tokens.new(connection, name, scope, utc_now(), study)
    record(connection, actor, "token.new", name, said(scope, study))
    return TokenMade(name=name, token=token)


def revoke(connection: Connection, actor: Doer, name: str) -> None:
    """Revoke a token, and log it. Raises TokenNotFound."""
    tokens.revoke(connection, name, utc_now())
    record(connection, actor, "token.revoke", name)


def said(role: Role | tokens.Scope | None, study: str) -> str:
    """Return a role and its study in words, for the audit log."""
    return f"{role or 'no role'} for {study or 'all studies'}"


def person_row(member: Member) -> PersonRow:
    """Return an account as a row of the list."""
    return PersonRow(
        name=member.name,
        roles=[StudyRole(study=study or None, role=role) for study, role in member.roles.items()],
        has_password=member.password is not None,
        created_at=member.created_at,
    )


def token_row(grant: tokens.Grant) -> TokenRow:
    """Return a token as a row of the list."""
    return TokenRow(
        name=grant.name,
        scope=grant.scope,
        study=grant.study or None,
        created_at=grant.created_at,
        revoked_at=grant.revoked_at,
    )


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


_OF_STUDY = [Depends(Allowed("manage_study_people"))]


@router.get("/studies/{study}/people", dependencies=_OF_STUDY)
async def list_study_people(study: str, actor: Caller, store: Lists) -> StudyPeople:
    """List accounts with access to the study, including those with a role for all studies."""
    return people_of(study, await store.read(people.every), actor)


@router.post("/studies/{study}/people", status_code=201, dependencies=_OF_STUDY)
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


@router.post("/studies/{study}/people/{person}/link", dependencies=_OF_STUDY)
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
            raise PersonNotFound(f"“{member.name}” has no role in this study")
        if not row.may_have_link:
            raise NotYours(f"“{member.name}” has a role in a study that {actor.name} does not own")
        record(connection, actor, "person.link", member.name)
        link = sign_ins.new_link(connection, member.id, utc_now())
        return GrantedInStudy(**dict(row), link=password_link(public_url, link))

    return await store.submit(make)


@router.delete("/studies/{study}/people/{person}", status_code=204, dependencies=_OF_STUDY)
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
