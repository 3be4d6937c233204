"""No request is large: whatever sends more than it could mean is stopped while it sends."""

import re
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """ASGI middleware: a body announced as longer than `most` bytes is answered 413 and not read.

    Of one that is not announced no more than that is read; the application answers the HTTPException.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: int,
        refusal: Callable[[str], ASGIApp],
        elsewhere: Mapping[re.Pattern[str], int] | None = None,
    ) -> None:
        """Guard `app`.

        `refusal` turns a reason into the response to an announced body. `elsewhere`: the limits of paths that
        match wholly.
        """
        self._app = app
        self._most = most
        self._refusal = refusal
        self._elsewhere = elsewhere or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_at(scope["path"])
        reason = f"a request holds at most {most} bytes"
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > most:
            await self._refusal(reason)(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, reason)
            return message

        await self._app(scope, counted, send)

    def _most_at(self, path: str) -> int:
        found = (most for pattern, most in self._elsewhere.items() if pattern.fullmatch(path))
        return next(found, self._most)
