"""Browsers in which somebody has signed in before: wrong passwords from elsewhere do not keep them out.

A limit of tries as one person stops whoever guesses, and would let anybody lock a person out whose name they
know. A browser of theirs that is known has tries of its own.
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

    def whose_tries(self, request: Request, person: str) -> str:
        """Return what tries to sign in as `person` are counted under: a browser of theirs, or their name."""
        try:
            kept: Any = self._signed.loads(request.cookies.get(_NAME, ""), max_age=_SECONDS)
        except BadSignature:
            return person
        known, browser = kept
        return f"{person} {browser}" if known == person else person
