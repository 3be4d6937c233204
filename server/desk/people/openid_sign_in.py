"""Endpoints for signing in at the desk with an OpenID provider, in addition to passwords.

The provider's e-mail address must belong to an existing account.
"""

import hmac
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer
from limits import RateLimitItem
from pydantic import BaseModel, Field

from server.access import people
from server.access.cookie import public_path
from server.access.openid import OpenIdProvider, SignInStart, new_sign_in
from server.access.rate_limit import RateLimits
from server.db.store.store import Store
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


class OpenIdSignIn:
    """Endpoints for signing in with an OpenID provider.

    Args:
        store: stores accounts.
        provider: the provider; None if the installation has none.
        secret: signs the cookie of a sign-in that has begun.
        limits: counts attempts per address.
        tries: the limit of attempts.
    """

    def __init__(
        self,
        *,
        store: Store,
        provider: OpenIdProvider | None,
        secret: str,
        limits: RateLimits,
        tries: RateLimitItem,
    ) -> None:
        self._store = store
        self._provider = provider
        self._begun = URLSafeTimedSerializer(secret, salt="openid")
        self._limits = limits
        self._tries = tries
        self.router = APIRouter(prefix="/api/account", tags=["account"])
        self.router.add_api_route("/ways-in", self.show_ways_in, methods=["GET"])
        for path, call in (("/openid", self.begin), ("/openid/callback", self.come_back)):
            self.router.add_api_route(path, call, methods=["GET"], include_in_schema=False)

    async def show_ways_in(self, refused: Refusal | None = None) -> WaysIn:
        """Return the ways to sign in, and in words the reason of a refused sign-in."""
        return WaysIn(
            provider=None if self._provider is None else self._provider.name,
            refused=None if refused is None else _in_words(ProviderRefused(refused)),
        )

    async def begin(self, request: Request) -> Response:
        """Send the browser to the provider."""
        try:
            await self._count(request)
            begun = new_sign_in()
            response = RedirectResponse(await self._required().address(begun), 303)
        except ProviderRefused as error:
            return _refused(request, error.reason)
        response.set_cookie(
            _COOKIE,
            self._begun.dumps(asdict(begun)),
            max_age=_MINUTES * 60,
            path=public_path(request, _COOKIE_PATH),
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",  # the provider's site redirects back here
        )
        return response

    async def come_back(
        self,
        request: Request,
        code: Annotated[Text, Query()] = "",
        state: Annotated[Text, Query()] = "",
        error: Annotated[Text, Query()] = "",
    ) -> Response:
        """Sign in the person whom the provider has authenticated, and redirect the browser to the desk."""
        try:
            await self._count(request)
            begun = self._kept(request, state)
            if error or not code:
                raise ProviderRefused("denied")
            provider = self._required()
            email = await provider.email(code, begun)
            member = await self._store.read(lambda connection: people.find(connection, email))
            if member is None:
                raise ProviderRefused("unknown")
        except ProviderRefused as refusal:
            return _refused(request, refusal.reason)
        response = RedirectResponse(public_path(request, "/desk"), 303)
        await begin_sign_in(self._store, member, request, response, f"with {provider.name}")
        response.delete_cookie(_COOKIE, path=public_path(request, _COOKIE_PATH))
        return response

    def _kept(self, request: Request, state: str) -> SignInStart:
        """Return the state of the sign-in from the browser's cookie. Raises ProviderRefused."""
        try:
            begun = SignInStart(**self._begun.loads(request.cookies.get(_COOKIE, ""), max_age=_MINUTES * 60))
        except BadSignature as error:
            raise ProviderRefused("state") from error
        if not hmac.compare_digest(begun.state.encode(), state.encode()):
            raise ProviderRefused("state")
        return begun

    def _required(self) -> OpenIdProvider:
        if self._provider is None:
            raise ProviderRefused("unreachable")
        return self._provider

    async def _count(self, request: Request) -> None:
        await self._limits.count_address(self._tries, "tries to sign in from this address", request)


def _in_words(refusal: ProviderRefused) -> str:
    return f"{refusal.message[0].upper()}{refusal.message[1:]}. {refusal.hint}"


def _refused(request: Request, reason: Refusal) -> Response:
    response = RedirectResponse(f"{public_path(request, '/desk')}#refused={reason}", 303)
    response.delete_cookie(_COOKIE, path=public_path(request, _COOKIE_PATH))
    return response
