"""Admit HTTP callers who send the key."""

import hmac

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bots.endpoints.key import Key


class HttpGuard:
    """ASGI middleware: answer 401 to callers without the key. If `key` is None, everybody is admitted."""

    def __init__(self, app: ASGIApp, key: Key | None = None) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and not self._known(Headers(scope=scope).get("authorization", "")):
            await _NO_KEY(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _known(self, authorization: str) -> bool:
        if self._key is None:
            return True
        scheme, _, sent = authorization.partition(" ")
        same = hmac.compare_digest(sent.strip().encode(), self._key.value.encode())
        return scheme.lower() == "bearer" and same


_NO_KEY = JSONResponse(
    {"detail": "this bot host requires its key: send `Authorization: Bearer KEY`"},
    401,
    {"WWW-Authenticate": "Bearer"},
)
