"""Push the progress and results of reports, rehearsals and exports to the desk."""

from asyncio import gather
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import ServerSentEvent
from pydantic import BaseModel

from server.access.actor import Allowed, Caller
from server.access.parts import part
from server.db.jobs import JobEntry, JobKind
from server.db.runs.runs import find_run
from server.db.store import Store
from server.desk.streams.feed import Feed, Sight
from server.desk.streams.watch import LastSeen, streaming
from server.jobs.background import TOPIC, FileLinks
from server.jobs.exports import Exports
from server.jobs.rehearsals import Rehearsals
from server.jobs.reports import Reports
from server.jobs.responses import (
    ExportList,
    RehearsalList,
    ReportList,
    export_list,
    rehearsal_job,
    report_job,
)
from server.news import News

JobFeed = Feed[JobEntry]


class JobFeeds:
    """The feeds of this process for background jobs: one for each kind of job of each run."""

    def __init__(
        self, store: Store, reports: Reports, rehearsals: Rehearsals, exports: Exports, news: News
    ) -> None:
        self._store = store
        self._lists: dict[JobKind, Callable[[str], Awaitable[list[JobEntry]]]] = {
            "report": reports.of_run,
            "rehearsal": rehearsals.of_run,
            "export": exports.of_run,
        }
        self._feeds: dict[tuple[JobKind, str], JobFeed] = {}
        news.subscribe(TOPIC, lambda _payload: self._tell_all())

    async def drain(self, _seconds: float) -> None:
        """End every stream. Clients reconnect, to another process."""
        await gather(*(feed.close() for feed in self._feeds.values()))

    async def feed_of(self, kind: JobKind, run: str) -> JobFeed:
        """Return the feed of a run's jobs of one kind. Raises RunNotFound, StorageFailed."""
        await self._store.read(lambda connection: find_run(connection, run))
        return self._feeds.setdefault((kind, run), Feed(lambda: self._look(kind, run)))

    async def _look(self, kind: JobKind, run: str) -> Sight[JobEntry]:
        parts: dict[str, Any] = {"jobs": await self._lists[kind](run)}
        return Sight(parts, {})

    def _tell_all(self) -> None:
        for feed in self._feeds.values():
            feed.tell()


def _feed(kind: JobKind) -> Any:
    """Return the dependency on a run's feed, which refuses a missing run before the stream begins."""

    async def find(run: str, feeds: Annotated[JobFeeds, part(JobFeeds)]) -> JobFeed:
        return await feeds.feed_of(kind, run)

    return Depends(find)


router = APIRouter(prefix="/api/desk/watch/runs", tags=["jobs"])
Links = Annotated[FileLinks, part(FileLinks)]
_ANALYSE, _EXPORT = [Depends(Allowed("analyse"))], [Depends(Allowed("export"))]


@router.get("/{run}/reports", dependencies=_ANALYSE, **streaming(ReportList))
async def watch_reports(
    feed: Annotated[JobFeed, _feed("report")], actor: Caller, links: Links, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the reports of a run, newest first: all of them whenever one changes."""
    async for change in feed.follow(last_event_id, actor.standing):
        shown = ReportList(reports=[report_job(entry, links) for entry in change.parts["jobs"]])
        yield _event(change.name, shown)


@router.get("/{run}/rehearsals", dependencies=_ANALYSE, **streaming(RehearsalList))
async def watch_rehearsals(
    feed: Annotated[JobFeed, _feed("rehearsal")], actor: Caller, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the rehearsals of a run, newest first: all of them whenever one changes."""
    async for change in feed.follow(last_event_id, actor.standing):
        yield _event(change.name, RehearsalList(rehearsals=[rehearsal_job(e) for e in change.parts["jobs"]]))


@router.get("/{run}/exports", dependencies=_EXPORT, **streaming(ExportList))
async def watch_exports(
    feed: Annotated[JobFeed, _feed("export")], actor: Caller, links: Links, last_event_id: LastSeen = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the exports of a run, newest first: all of them whenever one changes."""
    async for change in feed.follow(last_event_id, actor.standing):
        yield _event(change.name, export_list(change.parts["jobs"], links))


def _event(name: str, data: BaseModel) -> ServerSentEvent:
    return ServerSentEvent(raw_data=data.model_dump_json(), id=name)
