"""What researchers watch, pushed as it changes: one feed for the list of runs, and one for each run."""

from asyncio import gather
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from sqlalchemy import Connection

from server.access.auth import Auth
from server.access.bearer import researchers_only
from server.bots.opened_bots import OpenedBots
from server.clock import utc_now
from server.db.runs import find_run
from server.db.store import Store
from server.desk.feed import Change, Feed, Sight
from server.desk.responses import RunDetail, RunListUpdate, RunSummary, RunUpdate
from server.desk.run_view import RunReader, Surroundings, run_summaries
from server.live.run_news import TOPIC
from server.live.sessions import LiveSessions
from server.news import News, Payload

# A stream is refused as every call is: FastAPI would describe the error as an event.
_ERROR = {
    "description": "An error, in the one shape of them all",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
}
LastSeen = Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What views of runs need of the rest of this process.

    `live`: knows whose page is open. `opened_bots`: knows how the replicas of bots do.
    """

    store: Store
    auth: Auth
    live: LiveSessions
    opened_bots: OpenedBots
    public_url: str

    def surroundings(self) -> Surroundings:
        """Return what a view of a run needs, as it is now."""
        return Surroundings(self.public_url, self.auth, self.live.presence.away, self.opened_bots.states)


class Watch:
    """Serves streams of changes: `GET /api/desk/watch/runs`, `GET /api/desk/watch/runs/{run}`."""

    def __init__(self, outlook: Outlook, news: News) -> None:
        self._outlook = outlook
        self._list = Feed(self._look_at_list)
        self._runs: dict[int, Feed] = {}
        news.subscribe(TOPIC, self._hear)
        news.subscribe("runs", lambda _payload: self._tell_all())
        self.router = APIRouter(
            prefix="/api/desk/watch", tags=["runs"], dependencies=[Depends(researchers_only(outlook.auth))]
        )
        self._route("/runs", self.watch_runs, RunListUpdate)
        self._route("/runs/{run}", self._watch_run(), RunUpdate)

    def _route(self, path: str, call: Callable[..., Any], data: type[BaseModel]) -> None:
        self.router.add_api_route(
            path,
            call,
            methods=["GET"],
            response_class=EventSourceResponse,
            responses={
                200: {"model": data, "description": "Server-sent events; this is the data of each"},
                "default": _ERROR,
            },
        )

    async def drain(self, _seconds: float) -> None:
        """End every stream; whoever follows one comes back, to another process."""
        await gather(*(feed.close() for feed in (self._list, *self._runs.values())))

    async def watch_runs(self, last_event_id: LastSeen = None) -> AsyncIterator[ServerSentEvent]:
        """The list of runs: all of it, then what changes in it, as server-sent events.

        Send the id of the last event as `Last-Event-ID` to go on from there.
        """
        async for change in self._list.follow(last_event_id):
            yield _event(change, RunListUpdate(whole=change.whole, runs=list(change.rows.values())))

    def _watch_run(self) -> Callable[..., AsyncIterator[ServerSentEvent]]:
        # A run that is not there must be refused before the stream begins: by a dependency.
        async def watch_run(
            feed: Annotated[Feed, Depends(self._feed)], last_event_id: LastSeen = None
        ) -> AsyncIterator[ServerSentEvent]:
            """One run: all of it, then what changes of it, as server-sent events.

            Send the id of the last event as `Last-Event-ID` to go on from there.
            """
            async for change in feed.follow(last_event_id):
                rows = {"workers": list(change.rows.values()), "gone": list(change.gone)}
                yield _event(change, RunUpdate(whole=change.whole, **change.parts, **rows))

        return watch_run

    async def _feed(self, run: str) -> Feed:
        entry = await self._outlook.store.read(lambda connection: find_run(connection, run))
        return self._runs.setdefault(entry.id, Feed(_RunLook(run, self._outlook)))

    async def _look_at_list(self) -> Sight:
        url = self._outlook.public_url

        def read(connection: Connection) -> Sight:
            return Sight({}, {run.run: run for run in run_summaries(connection, url, utc_now())})

        return await self._outlook.store.read(read)

    def _hear(self, payload: Payload) -> None:
        self._list.tell()
        feed = self._runs.get(payload["run"])
        if feed is not None:
            feed.tell()

    def _tell_all(self) -> None:
        for feed in (self._list, *self._runs.values()):
            feed.tell()


class _RunLook:
    """Looks at one run, again and again."""

    def __init__(self, slug: str, outlook: Outlook) -> None:
        self._slug = slug
        self._outlook = outlook
        self._reader = RunReader()

    async def __call__(self) -> Sight:
        """Return the run as it stands. Raises StorageFailed."""
        around = self._outlook.surroundings()

        def read(connection: Connection) -> RunDetail:
            return self._reader.read(connection, find_run(connection, self._slug), around, utc_now())

        return _sight(await self._outlook.store.read(read))


def _sight(run: RunDetail) -> Sight:
    summary = RunSummary(**{name: getattr(run, name) for name in RunSummary.model_fields})
    own = RunDetail.model_fields.keys() - RunSummary.model_fields.keys() - {"workers"}
    parts = {"run": summary} | {name: getattr(run, name) for name in own}
    return Sight(parts, {row.assignment: row for row in run.workers})


def _event(change: Change, data: BaseModel) -> ServerSentEvent:
    # What has not changed is left out.
    return ServerSentEvent(raw_data=data.model_dump_json(exclude_unset=True), id=change.name)
