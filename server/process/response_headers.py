"""Headers of every answer: what a browser may do with a page of ours, and who may show it within theirs."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ResponseHeaders:
    """Middleware: adds the headers as an answer begins. Its body is passed on as it comes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Referrer-Policy"] = "no-referrer"
                headers["X-Content-Type-Options"] = "nosniff"
                # A report has a stricter one of its own.
                headers.setdefault("Content-Security-Policy", _policy(scope["path"]))
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


def _policy(path: str) -> str:
    # Platforms show the worker's page within theirs; nobody has a reason to do so with the desk, which
    # itself shows the preview of a study.
    ancestors = "*" if path.startswith("/w/") else "'self'" if path == "/preview" else "'none'"
    sources = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'"
    return f"{sources}; frame-ancestors {ancestors}"
