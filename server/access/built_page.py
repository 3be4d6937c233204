"""Serve the built pages below any path of a proxy."""

from fastapi import Request
from fastapi.responses import HTMLResponse


def built_page(name: str, request: Request) -> HTMLResponse:
    """Return a built page, by its file's name, with links adjusted to the depth of the request's path.

    Built pages link scripts relative to the root of the server. Relative links work whatever path a proxy
    adds in front.
    """
    levels = request.scope["raw_path"].partition(b"?")[0].count(b"/") - 1
    content: str = (request.app.state.pages / name).read_text(encoding="utf-8")
    adjusted = content.replace('="./', f'="{"../" * levels or "./"}')
    return HTMLResponse(adjusted, headers={"Cache-Control": "no-cache"})
