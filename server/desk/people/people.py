"""People and tokens: who may use the desk, over the REST API."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, StringConstraints
from sqlalchemy import Connection

from server.access import people, sign_ins, tokens
from server.access.actor import Allowed, Caller, RequestBody
from server.access.auth import Auth
from server.access.people import Member
from server.access.roles import ALL_STUDIES, Permission, Role
from server.clock import ShownTime, utc_now
from server.db.audit import Doer, record
from server.desk.listed import ListedStore
from server.desk.people.accounts import StudyRole

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class NewPerson(RequestBody):
    """Somebody to invite. `study`: the one that the role is for; None: for all studies."""

    name: Name
    role: Role
    study: Name | None = None


class RoleChange(RequestBody):
    """A role for a study, or for all (None); without a role the one that is held there is taken away."""

    role: Role | None
    study: Name | None = None


class NewToken(RequestBody):
    """A token to make. `study`: the one that it is for; None: for all studies."""

    name: Name
    scope: tokens.Scope
    study: Name | None = None


class PersonRow(BaseModel):
    """Somebody who may use the desk. `has_password`: they have chosen one."""

    name: str
    roles: list[StudyRole]
    has_password: bool
    created_at: ShownTime


class PeopleList(BaseModel):
    """Everybody who may use the desk, by name."""

    people: list[PersonRow]


class PersonWithLink(PersonRow):
    """Somebody, and the link that lets them choose a password, once. It cannot be shown again."""

    link: str


class PersonChanged(PersonRow):
    """Somebody with another role; where they need one, the link that lets them choose a password, once."""

    link: str | None


class TokenRow(BaseModel):
    """A token, without what opens anything. `study` None: for all studies."""

    name: str
    scope: tokens.Scope
    study: str | None
    created_at: ShownTime
    revoked_at: ShownTime | None


class TokenList(BaseModel):
    """Every token that there ever was, newest first."""

    tokens: list[TokenRow]


class PeopleUpdate(BaseModel):
    """Who may use the desk, and all tokens; the one of them that has not changed is left out."""

    people: list[PersonRow] = []
    tokens: list[TokenRow] = []


class TokenMade(BaseModel):
    """A new token, which cannot be shown again."""

    name: str
    token: str


class PeopleApi:
    """Lets owners say who may use the desk. Links start with `public_url`."""

    def __init__(self, *, store: ListedStore, auth: Auth, public_url: str) -> None:
        self._store = store
        self._auth = auth
        self._public_url = public_url
        self.router = APIRouter(prefix="/api/desk", tags=["people"])
        self._route("GET", "/people", self.list_people)
        self._route("POST", "/people", self.invite_person, status=201)
        self._route("PUT", "/people/{person}/role", self.set_role)
        self._route("POST", "/people/{person}/link", self.new_password_link)
        self._route("DELETE", "/people/{person}", self.remove_person, status=204)
        self._route("GET", "/tokens", self.list_tokens, permission="manage_tokens")
        self._route("POST", "/tokens", self.make_token, permission="manage_tokens", status=201)
        self._route("DELETE", "/tokens/{token}", self.revoke_token, permission="manage_tokens", status=204)

    def _route(
        self,
        method: Literal["GET", "POST", "PUT", "DELETE"],
        path: str,
        call: Callable[..., Any],
        permission: Permission = "manage_people",
        status: int = 200,
    ) -> None:
        allowed = [Depends(Allowed(self._auth, permission))]
        self.router.add_api_route(path, call, methods=[method], status_code=status, dependencies=allowed)

    async def list_people(self) -> PeopleList:
        """Everybody who may use the desk."""
        found = await self._store.read(people.every)
        return PeopleList(people=[person_row(member) for member in found])

    async def invite_person(self, body: NewPerson, actor: Caller) -> PersonWithLink:
        """Let somebody use the desk, and make the link by which they choose a password."""
        study, at = body.study or ALL_STUDIES, utc_now()

        def add(connection: Connection) -> PersonWithLink:
            person = people.add(connection, body.name, body.role, study, at)
            record(connection, actor, "person.add", body.name.lower(), said(body.role, study))
            return self._linked(connection, body.name, sign_ins.new_link(connection, person, at))

        return await self._store.submit(add)

    async def set_role(self, person: str, body: RoleChange, actor: Caller) -> PersonChanged:
        """Give somebody a role for a study or for all, or take it away.

        Where they gain, open links to a password lead nowhere any more; a first role for all studies ends
        their password, too. Who has none then gets a new link.
        """
        study = body.study or ALL_STUDIES

        def change(connection: Connection) -> PersonChanged:
            needs_link = people.set_role(connection, person, body.role, study)
            record(connection, actor, "person.role", person.lower(), said(body.role, study))
            if needs_link:
                member = people.require(connection, person)
                secret = sign_ins.new_link(connection, member.id, utc_now())
                return PersonChanged(**dict(self._linked(connection, person, secret)))
            return PersonChanged(**dict(person_row(people.require(connection, person))), link=None)

        return await self._store.submit(change)

    async def new_password_link(self, person: str, actor: Caller) -> PersonWithLink:
        """Make a link by which somebody chooses another password; earlier links lead nowhere any more."""

        def make(connection: Connection) -> PersonWithLink:
            member = people.require(connection, person)
            record(connection, actor, "person.link", member.name)
            return self._linked(connection, member.name, sign_ins.new_link(connection, member.id, utc_now()))

        return await self._store.submit(make)

    async def remove_person(self, person: str, actor: Caller) -> Response:
        """Let somebody in no more, at once; what they are watching goes on for a minute at most."""

        def change(connection: Connection) -> None:
            people.remove(connection, person, utc_now())
            record(connection, actor, "person.remove", person.lower())

        await self._store.submit(change)
        return Response(status_code=204)

    async def list_tokens(self) -> TokenList:
        """Every token that there ever was, newest first; revoked ones say so."""
        found = await self._store.read(tokens.every)
        return TokenList(tokens=[token_row(grant) for grant in reversed(found)])

    async def make_token(self, body: NewToken, actor: Caller) -> TokenMade:
        """Make a token. It is answered this once, and stored nowhere."""
        study = body.study or ALL_STUDIES
        return await self._store.submit(lambda c: made(c, actor, body.name, body.scope, study))

    async def revoke_token(self, token: str, actor: Caller) -> Response:
        """Let the token of this name open nothing any more, at once."""
        await self._store.submit(lambda c: revoke(c, actor, token))
        return Response(status_code=204)

    def _linked(self, connection: Connection, name: str, secret: str) -> PersonWithLink:
        row = person_row(people.require(connection, name))
        return PersonWithLink(**dict(row), link=password_link(self._public_url, secret))


def password_link(public_url: str, secret: str) -> str:
    """Return the address at which the holder of a one-time link chooses a password."""
    return f"{public_url}/desk#link={secret}"


def made(connection: Connection, actor: Doer, name: str, scope: tokens.Scope, study: str) -> TokenMade:
    """Make a token, and log it. Raises InvalidField, TokenExists."""
    token = tokens.new(connection, name, scope, utc_now(), study)
    record(connection, actor, "token.new", name, said(scope, study))
    return TokenMade(name=name, token=token)


def revoke(connection: Connection, actor: Doer, name: str) -> None:
    """Revoke a token, and log it. Raises TokenNotFound."""
    tokens.revoke(connection, name, utc_now())
    record(connection, actor, "token.revoke", name)


def said(role: Role | tokens.Scope | None, study: str) -> str:
    """Return a role, and what it is for, as the audit log says it."""
    return f"{role or 'no role'} for {study or 'all studies'}"


def person_row(member: Member) -> PersonRow:
    """Return somebody as the list shows them."""
    return PersonRow(
        name=member.name,
        roles=[StudyRole(study=study or None, role=role) for study, role in member.roles.items()],
        has_password=member.password is not None,
        created_at=member.created_at,
    )


def token_row(grant: tokens.Grant) -> TokenRow:
    """Return a token as the list shows it."""
    return TokenRow(
        name=grant.name,
        scope=grant.scope,
        study=grant.study or None,
        created_at=grant.created_at,
        revoked_at=grant.revoked_at,
    )
