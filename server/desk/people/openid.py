"""Sign in at the desk with an OpenID provider: the authorization code flow with PKCE, and its endpoints.

The provider's e-mail address must belong to an existing account.

Sources: OpenID Connect Core 1.0, sections 3.1.2 (the flow) and 3.1.3.7 (validation of the ID token); OpenID
Connect Discovery 1.0, section 4; RFC 7636 (PKCE). Signatures and claims are checked by PyJWT.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
import jwt
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer
from limits import parse
from pydantic import BaseModel, Field
from pydantic_core import from_json

from candor.common.network import BoundedClient
from server.access import people
from server.access.cookie import public_path
from server.access.parts import Configured, Database, Limits, part
from server.access.rate_limit import RateLimits
from server.config import Settings
from server.desk.people.accounts import begin_sign_in
from server.errors import ProviderRefused, Refusal

CALLBACK = "/api/account/openid/callback"
_COOKIE = "candor-openid"
_COOKIE_PATH = "/api/account/openid"
_MINUTES = 10  # to sign in with the provider
# Asymmetric algorithms only. Tokens signed with a shared secret, or unsigned, are refused.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_SECONDS = 10.0  # time-out of the provider
_LEEWAY = 60  # seconds by which the provider's clock may differ
_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]
Json = dict[str, Any]
Text = Annotated[str, Field(max_length=4_000)]


@dataclass(frozen=True, slots=True)
class SignInStart:
    """The state of a sign-in that has begun, which the browser keeps in a cookie."""

    state: str
    nonce: str
    verifier: str


def new_sign_in() -> SignInStart:
    """Begin a sign-in with three random secrets."""
    return SignInStart(*(secrets.token_urlsafe(32) for _ in range(3)))


class OpenIdProvider:
    """Client of one OpenID provider.

    Args:
        issuer: the provider's address, as in its tokens.
        client_id: the id of this installation at the provider.
        client_secret: the secret of this installation; None for a public client.
        redirect_uri: the address to which the provider redirects browsers.
        name: the provider's name for people; by default, the host of `issuer`.
    """

    def __init__(
        self, issuer: str, client_id: str, client_secret: str | None, redirect_uri: str, name: str | None
    ) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._redirect_uri = redirect_uri
        self.name = name or urlsplit(issuer).netloc
        self._about: Json | None = None

    async def address(self, begun: SignInStart) -> str:
        """Return the provider's address for signing in. Raises ProviderRefused if it is unreachable."""
        about = await self._discovered()
        challenge = hashlib.sha256(begun.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect_uri,
            "scope": "openid email",
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        endpoint = str(about["authorization_endpoint"])
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def email(self, code: str, begun: SignInStart) -> str:
        """Return the verified e-mail address of the person who has signed in with the provider.

        Args:
            code: the authorization code from the redirect.
            begun: the state from the browser's cookie.

        Raises:
            ProviderRefused: the code, the token or its claims are not valid.
        """
        about = await self._discovered()
        answer = await self._asked("POST", str(about["token_endpoint"]), **self._exchange(about, code, begun))
        keys = await self._asked("GET", str(about["jwks_uri"]))
        claims = self._claims(str(answer.get("id_token", "")), keys)
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), begun.nonce.encode()):
            raise ProviderRefused("nonce")
        if (
            isinstance(claims["aud"], list)
            and len(claims["aud"]) > 1
            and claims.get("azp") != self._client_id
        ):
            raise ProviderRefused("audience")
        if claims.get("email_verified") is not True or not isinstance(claims.get("email"), str):
            raise ProviderRefused("unverified")
        return str(claims["email"])

    def _exchange(self, about: Json, code: str, begun: SignInStart) -> Json:
        """Return the arguments of the token request."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": begun.verifier,
            "client_id": self._client_id,
        }
        if self._client_secret is None:
            return {"data": form}
        if "client_secret_basic" in about.get(
            "token_endpoint_auth_methods_supported", ["client_secret_basic"]
        ):
            # Both are encoded as in a form before they are joined (RFC 6749, section 2.3.1).
            return {"data": form, "auth": (quote(self._client_id, ""), quote(self._client_secret, ""))}
        return {"data": form | {"client_secret": self._client_secret}}

    def _claims(self, token: str, keys: Json) -> Json:
        """Return the claims of a token after checking its signature, times and audience."""
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
            known = jwt.PyJWKSet.from_dict(keys).keys
            key = next(k for k in known if key_id is None or k.key_id == key_id)
            claims: Json = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._client_id,
                issuer=self._issuer,
                leeway=_LEEWAY,
                options={"require": _REQUIRED},
            )
        except jwt.ExpiredSignatureError as error:
            raise ProviderRefused("expired") from error
        except (jwt.InvalidAudienceError, jwt.InvalidIssuerError) as error:
            raise ProviderRefused("audience") from error
        except (jwt.PyJWTError, StopIteration, ValueError) as error:
            raise ProviderRefused("signature") from error
        return claims

    async def _discovered(self) -> Json:
        """Return the provider's discovery document, which is requested once."""
        if self._about is None:
            where = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            about = await self._asked("GET", where)
            needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
            if about.get("issuer") != self._issuer or not all(isinstance(about.get(n), str) for n in needed):
                raise ProviderRefused("unreachable")
            self._about = about
        return self._about

    async def _asked(self, method: str, url: str, **sent: Any) -> Json:
        """Send a request to the provider and return the JSON object. Raises ProviderRefused."""
        try:
            async with BoundedClient(timeout=_SECONDS) as client:
                answer = await client.request(method, url, headers={"Accept": "application/json"}, **sent)
            content = from_json(answer.raise_for_status().content)
        except httpx2.HTTPStatusError as error:
            raise ProviderRefused("code" if method == "POST" else "unreachable") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise ProviderRefused("unreachable") from error
        if not isinstance(content, dict):
            raise ProviderRefused("unreachable")
        return content


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
