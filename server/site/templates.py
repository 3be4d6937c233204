"""Render the server's own pages (start, API), and name static files by their content."""

import hashlib
from collections.abc import Callable, Container
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, JSONResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import Connection

from server.access.actor import Allowed
from server.db.runs.runs import all_runs
from server.db.store.store import Store
from server.study import Study, parse_study

STATIC = Path(__file__).parent / "static"
STATIC_PATH = "/static"
_TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: str, **values: object) -> str:
    """Render a page. `values` are escaped in the template.

    Every page needs `root`, the relative path to the root of this server, such as `./` or `../`. A relative
    path also works if a proxy serves this server below a path.
    """
    return _ENVIRONMENT.get_template(template).render(**values)


@cache
def _static(name: str) -> str:
    """Return the address of a static file below the root.

    The address changes with the file's content, so that browsers load changed files.
    """
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()
    return f"{STATIC_PATH[1:]}/{name}?{digest[:8]}"


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_ENVIRONMENT.globals["static"] = _static


class StartPage:
    """Serves `/`. `served`: the ids of the runs that are open in this process."""

    def __init__(self, store: Store, served: Container[int]) -> None:
        self._store = store
        self._served = served
        self.router = APIRouter(include_in_schema=False)
        self.router.add_api_route("/", self.page, methods=["GET"])

    async def page(self) -> HTMLResponse:
        """Serve the start page."""
        studies = await self._store.read(self._announced)
        page = rendered("start.html.jinja", root="./", studies=studies)
        return HTMLResponse(page, headers={"Cache-Control": "no-cache"})

    def _announced(self, connection: Connection) -> list[tuple[str, Study]]:
        """Return the open, served runs whose study is listed, by name, newest first."""
        open_runs = [run for run in all_runs(connection) if run.status == "open" and run.id in self._served]
        studies = [(run.slug, parse_study(run.yaml)) for run in reversed(open_runs)]
        return [(slug, study) for slug, study in studies if study.listed]


Schema = dict[str, Any]


class ApiDocs:
    """Serves the API's OpenAPI schema, and a page that shows it.

    Browsers send no token when they open a page. So the page itself is public and has no content: its script
    asks for the token, as the desk does, and loads the schema with it.
    """

    def __init__(self, schema: Callable[[], Schema]) -> None:
        """Create it. `schema` returns the schema, and is called at each request."""
        self._schema = schema
        self.router = APIRouter(include_in_schema=False)
        readers = [Depends(Allowed("read_api"))]
        self.router.add_api_route(
            "/api/openapi.json", self.schema, methods=["GET"], dependencies=readers, response_model=None
        )
        self.router.add_api_route("/api/docs", self.page, methods=["GET"])

    async def schema(self) -> JSONResponse:
        """Serve the OpenAPI schema."""
        return JSONResponse(self._schema())

    async def page(self) -> HTMLResponse:
        """Serve the page that shows the schema."""
        return HTMLResponse(
            rendered("api_docs.html.jinja", root="../"), headers={"Cache-Control": "no-cache"}
        )
