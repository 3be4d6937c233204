"""Push changes to researchers: one feed for the list of runs, and one for each run."""

from asyncio import gather
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from sqlalchemy import Connection

from server.access.actor import Actor, Allowed, Caller
from server.access.auth import Auth
from server.access.roles import Permission
from server.bots.opened_bots import OpenedBots
from server.clock import utc_now
from server.db.runs.runs import find_run
from server.db.store.store import Store
from server.desk.runs.responses import (
    AssignmentRow,
    Attention,
    RunDetail,
    RunListUpdate,
    RunSummary,
    RunUpdate,
)
from server.desk.runs.run_view import RunReader, RunViewContext, run_summaries
from server.desk.streams.feed import Change, Feed, Sight
from server.live.converse.run_news import TOPIC
from server.live.converse.sessions import LiveSessions
from server.news import News, Payload
from server.study import parse_study

# A stream is refused as every call is: FastAPI would describe the error as an event.
_ERROR = {
    "description": "An error, in the one shape of them all",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
}
_AT_FIRST = 40  # workers in the event that a page is drawn with
_AT_ONCE = 200  # workers in each event after it
LastSeen = Annotated[str | None, Header(alias="Last-Event-ID", max_length=40)]


def streamed(
    router: APIRouter, path: str, call: Callable[..., Any], data: type[BaseModel], **route: Any
) -> None:
    """Serve a stream at `path`, each of whose events has a `data`; `route` is FastAPI's to take."""
    router.add_api_route(
        path,
        call,
        methods=["GET"],
        response_class=EventSourceResponse,
        responses={
            200: {"model": data, "description": "Server-sent events; this is the data of each"},
            "default": _ERROR,
        },
        **route,
    )


@dataclass(frozen=True, slots=True)
class RunViewSources:
    """What views of runs need of the rest of this process.

    `live`: knows whose page is open. `opened_bots`: knows how the replicas of bots do.
    """

    store: Store
    auth: Auth
    live: LiveSessions
    opened_bots: OpenedBots
    public_url: str

    def run_view_context(self) -> RunViewContext:
        """Return what a view of a run needs, as it is now."""
        live, bots = self.live, self.opened_bots
        return RunViewContext(
            self.public_url,
            self.auth,
            live.presence.away,
            bots.states,
            live.down,
            has_moderation=bots.moderation is not None,
            is_damaged=self.store.is_damaged,
        )


@dataclass(frozen=True, slots=True)
class _WatchedRun:
    """The feed of a run, and the name of its study."""

    feed: Feed[AssignmentRow]
    study: str


class Watch:
    """Serves streams of changes: `GET /api/desk/watch/runs`, `GET /api/desk/watch/runs/{run}`."""

    def __init__(self, outlook: RunViewSources, news: News) -> None:
        self._outlook = outlook
        self._list = Feed(self._look_at_list)
        self._runs: dict[int, _WatchedRun] = {}
        news.subscribe(TOPIC, self._hear)
        news.subscribe("runs", lambda _payload: self._tell_all())
        allowed = [Depends(Allowed(outlook.auth, "see_runs"))]
        self.router = APIRouter(prefix="/api/desk/watch", tags=["runs"], dependencies=allowed)
        streamed(self.router, "/runs", self.watch_runs, RunListUpdate)
        streamed(self.router, "/runs/{run}", self._watch_run(), RunUpdate)

    async def drain(self, _seconds: float) -> None:
        """End every stream; whoever follows one comes back, to another process."""
        await gather(*(feed.close() for feed in self._feeds()))

    async def watch_runs(
        self, actor: Caller, last_event_id: LastSeen = None
    ) -> AsyncIterator[ServerSentEvent]:
        """Stream the runs that the caller may see: all of them, then changes, as server-sent events.

        Send the id of the last event as `Last-Event-ID` to go on from there.
        """
        async for change in self._list.follow(last_event_id, actor.standing):
            runs = [run for run in change.rows.values() if actor.may("see_runs", run.study)]
            if runs or change.whole:
                yield _event(change, RunListUpdate(whole=change.whole, runs=runs))

    def _watch_run(self) -> Callable[..., AsyncIterator[ServerSentEvent]]:
        # A run that is not there must be refused before the stream begins: by a dependency.
        async def watch_run(
            watched: Annotated[_WatchedRun, Depends(self._watched)],
            actor: Caller,
            last_event_id: LastSeen = None,
        ) -> AsyncIterator[ServerSentEvent]:
            """One run: all of it, then what changes of it, as server-sent events.

            Of many workers those who need attention and the newest come first, the others in the events
            after it. Send the id of the last event that had one as `Last-Event-ID` to go on from there.
            """
            hidden = _hidden_from(actor, watched.study)
            async for change in watched.feed.follow(last_event_id, actor.standing):
                parts = {name: part for name, part in change.parts.items() if name not in hidden}
                first, *others = _portions(
                    _rows_for(hidden, change.rows.values()), parts.get("attention", [])
                )
                update = RunUpdate(whole=change.whole, workers=first, gone=list(change.gone), **parts)
                # Only the last portion has the change's name: who has seen that has seen all of it.
                yield _event(change, update, named=not others)
                for rows in others:
                    more = RunUpdate(whole=False, workers=rows, gone=[])
                    yield _event(change, more, named=rows is others[-1])

        return watch_run

    async def _watched(self, run: str) -> _WatchedRun:
        entry = await self._outlook.store.read(lambda connection: find_run(connection, run))
        if entry.id not in self._runs:
            feed = Feed(_RunLook(run, self._outlook))
            self._runs[entry.id] = _WatchedRun(feed, parse_study(entry.yaml).name)
        return self._runs[entry.id]

    async def _look_at_list(self) -> Sight[RunSummary]:
        url = self._outlook.public_url

        def read(connection: Connection) -> Sight[RunSummary]:
            return Sight({}, {run.run: run for run in run_summaries(connection, url, utc_now())})

        return await self._outlook.store.read(read)

    def _hear(self, payload: Payload) -> None:
        self._list.tell()
        watched = self._runs.get(payload["run"])
        if watched is not None:
            watched.feed.tell()

    def _feeds(self) -> list[Feed[Any]]:
        return [self._list, *(watched.feed for watched in self._runs.values())]

    def _tell_all(self) -> None:
        for feed in self._feeds():
            feed.tell()


class _RunLook:
    """Looks at one run, again and again."""

    def __init__(self, slug: str, outlook: RunViewSources) -> None:
        self._slug = slug
        self._outlook = outlook
        self._reader = RunReader()

    async def __call__(self) -> Sight[AssignmentRow]:
        """Return the run as it stands. Raises StorageFailed."""
        around = self._outlook.run_view_context()

        def read(connection: Connection) -> RunDetail:
            return self._reader.read(connection, find_run(connection, self._slug), around, utc_now())

        return _sight(await self._outlook.store.read(read))


def seen_by(actor: Actor, run: RunDetail) -> RunDetail:
    """Return what of a run `actor` may see: scores take the right to analyse, incidents that to read."""
    hidden = _hidden_from(actor, run.study)
    changes: dict[str, Any] = {"workers": _rows_for(hidden, run.workers)}
    if "analysis" in hidden:
        changes["analysis"] = None
    if "incidents" in hidden:
        changes["incidents"] = []
    return run.model_copy(update=changes)


def _hidden_from(actor: Actor, study: str) -> set[str]:
    """Return the parts of a run that `actor` may not see."""
    needed: dict[str, Permission] = {"analysis": "analyse", "incidents": "read_transcripts"}
    return {part for part, permission in needed.items() if not actor.may(permission, study)}


def _rows_for(hidden: set[str], rows: Iterable[AssignmentRow]) -> list[AssignmentRow]:
    return [row.model_copy(update={"p": None}) for row in rows] if "analysis" in hidden else list(rows)


def _sight(run: RunDetail) -> Sight[AssignmentRow]:
    summary = RunSummary(**{name: getattr(run, name) for name in RunSummary.model_fields})
    own = RunDetail.model_fields.keys() - RunSummary.model_fields.keys() - {"workers"}
    parts = {"run": summary} | {name: getattr(run, name) for name in own}
    return Sight(parts, {row.assignment: row for row in run.workers})


def _portions(rows: list[AssignmentRow], needing: Iterable[Attention]) -> list[list[AssignmentRow]]:
    """Return rows in portions: a small one of who needs attention and the newest, then the others."""
    if len(rows) <= _AT_FIRST:
        return [rows]
    urgent = {assignment for item in needing for assignment in item.assignments}
    in_order = [row for row in rows if row.assignment in urgent]
    in_order += [row for row in rows if row.assignment not in urgent]
    begins = [0, *range(_AT_FIRST, len(rows), _AT_ONCE)]
    ends = [*begins[1:], len(rows)]
    return [in_order[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _event(change: Change[Any], data: BaseModel, *, named: bool = True) -> ServerSentEvent:
    # What has not changed is left out.
    text = data.model_dump_json(exclude_unset=True)
    return ServerSentEvent(raw_data=text, id=change.name if named else None)
