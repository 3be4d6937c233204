"""Push changes of studies, accounts and bot checks to the desk."""

from asyncio import gather
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import ServerSentEvent
from pydantic import BaseModel
from sqlalchemy import Connection

from server.access import people, tokens
from server.access.actor import Allowed, Caller
from server.access.parts import part
from server.bots import stored_bots
from server.bots.api import CheckedBot, CheckedBots, check_of, without_addresses
from server.bots.fitness import TOPIC as CHECKS
from server.bots.registered_bots import RegisteredBots
from server.db.runs import studies
from server.desk.listed import TOPIC, ListedStore
from server.desk.people.people import PeopleUpdate, person_row, token_row
from server.desk.people.study_people import StudyPeople, people_of
from server.desk.streams.feed import Feed, Sight
from server.desk.streams.watch import LastSeen, streaming
from server.desk.studies.study_responses import StudyList, study_summary
from server.news import News


class ListFeeds:
    """The feeds of this process for lists. They have no rows, so a list is always pushed as a whole."""

    def __init__(self, store: ListedStore, bots: RegisteredBots, news: News) -> None:
        self._store = store
        self._bots = bots
        self.studies: Feed[None] = Feed(self._look_at_studies)
        self.people: Feed[None] = Feed(self._look_at_people)
        self.bots: Feed[None] = Feed(self._look_at_bots)
        for topic, feeds in {
            TOPIC: (self.studies, self.people),
            "runs": (self.studies,),
            "bots": (self.bots, self.studies),
            CHECKS: (self.bots,),
        }.items():
            news.subscribe(topic, _teller(feeds))

    async def drain(self, _seconds: float) -> None:
        """End every stream. Clients reconnect, to another process."""
        await gather(*(feed.close() for feed in (self.studies, self.people, self.bots)))

    async def _look_at_studies(self) -> Sight[None]:
        def read(connection: Connection) -> Sight[None]:
            runs = studies.runs_of(connection)
            registered = stored_bots.names(connection)
            found = studies.all_studies(connection)
            return _sight(
                studies=[study_summary(study, runs.get(study.name, []), registered) for study in found]
            )

        return await self._store.read(read)

    async def _look_at_people(self) -> Sight[None]:
        return await self._store.read(
            lambda connection: _sight(people=people.every(connection), tokens=tokens.every(connection))
        )

    async def _look_at_bots(self) -> Sight[None]:
        def read(connection: Connection) -> Sight[None]:
            rows = stored_bots.registrations(connection)
            return _sight(
                bots=[
                    CheckedBot(name=row.name, check=check_of(connection, row, self._bots.check_of(row.name)))
                    for row in rows
                ]
            )

        return await self._store.read(read)


Feeds = Annotated[ListFeeds, part(ListFeeds)]
router = APIRouter(prefix="/api/desk/watch")


@router.get(
    "/studies", tags=["studies"], dependencies=[Depends(Allowed("see_studies"))], **streaming(StudyList)
)
async def watch_studies(
    actor: Caller, feeds: Feeds, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the studies that the caller may see as server-sent events, all of them at each change."""
    async for change in feeds.studies.follow(last_event_id, actor.standing):
        found = [one for one in change.parts["studies"] if actor.may("see_studies", one.name)]
        yield _event(change.name, StudyList(studies=found))


@router.get(
    "/studies/{study}/people",
    tags=["people"],
    dependencies=[Depends(Allowed("manage_study_people"))],
    **streaming(StudyPeople),
)
async def watch_study_people(
    study: str, actor: Caller, feeds: Feeds, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the study's accounts as server-sent events, all of them whenever a role changes."""
    async for change in feeds.people.follow(last_event_id, actor.standing):
        if "people" in change.parts:
            yield _event(change.name, people_of(study, change.parts["people"], actor))


@router.get(
    "/people", tags=["people"], dependencies=[Depends(Allowed("manage_people"))], **streaming(PeopleUpdate)
)
async def watch_people(
    actor: Caller, feeds: Feeds, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream accounts and tokens as server-sent events. A list is sent whole when it changes."""
    async for change in feeds.people.follow(last_event_id, actor.standing):
        rows: dict[str, Any] = {}
        if "people" in change.parts:
            rows["people"] = [person_row(member) for member in change.parts["people"]]
        if "tokens" in change.parts:
            rows["tokens"] = [token_row(grant) for grant in reversed(change.parts["tokens"])]
        yield _event(change.name, PeopleUpdate(**rows))


@router.get("/bots", tags=["bots"], dependencies=[Depends(Allowed("see_bots"))], **streaming(CheckedBots))
async def watch_bots(
    actor: Caller, feeds: Feeds, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream registered bots and their latest checks as server-sent events, all of them at each change.

    Only the process that runs a check knows its progress.
    """
    async for change in feeds.bots.follow(last_event_id, actor.standing):
        bots = change.parts["bots"]
        if not actor.may("change_bots"):
            bots = [
                CheckedBot(name=bot.name, check=bot.check and without_addresses(bot.check)) for bot in bots
            ]
        yield _event(change.name, CheckedBots(bots=bots))


def _sight(**parts: Any) -> Sight[None]:
    return Sight(parts, {})


def _teller(feeds: tuple[Feed[None], ...]) -> Any:
    def tell(_payload: Any) -> None:
        for feed in feeds:
            feed.tell()

    return tell


def _event(name: str, data: BaseModel) -> ServerSentEvent:
    return ServerSentEvent(raw_data=data.model_dump_json(exclude_unset=True), id=name)
