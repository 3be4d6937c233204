"""No request to this server is large: whatever sends more than it could mean is stopped while it sends."""

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 65_536
_REASON = f"a request holds at most {MOST_BYTES} bytes"


class BodyLimit:
    """ASGI middleware: a body announced as longer than `MOST_BYTES` is answered 413 and not read.

    Of one that is not announced no more than that is read; what there is then cannot be parsed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > MOST_BYTES:
            await _refusal(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BYTES:
                raise HTTPException(413, _REASON)
            return message

        await self._app(scope, counted, send)


_refusal = JSONResponse(
    {"error": {"code": "too_long", "message": _REASON, "hint": "Shorten it and send it again."}}, 413
)
