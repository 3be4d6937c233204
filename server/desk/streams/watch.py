"""Push changes to researchers: one feed for the list of runs, and one for each run."""

from asyncio import gather
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from sqlalchemy import Connection

from server.access.actor import Allowed, Caller
from server.access.parts import part
from server.clock import utc_now
from server.db.runs.runs import find_run
from server.desk.runs.responses import (
    AssignmentRow,
    Attention,
    RunDetail,
    RunListUpdate,
    RunSummary,
    RunUpdate,
)
from server.desk.runs.run_view import RunReader, RunViewSources, hidden_from, rows_for, run_summaries
from server.desk.streams.feed import Feed, FeedChange, Sight
from server.live.converse.presence import RUN_TOPIC
from server.news import News, Payload
from server.study import parse_study

# Errors of streams are JSON, as for every request; FastAPI would describe them as events.
_ERROR = {
    "description": "An error. All errors have this shape",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
}
_AT_FIRST = 40  # workers in the first event, with which a page is drawn
_AT_ONCE = 200  # workers in each later event
LastSeen = Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)]


def streaming(data: type[BaseModel]) -> dict[str, Any]:
    """Return the options of a route that serves server-sent events. `data`: the model of an event's data."""
    described = {"model": data, "description": "Server-sent events; this is the data of each"}
    return {"response_class": EventSourceResponse, "responses": {200: described, "default": _ERROR}}


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """The feed of a run, and the name of its study."""

    feed: Feed[AssignmentRow]
    study: str


class RunFeeds:
    """The feeds of this process: one for the list of runs, and one for each run."""

    def __init__(self, sources: RunViewSources, news: News) -> None:
        self._sources = sources
        self.list = Feed(self._look_at_list)
        self._runs: dict[int, WatchedRun] = {}
        news.subscribe(RUN_TOPIC, self._hear)
        news.subscribe("runs", lambda _payload: self._tell_all())

    async def drain(self, _seconds: float) -> None:
        """End every stream. Clients reconnect, to another process."""
        await gather(*(feed.close() for feed in self._feeds()))

    async def watched(self, run: str) -> WatchedRun:
        """Return the feed of a run. Raises RunNotFound, StorageFailed."""
        entry = await self._sources.store.read(lambda connection: find_run(connection, run))
        if entry.id not in self._runs:
            feed = Feed(_RunLook(run, self._sources))
            self._runs[entry.id] = WatchedRun(feed, parse_study(entry.yaml).name)
        return self._runs[entry.id]

    async def _look_at_list(self) -> Sight[RunSummary]:
        url = self._sources.public_url

        def read(connection: Connection) -> Sight[RunSummary]:
            return Sight({}, {run.run: run for run in run_summaries(connection, url, utc_now())})

        return await self._sources.store.read(read)

    def _hear(self, payload: Payload) -> None:
        self.list.tell()
        watched = self._runs.get(payload["run"])
        if watched is not None:
            watched.feed.tell()

    def _feeds(self) -> list[Feed[Any]]:
        return [self.list, *(watched.feed for watched in self._runs.values())]

    def _tell_all(self) -> None:
        for feed in self._feeds():
            feed.tell()


Feeds = Annotated[RunFeeds, part(RunFeeds)]
router = APIRouter(prefix="/api/desk/watch/runs", tags=["runs"], dependencies=[Depends(Allowed("see_runs"))])


@router.get("", **streaming(RunListUpdate))
async def watch_runs(
    actor: Caller, feeds: Feeds, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the runs that the caller may see as server-sent events: first all of them, then changes.

    To resume a stream, send the id of the last event as `Last-Event-ID`.
    """
    async for change in feeds.list.follow(last_event_id, actor.standing):
        runs = [run for run in change.rows.values() if actor.may("see_runs", run.study)]
        if runs or change.whole:
            yield _event(change, RunListUpdate(whole=change.whole, runs=runs))


async def _watched(run: str, feeds: Feeds) -> WatchedRun:
    return await feeds.watched(run)  # refuses a missing run before the stream begins


@router.get("/{run}", **streaming(RunUpdate))
async def watch_run(
    watched: Annotated[WatchedRun, Depends(_watched)], actor: Caller, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream one run as server-sent events: first all of it, then changes.

    If there are many workers, the first event has those who need attention and the newest; the next
    events have the others. To resume a stream, send the last event id as `Last-Event-ID`.
    """
    hidden = hidden_from(actor, watched.study)
    async for change in watched.feed.follow(last_event_id, actor.standing):
        parts = {name: part for name, part in change.parts.items() if name not in hidden}
        first, *others = _portions(rows_for(hidden, change.rows.values()), parts.get("attention", []))
        update = RunUpdate(whole=change.whole, workers=first, gone=list(change.gone), **parts)
        # Only the last portion has the change's id: a client that received it received all portions.
        yield _event(change, update, named=not others)
        for rows in others:
            more = RunUpdate(whole=False, workers=rows, gone=[])
            yield _event(change, more, named=rows is others[-1])


class _RunLook:
    """Reads the view of one run repeatedly."""

    def __init__(self, slug: str, sources: RunViewSources) -> None:
        self._slug = slug
        self._sources = sources
        self._reader = RunReader()

    async def __call__(self) -> Sight[AssignmentRow]:
        """Return the current view of the run. Raises StorageFailed."""
        around = self._sources.run_view_context()

        def read(connection: Connection) -> RunDetail:
            return self._reader.read(connection, find_run(connection, self._slug), around, utc_now())

        return _sight(await self._sources.store.read(read))


def _sight(run: RunDetail) -> Sight[AssignmentRow]:
    summary = RunSummary(**{name: getattr(run, name) for name in RunSummary.model_fields})
    own = RunDetail.model_fields.keys() - RunSummary.model_fields.keys() - {"workers"}
    parts = {"run": summary} | {name: getattr(run, name) for name in own}
    return Sight(parts, {row.assignment: row for row in run.workers})


def _portions(rows: list[AssignmentRow], needing: Iterable[Attention]) -> list[list[AssignmentRow]]:
    """Split rows into portions: a small first one with urgent and newest rows, then the others."""
    if len(rows) <= _AT_FIRST:
        return [rows]
    urgent = {assignment for item in needing for assignment in item.assignments}
    in_order = [row for row in rows if row.assignment in urgent]
    in_order += [row for row in rows if row.assignment not in urgent]
    begins = [0, *range(_AT_FIRST, len(rows), _AT_ONCE)]
    ends = [*begins[1:], len(rows)]
    return [in_order[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _event(change: FeedChange[Any], data: BaseModel, *, named: bool = True) -> ServerSentEvent:
    # Unchanged parts are left out.
    text = data.model_dump_json(exclude_unset=True)
    return ServerSentEvent(raw_data=text, id=change.name if named else None)
