"""Endpoints of the researcher's REST API that show runs and assignments."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.built_page import built_page
from server.access.roles import Permission
from server.clock import utc_now
from server.db.runs.runs import find_run
from server.desk.assignments.search import Search, search
from server.desk.assignments.simulation import beliefs, crowd_question
from server.desk.assignments.transcript import transcript
from server.desk.assignments.transcript_responses import (
    AssignmentDetail,
    ConversationHits,
    CrowdQuestion,
    SimulatedBeliefs,
)
from server.desk.runs.responses import RunDetail, RunList
from server.desk.runs.run_view import RunReader, run_summaries
from server.desk.streams.watch import RunViewSources, seen_by


class ResearcherApi:
    """Serves the desk's page, and the endpoints that show runs and assignments."""

    def __init__(self, outlook: RunViewSources, pages: Path) -> None:
        self._store = outlook.store
        self._outlook = outlook
        self._pages = pages
        self.router = APIRouter()
        for path in ("/desk", "/desk/{place:path}"):
            self.router.add_api_route(path, self.page, methods=["GET"], include_in_schema=False)
        self._route("/runs", self.list_runs, "see_runs")
        self._route("/runs/{run}", self.show_run, "see_runs")
        self._route("/runs/{run}/crowd-question", self.show_crowd_question, "simulate")
        self._route("/runs/{run}/conversations", self.search_conversations, "read_transcripts")
        self._route("/assignments/{assignment}", self.show_assignment, "read_transcripts")
        self._route("/assignments/{assignment}/simulation", self.show_simulation, "simulate")

    def _route(self, path: str, call: Callable[..., Any], permission: Permission) -> None:
        allowed = [Depends(Allowed(permission))]
        self.router.add_api_route(
            f"/api/desk{path}", call, methods=["GET"], tags=["runs"], dependencies=allowed
        )

    async def page(self, request: Request) -> HTMLResponse:
        """Serve the desk's page. The page reads from its address what to show."""
        return built_page(self._pages / "desk.html", request)

    async def list_runs(self, actor: Caller) -> RunList:
        """List summaries of the runs that the caller may see, newest first, without rehearsals."""
        url, now = self._outlook.public_url, utc_now()
        found = await self._store.read(lambda connection: run_summaries(connection, url, now))
        return RunList(runs=[run for run in found if actor.may("see_runs", run.study)])

    async def show_run(self, run: str, actor: Caller) -> RunDetail:
        """Return one run: progress per system, assignments, bots, and what needs attention."""
        around = self._outlook.run_view_context()

        def read(connection: Connection) -> RunDetail:
            return RunReader().read(connection, find_run(connection, run), around, utc_now())

        return seen_by(actor, await self._store.read(read))

    async def show_crowd_question(
        self, run: str, workers: Annotated[int, Query(ge=1, le=10_000)], actor: Caller
    ) -> CrowdQuestion:
        """Return the possible cost of a number of simulated workers in a run."""
        sees_hosts = actor.may("change_bots")
        return await self._store.read(lambda c: crowd_question(c, run, workers, sees_hosts=sees_hosts))

    async def search_conversations(self, run: str, wanted: Annotated[Search, Query()]) -> ConversationHits:
        """List conversations of a run that match a search, newest first, page by page."""
        return await self._store.read(lambda c: search(c, find_run(c, run), wanted))

    async def show_assignment(self, assignment: str) -> AssignmentDetail:
        """Return one assignment, with transcripts and ratings."""
        return await self._store.read(lambda connection: transcript(connection, assignment))

    async def show_simulation(self, assignment: str) -> SimulatedBeliefs:
        """Return a simulated worker's beliefs about the systems of its assignment."""
        return await self._store.read(lambda connection: beliefs(connection, assignment))
