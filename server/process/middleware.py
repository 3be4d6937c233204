"""Middleware: errors as JSON, response headers, request ids, and a short path for WebSockets."""

import re
import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from structlog.contextvars import bind_contextvars, clear_contextvars

from server.errors import CandorError, ErrorBody, ErrorDetail
from server.site.pages import POLICY, missing_page, policy


class DirectSocket:
    """Middleware: passes WebSockets of one path directly to a function, everything else to the application.

    This skips a dozen layers of the framework, which do nothing for a WebSocket without parameters, but
    together cost as much as its handshake.

    Args:
        app: the application.
        path: the path of the WebSockets.
        serve: serves one connection until it is closed.
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


class ResponseHeaders:
    """Middleware: adds security headers to responses, without buffering their bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Referrer-Policy"] = "no-referrer"
                headers["X-Content-Type-Options"] = "nosniff"
                # Reports and the worker's pages set their own policies. Only the desk may embed the preview.
                ancestors = "'self'" if scope["path"] == "/preview" else "'none'"
                headers.setdefault(POLICY, policy(ancestors))
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


HEADER = "X-Request-ID"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestIds:
    """Middleware: gives each request and each WebSocket an id.

    The id is the caller's `X-Request-ID` if that is valid, else a new one. Responses repeat it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection under its id."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        name = given if _SANE.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = name
        # Not reset at the end, so that log lines about a failure of this task have the id, too.
        clear_contextvars()
        bind_contextvars(request_id=name)

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = name
            await send(message)

        await self._app(scope, receive, named if scope["type"] == "http" else send)


NO_NULL = "a request must not contain U+0000 (the null character)"
_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # its JSON escape, not preceded by an escaped backslash
_SEEN_AGAIN = 64  # bytes repeated from the previous part, because the escape may be split


class NoNullCharacters:
    """ASGI middleware: responds with `refusal` to requests with a null character in the path or query.

    Pages below `except_below` are served anyway: they read neither, and show the error when they join. For a
    null character in the body, reading the body raises HTTPException, which the application handles.
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


_TAKE_OUT = "Remove it and send the request again."


def _error(status: int, code: str, message: str, hint: str) -> JSONResponse:
    body = ErrorBody(error=ErrorDetail(code=code, message=message, hint=hint))
    return JSONResponse(body.model_dump(), status)


def too_long(reason: str) -> JSONResponse:
    """Return the response to a request whose body is too long."""
    return _error(413, "too_long", reason, "Shorten it and send it again.")


def null_character() -> JSONResponse:
    """Return the response to a request with a null character in its path or query."""
    return _error(422, "invalid_request", NO_NULL, _TAKE_OUT)


def add_errors(app: FastAPI) -> None:
    """Register handlers that give every error the JSON shape `{"error": {"code", "message", "hint"}}`."""

    @app.exception_handler(CandorError)
    async def candor(_request: Request, error: CandorError) -> JSONResponse:
        return _error(error.status, error.code, error.message, error.hint)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [
            f"{'.'.join(str(k) for k in e['loc'])}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()
        ]
        return _error(422, "invalid_request", "; ".join(problems), "Correct the fields that are named.")

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.NOT_FOUND and "text/html" in request.headers.get("accept", ""):
            return missing_page(request)  # a person's browser asks
        if (
            error.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        ):  # of a body, by a middleware that has read it
            return _error(422, "invalid_request", str(error.detail), _TAKE_OUT)
        return _error(error.status_code, "http_error", str(error.detail), "Check the address and the method.")

    @app.exception_handler(Exception)
    async def unexpected(_request: Request, _error_: Exception) -> JSONResponse:
        unknown = CandorError("Something went wrong on the server")
        return _error(unknown.status, unknown.code, unknown.message, unknown.hint)
