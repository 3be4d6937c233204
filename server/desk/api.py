"""The researcher's REST API. Every call needs a researcher's token."""

from pathlib import Path

from fastapi import APIRouter, Depends
from fastapi.responses import FileResponse
from sqlalchemy import Connection

from server.access.bearer import researchers_only
from server.clock import utc_now
from server.db.runs import find_run
from server.desk.responses import AssignmentDetail, RunDetail, RunList, SimulatedBeliefs
from server.desk.run_view import RunReader, run_summaries
from server.desk.simulation import beliefs
from server.desk.transcript import transcript
from server.desk.watch import Outlook


class ResearcherApi:
    """Serves the researcher's page and what it shows."""

    def __init__(self, outlook: Outlook, pages: Path) -> None:
        self._store = outlook.store
        self._outlook = outlook
        self._pages = pages
        self.router = APIRouter()
        for path in ("/desk", "/desk/{place:path}"):
            self.router.add_api_route(path, self.page, methods=["GET"], include_in_schema=False)
        api = APIRouter(
            prefix="/api/desk", tags=["runs"], dependencies=[Depends(researchers_only(outlook.auth))]
        )
        api.add_api_route("/runs", self.list_runs, methods=["GET"])
        api.add_api_route("/runs/{run}", self.show_run, methods=["GET"])
        api.add_api_route("/assignments/{assignment}", self.show_assignment, methods=["GET"])
        api.add_api_route("/assignments/{assignment}/simulation", self.show_simulation, methods=["GET"])
        self.router.include_router(api)

    async def page(self) -> FileResponse:
        """The researcher's page; it reads from its address what it is to show."""
        return FileResponse(self._pages / "desk.html", headers={"Cache-Control": "no-cache"})

    async def list_runs(self) -> RunList:
        """Every run in a few numbers, newest first. Rehearsals are listed apart."""
        url, now = self._outlook.public_url, utc_now()
        return await self._store.read(lambda connection: RunList(runs=run_summaries(connection, url, now)))

    async def show_run(self, run: str) -> RunDetail:
        """One run: progress per system, its assignments, its bots, and what needs attention."""
        around = self._outlook.surroundings()

        def read(connection: Connection) -> RunDetail:
            return RunReader().read(connection, find_run(connection, run), around, utc_now())

        return await self._store.read(read)

    async def show_assignment(self, assignment: str) -> AssignmentDetail:
        """One assignment, with transcripts and ratings."""
        return await self._store.read(lambda connection: transcript(connection, assignment))

    async def show_simulation(self, assignment: str) -> SimulatedBeliefs:
        """What a simulated worker believes of the systems it meets."""
        return await self._store.read(lambda connection: beliefs(connection, assignment))
