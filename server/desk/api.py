"""Endpoints of the researcher's REST API that show runs and assignments."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from candor.common.api_models import CrowdQuestion, SimulatedBeliefs
from server.access.actor import Allowed, Caller
from server.access.built_page import built_page
from server.access.parts import Database, part
from server.clock import utc_now
from server.db.runs.runs import find_run
from server.desk.assignments.search import Search, search
from server.desk.assignments.simulation import beliefs, crowd_question
from server.desk.assignments.transcript import transcript
from server.desk.assignments.transcript_responses import AssignmentDetail, ConversationHits
from server.desk.runs.responses import RunDetail, RunList
from server.desk.runs.run_view import RunReader, run_summaries
from server.desk.streams.watch import RunViewSources, seen_by

Sources = Annotated[RunViewSources, part(RunViewSources)]
router = APIRouter()


@router.get("/desk", include_in_schema=False)
@router.get("/desk/{place:path}", include_in_schema=False)
async def page(request: Request) -> HTMLResponse:
    """Serve the desk's page. The page reads from its address what to show."""
    return built_page("desk.html", request)


@router.get("/api/desk/runs", tags=["runs"], dependencies=[Depends(Allowed("see_runs"))])
async def list_runs(actor: Caller, store: Database, sources: Sources) -> RunList:
    """List summaries of the runs that the caller may see, newest first, without rehearsals."""
    url, now = sources.public_url, utc_now()
    found = await store.read(lambda connection: run_summaries(connection, url, now))
    return RunList(runs=[run for run in found if actor.may("see_runs", run.study)])


@router.get("/api/desk/runs/{run}", tags=["runs"], dependencies=[Depends(Allowed("see_runs"))])
async def show_run(run: str, actor: Caller, store: Database, sources: Sources) -> RunDetail:
    """Return one run: progress per system, assignments, bots, and what needs attention."""
    around = sources.run_view_context()

    def read(connection: Connection) -> RunDetail:
        return RunReader().read(connection, find_run(connection, run), around, utc_now())

    return seen_by(actor, await store.read(read))


@router.get("/api/desk/runs/{run}/crowd-question", tags=["runs"], dependencies=[Depends(Allowed("simulate"))])
async def show_crowd_question(
    run: str, workers: Annotated[int, Query(ge=1, le=10_000)], actor: Caller, store: Database
) -> CrowdQuestion:
    """Return the possible cost of a number of simulated workers in a run."""
    sees_hosts = actor.may("change_bots")
    return await store.read(lambda c: crowd_question(c, run, workers, sees_hosts=sees_hosts))


@router.get(
    "/api/desk/runs/{run}/conversations", tags=["runs"], dependencies=[Depends(Allowed("read_transcripts"))]
)
async def search_conversations(
    run: str, wanted: Annotated[Search, Query()], store: Database
) -> ConversationHits:
    """List conversations of a run that match a search, newest first, page by page."""
    return await store.read(lambda c: search(c, find_run(c, run), wanted))


@router.get(
    "/api/desk/assignments/{assignment}", tags=["runs"], dependencies=[Depends(Allowed("read_transcripts"))]
)
async def show_assignment(assignment: str, store: Database) -> AssignmentDetail:
    """Return one assignment, with transcripts and ratings."""
    return await store.read(lambda connection: transcript(connection, assignment))


@router.get(
    "/api/desk/assignments/{assignment}/simulation",
    tags=["runs"],
    dependencies=[Depends(Allowed("simulate"))],
)
async def show_simulation(assignment: str, store: Database) -> SimulatedBeliefs:
    """Return a simulated worker's beliefs about the systems of its assignment."""
    return await store.read(lambda connection: beliefs(connection, assignment))
