"""Endpoints that manage accounts and tokens of the desk."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, StrictBool, StringConstraints
from sqlalchemy import Connection

from server.access import people, sign_ins, tokens
from server.access.actor import Allowed, Caller, RequestBody
from server.access.parts import PublicUrl, part
from server.access.people import Member
from server.access.roles import ALL_STUDIES, Role
from server.clock import ShownTime, utc_now
from server.db.audit import Doer, record
from server.desk.listed import Lists
from server.desk.people.accounts import StudyRole
from server.desk.people.mail import InvitationMail

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class NewPerson(RequestBody):
    """An account to create. `study`: the study of the role, or None for all studies.

    `by_mail`: send the link for choosing a password to the name, which is an e-mail address.
    """

    name: Name
    role: Role
    study: Name | None = None
    by_mail: StrictBool = False


class NewLink(RequestBody):
    """How to hand over a new password link. `by_mail`: send it to the name, which is an e-mail address."""

    by_mail: StrictBool = False


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
    """An account of the desk. `has_password`: its owner has chosen a password.

    `link_expires_at`: when its open link for choosing a password expires; None if it has no link.
    """

    name: str
    roles: list[StudyRole]
    has_password: bool
    created_at: ShownTime
    link_expires_at: ShownTime | None


class PeopleList(BaseModel):
    """All accounts of the desk, by name."""

    people: list[PersonRow]


class PersonWithLink(PersonRow):
    """An account, and a link that works once, for choosing its password. It cannot be shown again.

    `mailed`: it was sent by e-mail. `mail_failure`: why it could not be sent.
    """

    link: str
    mailed: bool = False
    mail_failure: str | None = None


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


class MailAvailable(BaseModel):
    """Whether the server can send invitations by e-mail."""

    available: bool


class TokenMade(BaseModel):
    """A new token. It cannot be shown again."""

    name: str
    token: str


Mail = Annotated[InvitationMail, part(InvitationMail)]
router = APIRouter(prefix="/api/desk", tags=["people"])
_PEOPLE = [Depends(Allowed("manage_people"))]
_TOKENS = [Depends(Allowed("manage_tokens"))]


@router.get("/people", dependencies=_PEOPLE)
async def list_people(store: Lists) -> PeopleList:
    """List all accounts of the desk."""
    found = await store.read(people.every)
    return PeopleList(people=[person_row(member) for member in found])


@router.get("/invitation-mail", dependencies=[Depends(Allowed("manage_study_people"))])
async def show_invitation_mail(mail: Mail) -> MailAvailable:
    """Say whether the server can send invitations by e-mail."""
    return MailAvailable(available=mail.available)


@router.post("/people", status_code=201, dependencies=_PEOPLE)
async def invite_person(
    body: NewPerson, actor: Caller, store: Lists, public_url: PublicUrl, mail: Mail
) -> PersonWithLink:
    """Create an account, and a link for choosing its password."""
    study, at = body.study or ALL_STUDIES, utc_now()
    if body.by_mail:
        mail.require(body.name)

    def add(connection: Connection) -> PersonWithLink:
        person = people.add(connection, body.name, body.role, study, at)
        record(connection, actor, "person.add", body.name.lower(), said(body.role, study))
        return linked(public_url, connection, body.name, sign_ins.new_link(connection, person, at))

    made = await store.submit(add)
    if not body.by_mail:
        return made
    texts = await store.read(lambda connection: mail.texts_for(study, connection))
    sent = await mail.send_any(
        texts, made.name, actor.name, study, made.link, made.link_expires_at, has_password=made.has_password
    )
    return made.model_copy(update=sent._asdict())


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
            return PersonChanged(**dict(linked(public_url, connection, person, secret)))
        return PersonChanged(**dict(person_row(people.require(connection, person))), link=None)

    return await store.submit(change)


@router.post("/people/{person}/link", dependencies=_PEOPLE)
async def new_password_link(
    person: str, actor: Caller, store: Lists, public_url: PublicUrl, mail: Mail, body: NewLink | None = None
) -> PersonWithLink:
    """Create a link for choosing another password. Earlier links are cancelled."""
    by_mail = body is not None and body.by_mail
    if by_mail:
        mail.require(person)

    def make(connection: Connection) -> PersonWithLink:
        member = people.require(connection, person)
        record(connection, actor, "person.link", member.name)
        return linked(
            public_url, connection, member.name, sign_ins.new_link(connection, member.id, utc_now())
        )

    made = await store.submit(make)
    if not by_mail:
        return made
    texts = await store.read(lambda connection: mail.texts_for(ALL_STUDIES, connection))
    sent = await mail.send_any(
        texts,
        made.name,
        actor.name,
        ALL_STUDIES,
        made.link,
        made.link_expires_at,
        has_password=made.has_password,
    )
    return made.model_copy(update=sent._asdict())


@router.delete("/people/{person}/link", status_code=204, dependencies=_PEOPLE)
async def revoke_password_link(person: str, actor: Caller, store: Lists) -> Response:
    """Revoke an account's open password link. The account and its password stay."""

    def change(connection: Connection) -> None:
        member = people.require(connection, person)
        sign_ins.revoke_links(connection, member.id)
        record(connection, actor, "person.revoke_link", member.name)

    await store.submit(change)
    return Response(status_code=204)


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


def linked(public_url: str, connection: Connection, name: str, secret: str) -> PersonWithLink:
    """Return the account of this name with the one-time link that has the secret."""
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
        link_expires_at=member.link_expires_at,
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
