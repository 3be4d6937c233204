"""Endpoints for signing in and out, and for changing one's own password."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from limits import RateLimitItem, parse
from pydantic import BaseModel, StringConstraints
from sqlalchemy import Connection

from server.access import people, sign_ins
from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.cookie import KnownBrowsers, forget_sign_in, keep_sign_in, require_own_page, sign_in_secret
from server.access.parts import Configured, Database, Limits, Secrets
from server.access.people import Member
from server.access.rate_limit import RateLimits
from server.access.roles import ALL_STUDIES, PERMISSIONS, Permission, Role
from server.access.tokens import hashed
from server.clock import utc_now
from server.config import Settings
from server.db.audit import record
from server.db.store import Store
from server.desk.listed import Lists
from server.errors import LinkUsed, NoPassword, WrongPassword

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Credentials(RequestBody):
    """A name and a password."""

    name: Name
    password: Password


class LinkToLookAt(RequestBody):
    """The secret of a one-time link."""

    link: Secret


class LinkToUse(RequestBody):
    """The secret of a one-time link, and the new password.

    `name`: the name of the first owner; all others have a name already.
    """

    link: Secret
    password: Password
    name: Name | None = None


class PasswordChange(RequestBody):
    """The current password (`old`) and the new one."""

    old: Password
    new: Password


class StudyRole(BaseModel):
    """A role, and its study; None: for all studies."""

    study: str | None
    role: Role


class Account(BaseModel):
    """The caller, which is a person, a token, or the installation's own token, with its permissions.

    `permissions`: those that it has in at least one study. `has_password`: it has a password to change.
    """

    kind: Literal["person", "token", "installation"]
    name: str
    roles: list[StudyRole]
    permissions: list[Permission]
    has_password: bool


class Invitation(BaseModel):
    """The account of a one-time link; None: the first owner, who chooses a name."""

    name: str | None


_ADDRESSES = 20  # an attacker needs this many addresses to lock a person out of a new browser


class SignInAttempts:
    """Counts the attempts of a request to sign in, per address and per name.

    A browser in which that person has signed in before is counted separately. For all unknown browsers
    together, a name's limit is `_ADDRESSES` times higher, so that nobody can lock a person out from one
    address.
    """

    def __init__(
        self, request: Request, limits: RateLimits, settings: Settings, known: KnownBrowsers
    ) -> None:
        self._request = request
        self._limits = limits
        self._each = parse(settings.sign_ins)
        self._elsewhere = type(self._each)(_ADDRESSES * self._each.amount, self._each.multiples)
        self._known = known

    async def count_link(self, link: str) -> None:
        """Count an attempt to use a one-time link. Raises TooMany."""
        await self._count(link, self._each)

    async def count_person(self, person: str) -> None:
        """Count an attempt to sign in as a person. Raises TooMany."""
        browser = self._known.browser_of(self._request, person)
        await self._count(browser or person, self._elsewhere if browser is None else self._each)

    async def _count(self, whose: str, limit: RateLimitItem) -> None:
        what = "tries to sign in"
        await self._limits.count_address(self._each, f"{what} from this address", self._request)
        self._limits.count(limit, f"{what} as this person", self._request, whose.lower())


async def _known_browsers(auth: Secrets) -> KnownBrowsers:
    return KnownBrowsers(auth.secret)


Known = Annotated[KnownBrowsers, Depends(_known_browsers)]


async def _attempts(request: Request, limits: Limits, settings: Configured, known: Known) -> SignInAttempts:
    return SignInAttempts(request, limits, settings, known)


Attempts = Annotated[SignInAttempts, Depends(_attempts)]
router = APIRouter(prefix="/api/account", tags=["account"])
_OWN = [Depends(Allowed("have_account"))]


@router.get("", dependencies=_OWN)
async def show_account(actor: Caller, store: Database) -> Account:
    """Return the caller and its permissions."""
    found = await store.read(lambda c: _person(c, actor))
    return account(actor, has_password=found is not None and found.password is not None)


@router.post("/sign-in")
async def sign_in(
    body: Credentials, request: Request, response: Response, store: Database, attempts: Attempts, known: Known
) -> Account:
    """Sign a person in for twelve hours. The browser keeps a cookie."""
    require_own_page(request)
    await attempts.count_person(body.name.lower())
    found = await store.read(lambda c: people.find(c, body.name))
    if not await people.is_right(found.password if found else None, body.password) or found is None:
        raise WrongPassword("Wrong name or password")
    signed_in = await begin_sign_in(store, found, request, response)
    known.keep(request, response, found.name)
    return signed_in


@router.post("/link")
async def look_at_link(body: LinkToLookAt, store: Database, attempts: Attempts) -> Invitation:
    """Return the account that a one-time link is for. The link stays valid."""
    await attempts.count_link(body.link)
    invited = await store.read(lambda c: sign_ins.look_at_link(c, body.link))
    return Invitation(name=None if invited.member is None else invited.member.name)


@router.put("/link")
async def use_link(
    body: LinkToUse,
    request: Request,
    response: Response,
    store: Database,
    lists: Lists,
    attempts: Attempts,
    known: Known,
) -> Account:
    """Choose a password with a one-time link, and sign in. The link is then no longer valid."""
    require_own_page(request)
    await attempts.count_link(body.link)
    people.require_good(body.password)
    await store.read(lambda c: sign_ins.look_at_link(c, body.link))  # before the work of hashing
    stored = await people.hashed(body.password)
    member = await lists.submit(lambda c: _with_password(c, body, stored))
    signed_in = await begin_sign_in(store, member, request, response)
    known.keep(request, response, member.name)
    return signed_in


@router.post("/sign-out", status_code=204, dependencies=_OWN)
async def sign_out(actor: Caller, request: Request, store: Database) -> Response:
    """Sign out in this browser."""
    secret = sign_in_secret(request)
    if secret is not None:
        await store.submit(lambda c: _ended(c, actor, hashed(secret)))
    response = Response(status_code=204)
    forget_sign_in(request, response)
    return response


@router.post("/sign-out-everywhere", status_code=204, dependencies=_OWN)
async def sign_out_everywhere(actor: Caller, request: Request, store: Database) -> Response:
    """Sign out in every browser, including this one."""
    await store.submit(lambda c: _all_ended(c, actor))
    response = Response(status_code=204)
    forget_sign_in(request, response)
    return response


@router.put("/password", dependencies=_OWN)
async def change_password(
    body: PasswordChange, actor: Caller, request: Request, store: Database, attempts: Attempts
) -> Account:
    """Change one's password. All other browsers of this account are signed out."""
    await attempts.count_person(actor.name)
    people.require_good(body.new)
    found = await store.read(lambda c: _person(c, actor))
    if found is not None and found.password is None:
        raise NoPassword(f"“{found.name}” has no password yet")
    if not await people.is_right(found.password if found else None, body.old) or found is None:
        raise WrongPassword("This is not your current password")
    stored, person = await people.hashed(body.new), found.id
    # This browser stays signed in, because its page may send requests meanwhile.
    kept = hashed(sign_in_secret(request) or "")

    def change(connection: Connection) -> None:
        people.set_password(connection, person, stored, kept=kept)
        record(connection, actor, "person.password", actor.name)

    await store.submit(change)
    return account(actor, has_password=True)


async def begin_sign_in(
    store: Store, member: Member, request: Request, response: Response, how: str = ""
) -> Account:
    """Sign an authenticated person in, set the browser's cookie, and return the account.

    Args:
        store: stores sign-ins.
        member: the person.
        request: the browser's request.
        response: gets the cookie.
        how: the method of authentication, for the log; empty for a password.

    Raises:
        WrongPassword: the account was removed, or its password changed, since `member` was read.
    """
    actor = Actor("person", member.name, member.roles)

    def begin(connection: Connection) -> str:
        now = people.by_id(connection, member.id)
        if now is None or now.password != member.password:  # changed while the old one was being checked
            raise WrongPassword("This password was changed a moment ago")
        record(connection, actor, "person.sign_in", member.name, how)
        return sign_ins.begin(connection, member.id, utc_now())

    keep_sign_in(request, response, await store.submit(begin))
    return account(actor, has_password=member.password is not None)


def account(actor: Actor, *, has_password: bool) -> Account:
    """Return a caller with its roles and permissions."""
    roles = [StudyRole(study=study or None, role=role) for study, role in actor.roles.items()]
    permissions = [permission for permission in PERMISSIONS if actor.may(permission)]
    return Account(
        kind=actor.kind, name=actor.name, roles=roles, permissions=permissions, has_password=has_password
    )


def _with_password(connection: Connection, body: LinkToUse, stored: str) -> Member:
    """Store the password of a one-time link's account. Raises LinkUsed, InvalidField, PersonExists."""
    member = sign_ins.look_at_link(connection, body.link).member
    person = (
        people.add(connection, body.name or "", "owner", ALL_STUDIES, utc_now())
        if member is None
        else member.id
    )
    people.set_password(connection, person, stored)
    sign_ins.use_link(connection, body.link)
    member = people.by_id(connection, person)
    if member is None:
        raise LinkUsed("This person was removed")
    record(
        connection, Actor("person", member.name, member.roles), "person.password", member.name, "by a link"
    )
    return member


def _person(connection: Connection, actor: Actor) -> Member | None:
    return people.find(connection, actor.name) if actor.kind == "person" else None


def _ended(connection: Connection, actor: Actor, digest: str) -> None:
    sign_ins.end(connection, digest)
    record(connection, actor, "person.sign_out", actor.name)


def _all_ended(connection: Connection, actor: Actor) -> None:
    person = _person(connection, actor)
    if person is not None:
        sign_ins.end_all(connection, person.id)
        record(connection, actor, "person.sign_out", actor.name, "everywhere")
