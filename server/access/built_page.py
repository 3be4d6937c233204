"""The built pages, wherever a proxy serves this server."""

from pathlib import Path

from fastapi import Request
from fastapi.responses import HTMLResponse


def built_page(file: Path, request: Request) -> HTMLResponse:
    """Return a built page, which loads its scripts from the root of this server.

    Built pages name them relative to that root. The request's path tells how many levels up it is, whatever
    path a proxy has put before it.
    """
    levels = request.scope["raw_path"].partition(b"?")[0].count(b"/") - 1
    content = file.read_text(encoding="utf-8").replace('="./', f'="{"../" * levels or "./"}')
    return HTMLResponse(content, headers={"Cache-Control": "no-cache"})
