"""Read and set cookies: of sign-ins, and of browsers known from earlier sign-ins."""

import re
import secrets
from typing import Any

from fastapi import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.access.sign_ins import HOURS
from server.errors import ForeignOrigin

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


def public_path(request: Request, path: str = "/") -> str:
    """Return the public path of `path`, which includes the path of the public URL."""
    return f"{request.app.state.public_path}{path}"


def sign_in_secret(request: Request) -> str | None:
    """Return the secret in the sign-in cookie of a request; None if there is none."""
    return request.cookies.get(_name(request))


def keep_sign_in(request: Request, response: Response, secret: str) -> None:
    """Set the sign-in cookie, inaccessible to scripts and never sent by other sites' pages."""
    response.set_cookie(
        _name(request),
        secret,
        max_age=HOURS * 3_600,
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )


def forget_sign_in(request: Request, response: Response) -> None:
    """Delete the sign-in cookie."""
    name = _name(request)
    response.delete_cookie(name, path="/", secure=is_secure(request), httponly=True, samesite="strict")


def require_own_page(request: Request) -> None:
    """Check that a request that changes data was sent by a page of this server. Raises ForeignOrigin.

    Browsers set headers that pages cannot change: `Sec-Fetch-Site` over TLS and on localhost, and `Origin`
    always. The origin must be that of the request, with the scheme from a trusted proxy, or that of the
    public URL.
    """
    if request.method in _READING or request.headers.get("sec-fetch-site") == "same-origin":
        return
    here = {f"{request.url.scheme}://{request.headers.get('host')}", request.app.state.public_origin}
    if request.headers.get("origin") not in here:
        raise ForeignOrigin("This request does not come from a page of this server")


def _name(request: Request) -> str:
    # Browsers accept the prefix __Host- over TLS and from this host only, so no other host can plant a
    # cookie. The path in the name separates installations below different paths of a host.
    below = re.sub(r"[^A-Za-z0-9]+", "-", public_path(request)).rstrip("-")
    return f"{'__Host-' if is_secure(request) else ''}candor{below}"


def is_secure(request: Request) -> bool:
    """Return whether the browser uses TLS, to this server or to a trusted proxy."""
    return request.url.scheme == "https"


# A limit of attempts per person stops guessing, but lets anybody who knows the name lock that person out. So
# each known browser of the person has its own limit. Source: OWASP, *Slow Down Online Guessing Attacks with
# Device Cookies*.
_SECONDS = 365 * 24 * 3_600
_NAME = "candor-known"
_PATH = "/api/account"


class KnownBrowsers:
    """Recognises browsers by a cookie that is signed with `secret`."""

    def __init__(self, secret: str) -> None:
        self._signed = URLSafeTimedSerializer(secret, salt="known-browser")

    def keep(self, request: Request, response: Response, person: str) -> None:
        """Set the cookie that `person` has signed in with this browser. It gives no access."""
        response.set_cookie(
            _NAME,
            self._signed.dumps([person, secrets.token_urlsafe(9)]),
            max_age=_SECONDS,
            path=public_path(request, _PATH),
            secure=is_secure(request),
            httponly=True,
            samesite="strict",
        )

    def browser_of(self, request: Request, person: str) -> str | None:
        """Return an identifier of the browser if `person` has signed in with it before, else None."""
        try:
            kept: Any = self._signed.loads(request.cookies.get(_NAME, ""), max_age=_SECONDS)
        except BadSignature:
            return None
        known, browser = kept
        return f"{person} {browser}" if known.lower() == person.lower() else None
