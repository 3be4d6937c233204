"""Serve the pages: the server's own (start, API), and the built ones of workers and of the desk."""

import hashlib
from collections.abc import Container
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import Connection

from server.access.actor import Allowed
from server.access.parts import Database, part
from server.bots.opening import OpenRuns
from server.db.runs.runs import all_runs
from server.study import Study, parse_study

WORKER_PAGES = "/w/"
POLICY = "Content-Security-Policy"
STATIC = Path(__file__).parent / "static"
STATIC_PATH = "/static"
_TEMPLATES = Path(__file__).parent / "templates"


def policy(ancestors: str) -> str:
    """Return the content of the header POLICY of a page that `ancestors` may embed; sources of CSP."""
    sources = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'"
    return f"{sources}; frame-ancestors {ancestors}"


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


class BuiltAssets(StaticFiles):
    """The scripts, styles and fonts of the built pages. Browsers keep them: a changed file has a new name."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file, or "not modified", with a year to keep it."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


router = APIRouter(include_in_schema=False)


@router.get("/")
async def start_page(store: Database, served: Annotated[OpenRuns, part(OpenRuns)]) -> HTMLResponse:
    """Serve the start page, which lists the open runs whose study is announced."""
    studies = await store.read(lambda connection: _announced(connection, served))
    page = rendered("start.html.jinja", root="./", studies=studies)
    return HTMLResponse(page, headers={"Cache-Control": "no-cache"})


def _announced(connection: Connection, served: Container[int]) -> list[tuple[str, Study]]:
    """Return the open, served runs whose study is listed, by name, newest first."""
    open_runs = [run for run in all_runs(connection) if run.status == "open" and run.id in served]
    studies = [(run.slug, parse_study(run.yaml)) for run in reversed(open_runs)]
    return [(slug, study) for slug, study in studies if study.listed]


@router.get("/api/openapi.json", dependencies=[Depends(Allowed("read_api"))])
async def api_schema(request: Request) -> JSONResponse:
    """Serve the OpenAPI schema of the researcher's API."""
    return JSONResponse(request.app.openapi())


@router.get("/api/docs")
async def api_page() -> HTMLResponse:
    """Serve the page that shows the schema.

    Browsers send no token when they open a page. So the page itself is public and has no content: its script
    asks for the token, as the desk does, and loads the schema with it.
    """
    page = rendered("api_docs.html.jinja", root="../")
    return HTMLResponse(page, headers={"Cache-Control": "no-cache"})


@router.get(WORKER_PAGES + "{run}")
async def worker_page(
    run: str, request: Request, served: Annotated[OpenRuns, part(OpenRuns)]
) -> HTMLResponse:
    """Serve the worker's page, which only the sites of its study may embed.

    The page itself asks whether the run exists.
    """
    page = _built("worker.html", request)
    found = next((one for one in served.values() if one.slug == run), None)
    sites = found.study.embedded_in if found else []
    page.headers[POLICY] = policy(" ".join(sites) or "'none'")
    return page


@router.get("/preview")
async def preview_page(request: Request) -> HTMLResponse:
    """Serve the worker's page without a run, for the desk's preview."""
    return _built("preview.html", request)


@router.get("/desk")
@router.get("/desk/{place:path}")
async def desk_page(request: Request) -> HTMLResponse:
    """Serve the desk's page. The page reads from its address what to show."""
    return _built("desk.html", request)


def missing_page(request: Request) -> HTMLResponse:
    """Say to a person that there is no page at this address."""
    page = rendered("missing.html.jinja", root=_root(request))
    return HTMLResponse(page, HTTPStatus.NOT_FOUND, headers={"Cache-Control": "no-cache"})


def _root(request: Request) -> str:
    """Return the relative path from a request's address to the root of this server."""
    levels = request.scope["raw_path"].partition(b"?")[0].count(b"/") - 1
    return "../" * levels or "./"


def _built(name: str, request: Request) -> HTMLResponse:
    """Return a built page, by its file's name, with links adjusted to the depth of the request's path.

    Built pages link scripts relative to the root of the server. Relative links work whatever path a proxy
    adds in front.
    """
    content: str = (request.app.state.pages / name).read_text(encoding="utf-8")
    adjusted = content.replace('="./', f'="{_root(request)}')
    return HTMLResponse(adjusted, headers={"Cache-Control": "no-cache"})
