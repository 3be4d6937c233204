"""The researcher's REST API. Every call needs a researcher's token."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from fastapi.responses import FileResponse
from sqlalchemy import Connection

from server.access.auth import Auth
from server.db.catalog import find_run, runs
from server.db.store import Store
from server.desk import run_view
from server.desk.run_view import Json
from server.desk.simulation import beliefs
from server.desk.transcript import transcript


class ResearcherApi:
    """Serves the researcher's page and what it shows."""

    def __init__(self, *, store: Store, auth: Auth, public_url: str, pages: Path) -> None:
        self._store = store
        self._auth = auth
        self._public_url = public_url
        self._pages = pages
        self.router = APIRouter()
        self.router.add_api_route("/desk", self.page, methods=["GET"], include_in_schema=False)
        api = APIRouter(prefix="/api/desk", dependencies=[Depends(self._researcher)])
        api.add_api_route("/runs", self.list_runs, methods=["GET"])
        api.add_api_route("/runs/{run}", self.show_run, methods=["GET"])
        api.add_api_route("/assignments/{assignment}", self.show_assignment, methods=["GET"])
        api.add_api_route("/assignments/{assignment}/simulation", self.show_simulation, methods=["GET"])
        self.router.include_router(api)

    async def _researcher(self, authorization: Annotated[str | None, Header()] = None) -> None:
        await self._auth.require_researcher(authorization)

    async def page(self) -> FileResponse:
        """The researcher's page."""
        return FileResponse(self._pages / "desk.html", headers={"Cache-Control": "no-cache"})

    async def list_runs(self) -> Json:
        """Every run in a few numbers, newest first."""

        def read(connection: Connection) -> Json:
            found = reversed(runs(connection))
            return {"runs": [run_view.run_summary(connection, run, self._public_url) for run in found]}

        return await self._store.read(read)

    async def show_run(self, run: str) -> Json:
        """One run: progress per system, and its assignments."""

        def read(connection: Connection) -> Json:
            entry = find_run(connection, run)
            return {
                **run_view.run_summary(connection, entry, self._public_url),
                "systems": run_view.systems(connection, entry),
                "workers": run_view.assignments(connection, entry, self._auth),
            }

        return await self._store.read(read)

    async def show_assignment(self, assignment: str) -> Json:
        """One assignment, with transcripts and ratings."""
        return await self._store.read(lambda connection: transcript(connection, assignment))

    async def show_simulation(self, assignment: str) -> Json:
        """What a simulated worker believes of the systems it meets."""
        return await self._store.read(lambda connection: beliefs(connection, assignment))
