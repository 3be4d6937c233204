"""Serve the built pages below any path of a proxy."""

from pathlib import Path

from fastapi import Request
from fastapi.responses import HTMLResponse


def built_page(file: Path, request: Request) -> HTMLResponse:
    """Return a built page with links to its scripts adjusted to the depth of the request's path.

    Built pages link scripts relative to the root of the server. Relative links work whatever path a proxy
    adds in front.
    """
    levels = request.scope["raw_path"].partition(b"?")[0].count(b"/") - 1
    content = file.read_text(encoding="utf-8").replace('="./', f'="{"../" * levels or "./"}')
    return HTMLResponse(content, headers={"Cache-Control": "no-cache"})
