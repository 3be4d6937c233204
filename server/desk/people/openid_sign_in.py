"""Signing in at the desk with an OpenID provider, beside names and passwords.

Whom the provider vouches for must be a person here already, invited by the e-mail address that it gives.
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
from server.access.openid import Begun, OpenIdProvider, new_sign_in
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
    """How people can sign in beside names and passwords.

    `provider`: what the OpenID provider is called, None where there is none. `refused`: why the sign-in that
    was asked about came to nothing.
    """

    provider: str | None
    refused: str | None


class OpenIdSignIn:
    """Lets people in whom a provider vouches for; without one nobody is let in like this.

    Args:
        store: where people are stored.
        provider: who vouches; None where the installation has none.
        secret: signs what a browser keeps of a sign-in that it has begun.
        limits: counts tries by the address that they come from.
        tries: how many of them are let through.
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
        """How people can sign in; and in words why the sign-in was refused that a page was sent back from."""
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
            samesite="lax",  # the way back comes from the provider's site
        )
        return response

    async def come_back(
        self,
        request: Request,
        code: Annotated[Text, Query()] = "",
        state: Annotated[Text, Query()] = "",
        error: Annotated[Text, Query()] = "",
    ) -> Response:
        """Sign in whom the provider vouches for, and send the browser to the desk."""
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

    def _kept(self, request: Request, state: str) -> Begun:
        """Return what the browser has kept of the sign-in that it comes back from. Raises ProviderRefused."""
        try:
            begun = Begun(**self._begun.loads(request.cookies.get(_COOKIE, ""), max_age=_MINUTES * 60))
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
