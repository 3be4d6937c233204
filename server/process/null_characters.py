"""No request has the character U+0000, which no text has and PostgreSQL does not store."""

import re

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_NULL = "a request holds no U+0000 (the null character)"
_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # as JSON writes it; behind another backslash it is none
_SEEN_AGAIN = 64  # bytes of a part, with the next one: the character may be cut in two


class NoNullCharacters:
    """ASGI middleware: answers `refusal` to what has a null character in its path or its query.

    Pages below `except_below` are served all the same: they read neither, and say what is wrong with the
    address once they join by it. Where the body has one, reading it raises HTTPException, which the
    application answers.
    """

    def __init__(self, app: ASGIApp, refusal: ASGIApp, except_below: str) -> None:
        self._app = app
        self._except_below = except_below
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_page = scope["path"].startswith(self._except_below)
        if not is_page and ("\0" in scope["path"] or b"%00" in scope["query_string"]):
            await self._refusal(scope, receive, send)
            return
        end = b""

        async def looked_at() -> Message:
            nonlocal end
            message = await receive()
            seen = end + message.get("body", b"")
            if _IN_JSON.search(seen):
                raise HTTPException(422, NO_NULL)
            end = seen[-_SEEN_AGAIN:]
            return message

        await self._app(scope, looked_at, send)
