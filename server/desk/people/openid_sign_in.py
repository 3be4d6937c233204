"""Endpoints for signing in at the desk with an OpenID provider, in addition to passwords.

The provider's e-mail address must belong to an existing account.
"""

import hmac
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer
from limits import parse
from pydantic import BaseModel, Field

from server.access import people
from server.access.cookie import public_path
from server.access.openid import OpenIdProvider, SignInStart, new_sign_in
from server.access.parts import Configured, Database, Limits, part
from server.access.rate_limit import RateLimits
from server.config import Settings
from server.desk.people.accounts import begin_sign_in
from server.errors import ProviderRefused, Refusal

CALLBACK = "/api/account/openid/callback"
_COOKIE = "candor-openid"
_COOKIE_PATH = "/api/account/openid"
_MINUTES = 10  # to sign in with the provider
Text = Annotated[str, Field(max_length=4_000)]


class WaysIn(BaseModel):
    """Ways to sign in other than with a password.

    `provider`: the name of the OpenID provider, None without one. `refused`: the reason in words why a
    sign-in failed.
    """

    provider: str | None
    refused: str | None


class SignInProvider:
    """The OpenID provider of this installation, if its settings name one, and the sign-ins begun with it.

    Args:
        settings: name the provider.
        secret: signs the cookie of a sign-in that has begun.
    """

    def __init__(self, settings: Settings, secret: str) -> None:
        self.provider: OpenIdProvider | None = None
        if settings.oidc_issuer is not None and settings.oidc_client_id is not None:
            self.provider = OpenIdProvider(
                settings.oidc_issuer,
                settings.oidc_client_id,
                settings.oidc_client_secret,
                f"{settings.resolved_public_url}{CALLBACK}",
                settings.oidc_name,
            )
        self._begun = URLSafeTimedSerializer(secret, salt="openid")

    def required(self) -> OpenIdProvider:
        """Return the provider. Raises ProviderRefused if there is none."""
        if self.provider is None:
            raise ProviderRefused("unreachable")
        return self.provider

    def keep(self, begun: SignInStart, request: Request, response: Response) -> None:
        """Set the cookie with the state of a sign-in."""
        response.set_cookie(
            _COOKIE,
            self._begun.dumps(asdict(begun)),
            max_age=_MINUTES * 60,
            path=public_path(request, _COOKIE_PATH),
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",  # the provider's site redirects back here
        )

    def kept(self, request: Request, state: str) -> SignInStart:
        """Return the state of the sign-in from the browser's cookie. Raises ProviderRefused."""
        try:
            begun = SignInStart(**self._begun.loads(request.cookies.get(_COOKIE, ""), max_age=_MINUTES * 60))
        except BadSignature as error:
            raise ProviderRefused("state") from error
        if not hmac.compare_digest(begun.state.encode(), state.encode()):
            raise ProviderRefused("state")
        return begun


Provider = Annotated[SignInProvider, part(SignInProvider)]
router = APIRouter(prefix="/api/account", tags=["account"])


@router.get("/ways-in")
async def show_ways_in(sign_in: Provider, refused: Refusal | None = None) -> WaysIn:
    """Return the ways to sign in, and in words the reason of a refused sign-in."""
    return WaysIn(
        provider=None if sign_in.provider is None else sign_in.provider.name,
        refused=None if refused is None else _in_words(ProviderRefused(refused)),
    )


@router.get("/openid", include_in_schema=False)
async def begin(request: Request, sign_in: Provider, limits: Limits, settings: Configured) -> Response:
    """Send the browser to the provider."""
    try:
        await _count(request, limits, settings)
        begun = new_sign_in()
        response = RedirectResponse(await sign_in.required().address(begun), 303)
    except ProviderRefused as error:
        return _refused(request, error.reason)
    sign_in.keep(begun, request, response)
    return response


@router.get("/openid/callback", include_in_schema=False)
async def come_back(
    request: Request,
    sign_in: Provider,
    store: Database,
    limits: Limits,
    settings: Configured,
    code: Annotated[Text, Query()] = "",
    state: Annotated[Text, Query()] = "",
    error: Annotated[Text, Query()] = "",
) -> Response:
    """Sign in the person whom the provider has authenticated, and redirect the browser to the desk."""
    try:
        await _count(request, limits, settings)
        begun = sign_in.kept(request, state)
        if error or not code:
            raise ProviderRefused("denied")
        provider = sign_in.required()
        email = await provider.email(code, begun)
        member = await store.read(lambda connection: people.find(connection, email))
        if member is None:
            raise ProviderRefused("unknown")
    except ProviderRefused as refusal:
        return _refused(request, refusal.reason)
    response = RedirectResponse(public_path(request, "/desk"), 303)
    await begin_sign_in(store, member, request, response, f"with {provider.name}")
    response.delete_cookie(_COOKIE, path=public_path(request, _COOKIE_PATH))
    return response


async def _count(request: Request, limits: RateLimits, settings: Settings) -> None:
    await limits.count_address(parse(settings.sign_ins), "tries to sign in from this address", request)


def _in_words(refusal: ProviderRefused) -> str:
    return f"{refusal.message[0].upper()}{refusal.message[1:]}. {refusal.hint}"


def _refused(request: Request, reason: Refusal) -> Response:
    response = RedirectResponse(f"{public_path(request, '/desk')}#refused={reason}", 303)
    response.delete_cookie(_COOKIE, path=public_path(request, _COOKIE_PATH))
    return response
