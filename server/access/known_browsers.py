"""Browsers in which somebody has signed in before: wrong passwords from elsewhere do not keep them out.

A limit of tries as one person stops guessing, but lets anybody who knows the name lock that person out. So a
known browser of theirs has tries of its own.
Source: OWASP, *Slow Down Online Guessing Attacks with Device Cookies*.
"""

import secrets
from typing import Any

from fastapi import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.access.cookie import is_secure, public_path

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
