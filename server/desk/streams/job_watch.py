"""Push the progress and results of reports, rehearsals and exports to the desk."""

from asyncio import gather
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.sse import ServerSentEvent
from pydantic import BaseModel

from server.access.actor import Allowed, Caller
from server.db.jobs import JobEntry, JobKind
from server.db.runs.runs import find_run
from server.db.store.store import Store
from server.desk.streams.feed import Feed, Sight
from server.desk.streams.watch import LastSeen, streamed
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

_Feed = Feed[JobEntry]


class JobWatch:
    """Endpoints `GET /api/desk/watch/runs/{run}/reports`, `…/rehearsals` and `…/exports`."""

    def __init__(
        self,
        *,
        store: Store,
        reports: Reports,
        rehearsals: Rehearsals,
        exports: Exports,
        links: FileLinks,
        news: News,
    ) -> None:
        self._store = store
        self._lists: dict[JobKind, Callable[[str], Awaitable[list[JobEntry]]]] = {
            "report": reports.of_run,
            "rehearsal": rehearsals.of_run,
            "export": exports.of_run,
        }
        self._links = links
        self._feeds: dict[tuple[JobKind, str], _Feed] = {}
        news.subscribe(TOPIC, lambda _payload: self._tell_all())
        self.router = APIRouter(prefix="/api/desk/watch/runs", tags=["jobs"])
        analyse, export = ([Depends(Allowed(needed))] for needed in ("analyse", "export"))
        reports_of, exports_of = self._watch("report", self._reports), self._watch("export", self._exports)
        streamed(self.router, "/{run}/reports", reports_of, ReportList, dependencies=analyse)
        rehearsals_of = self._watch("rehearsal", _rehearsals)
        streamed(self.router, "/{run}/rehearsals", rehearsals_of, RehearsalList, dependencies=analyse)
        streamed(self.router, "/{run}/exports", exports_of, ExportList, dependencies=export)

    async def drain(self, _seconds: float) -> None:
        """End every stream. Clients reconnect, to another process."""
        await gather(*(feed.close() for feed in self._feeds.values()))

    def _watch(
        self, kind: JobKind, shown: Callable[[list[JobEntry]], BaseModel]
    ) -> Callable[..., AsyncIterator[ServerSentEvent]]:
        async def feed_of(run: str) -> _Feed:
            # A dependency refuses a missing run before the stream begins.
            await self._store.read(lambda connection: find_run(connection, run))
            return self._feeds.setdefault((kind, run), Feed(lambda: self._look(kind, run)))

        async def follow(
            feed: Annotated[_Feed, Depends(feed_of)], actor: Caller, last_event_id: LastSeen = None
        ) -> AsyncIterator[ServerSentEvent]:
            async for change in feed.follow(last_event_id, actor.standing):
                data = shown(change.parts["jobs"])
                yield ServerSentEvent(raw_data=data.model_dump_json(), id=change.name)

        follow.__name__ = f"watch_{kind}s"
        follow.__doc__ = f"Stream the {kind}s of a run, newest first: all of them whenever one changes."
        return follow

    async def _look(self, kind: JobKind, run: str) -> Sight[JobEntry]:
        parts: dict[str, Any] = {"jobs": await self._lists[kind](run)}
        return Sight(parts, {})

    def _reports(self, entries: list[JobEntry]) -> ReportList:
        return ReportList(reports=[report_job(entry, self._links) for entry in entries])

    def _exports(self, entries: list[JobEntry]) -> ExportList:
        return export_list(entries, self._links)

    def _tell_all(self) -> None:
        for feed in self._feeds.values():
            feed.tell()


def _rehearsals(entries: list[JobEntry]) -> RehearsalList:
    return RehearsalList(rehearsals=[rehearsal_job(entry) for entry in entries])
