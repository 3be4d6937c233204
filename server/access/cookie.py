"""The cookie of a browser that is signed in, and the check that its own page has sent a call."""

import re

from fastapi import Request, Response

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
