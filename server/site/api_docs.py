"""The researcher's API described: its schema, for those with a token, and a page that shows it."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, JSONResponse

from server.access.actor import Allowed
from server.access.auth import Auth
from server.site.templates import rendered

Schema = dict[str, Any]


class ApiDocs:
    """Serves the API's OpenAPI schema and its page.

    A browser sends no token with a page's address, so that the page itself is open and says nothing: its
    script asks for the token, as the desk does, and fetches the schema with it.
    """

    def __init__(self, auth: Auth, schema: Callable[[], Schema]) -> None:
        """Serve what `schema` returns, which is called at each request."""
        self._schema = schema
        self.router = APIRouter(include_in_schema=False)
        readers = [Depends(Allowed(auth, "read_api"))]
        self.router.add_api_route(
            "/api/openapi.json", self.schema, methods=["GET"], dependencies=readers, response_model=None
        )
        self.router.add_api_route("/api/docs", self.page, methods=["GET"])

    async def schema(self) -> JSONResponse:
        """The OpenAPI schema."""
        return JSONResponse(self._schema())

    async def page(self) -> HTMLResponse:
        """The page that shows the schema."""
        return HTMLResponse(
            rendered("api_docs.html.jinja", root="../"), headers={"Cache-Control": "no-cache"}
        )
