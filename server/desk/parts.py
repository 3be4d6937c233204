"""FastAPI dependencies for the parts of the server that only the desk's endpoints use."""

from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from server.desk.listed import ListedStore
from server.live.converse.interventions import Interventions
from server.live.converse.sessions import LiveSessions


async def _lists(request: Request) -> ListedStore:
    lists: ListedStore = request.app.state.parts.lists
    return lists


async def _live(request: Request) -> LiveSessions:
    live: LiveSessions = request.app.state.parts.live
    return live


async def _interventions(request: Request) -> Interventions:
    interventions: Interventions = request.app.state.parts.interventions
    return interventions


async def _pages(request: Request) -> Path:
    pages: Path = request.app.state.parts.pages
    return pages


Lists = Annotated[ListedStore, Depends(_lists)]
Live = Annotated[LiveSessions, Depends(_live)]
RunInterventions = Annotated[Interventions, Depends(_interventions)]
Pages = Annotated[Path, Depends(_pages)]  # the folder of the built pages
