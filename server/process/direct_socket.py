"""WebSockets of one path, served without the application's routing."""

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket


class DirectSocket:
    """Middleware: gives the WebSockets of one path to a function, and everything else to the application.

    A dozen layers of the framework lie between the two, none of which does anything for a WebSocket without
    parameters; together they cost as much as its handshake.

    Args:
        app: the application.
        path: of the WebSocket.
        serve: serves one connection, until it is closed.
    """

    def __init__(self, app: ASGIApp, path: str, serve: Callable[[WebSocket], Awaitable[None]]) -> None:
        self._app = app
        self._path = path
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "websocket" and scope["path"] == self._path:
            await self._serve(WebSocket(scope, receive, send))
        else:
            await self._app(scope, receive, send)
