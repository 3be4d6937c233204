"""Who may come in over HTTP, and with how much: the key that callers send, the size of what they send."""

import hmac

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bots.endpoints.key import Key

MOST_BYTES = 1_048_576
_TOO_LONG = f"a request holds at most {MOST_BYTES} bytes"


class HttpGuard:
    """ASGI middleware: 401 for whoever does not send the key, 413 for whoever sends too much.

    Without a `key` everybody may come in. A body announced as too long is not read; of one that is not
    announced no more than MOST_BYTES are.
    """

    def __init__(self, app: ASGIApp, key: Key | None = None) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._known(headers.get("authorization", "")):
            detail = {"detail": "this bot host wants its key: send `Authorization: Bearer KEY`"}
            await JSONResponse(detail, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            return
        announced = headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > MOST_BYTES:
            await JSONResponse({"detail": _TOO_LONG}, 413)(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BYTES:
                raise HTTPException(413, _TOO_LONG)
            return message

        await self._app(scope, counted, send)

    def _known(self, authorization: str) -> bool:
        if self._key is None:
            return True
        scheme, _, sent = authorization.partition(" ")
        same = hmac.compare_digest(sent.strip().encode(), self._key.value.encode())
        return scheme.lower() == "bearer" and same
