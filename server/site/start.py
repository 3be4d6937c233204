"""The start page: what this server is, the studies that may be announced, the way to the desk."""

from collections.abc import Container

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from server.db.runs.runs import all_runs
from server.db.store.store import Store
from server.site.templates import rendered
from server.study import Study, parse_study


class StartPage:
    """Serves `/`. `served` holds the ids of the runs that this process can let workers into."""

    def __init__(self, store: Store, served: Container[int]) -> None:
        self._store = store
        self._served = served
        self.router = APIRouter(include_in_schema=False)
        self.router.add_api_route("/", self.page, methods=["GET"])

    async def page(self) -> HTMLResponse:
        """The start page."""
        studies = await self._store.read(self._announced)
        page = rendered("start.html.jinja", root="./", studies=studies)
        return HTMLResponse(page, headers={"Cache-Control": "no-cache"})

    def _announced(self, connection: Connection) -> list[tuple[str, Study]]:
        """Return the open, served runs whose study is listed, by name, newest first."""
        open_runs = [run for run in all_runs(connection) if run.status == "open" and run.id in self._served]
        studies = [(run.slug, parse_study(run.yaml)) for run in reversed(open_runs)]
        return [(slug, study) for slug, study in studies if study.listed]
