"""Read and set the cookies of browsers: those signed in, and those known from earlier sign-ins."""

import re
import secrets
from typing import Any

from fastapi import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.access.sign_ins import HOURS
from server.errors import ForeignOrigin

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


def public_path(request: Request, path: str = "/") -> str:
    """Return the path that a browser reaches as what is `path` here, below that of the public URL."""
    return f"{request.app.state.public_path}{path}"


def sign_in_secret(request: Request) -> str | None:
    """Return what the browser that calls keeps of a sign-in, if it keeps any."""
    return request.cookies.get(_name(request))


def keep_sign_in(request: Request, response: Response, secret: str) -> None:
    """Have the browser keep a sign-in: out of reach of scripts, never sent along from another site."""
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
    """Have the browser forget its sign-in."""
    name = _name(request)
    response.delete_cookie(name, path="/", secure=is_secure(request), httponly=True, samesite="strict")


def require_own_page(request: Request) -> None:
    """Check that a call that changes something was sent by a page of this server. Raises ForeignOrigin.

    Browsers say so in headers that no page can set: in `Sec-Fetch-Site` over TLS and on the machine
    itself, in `Origin` everywhere. The origin is that of the request, whose scheme a trusted proxy tells, or
    that of the public URL.
    """
    if request.method in _READING or request.headers.get("sec-fetch-site") == "same-origin":
        return
    here = {f"{request.url.scheme}://{request.headers.get('host')}", request.app.state.public_origin}
    if request.headers.get("origin") not in here:
        raise ForeignOrigin("this call does not come from a page of this server")


def _name(request: Request) -> str:
    # A name that starts like this is taken over TLS only, and from this very host: nobody plants one. Two
    # installations below different paths of a host have cookies of two names.
    below = re.sub(r"[^A-Za-z0-9]+", "-", public_path(request)).rstrip("-")
    return f"{'__Host-' if is_secure(request) else ''}candor{below}"


def is_secure(request: Request) -> bool:
    """Return whether the browser speaks TLS, to us or to a proxy that says so."""
    return request.url.scheme == "https"


# A limit of tries as one person stops guessing, but lets anybody who knows the name lock that person out. So
# a known browser of theirs has tries of its own. Source: OWASP, *Slow Down Online Guessing Attacks with
# Device Cookies*.
_SECONDS = 365 * 24 * 3_600
_NAME = "candor-known"
_PATH = "/api/account"


class KnownBrowsers:
    """Knows browsers by a cookie that is signed with `secret`."""

    def __init__(self, secret: str) -> None:
        self._signed = URLSafeTimedSerializer(secret, salt="known-browser")

    def keep(self, request: Request, response: Response, person: str) -> None:
        """Have the browser keep that `person` has signed in in it; it opens nothing."""
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
        """Return a name for the calling browser if `person` has signed in in it before, else None."""
        try:
            kept: Any = self._signed.loads(request.cookies.get(_NAME, ""), max_age=_SECONDS)
        except BadSignature:
            return None
        known, browser = kept
        return f"{person} {browser}" if known.lower() == person.lower() else None
