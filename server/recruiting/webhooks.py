"""Receive the platform's events, and read the studies again that they are about.

The content of an event is not used otherwise. So the order of events does not matter, and a lost event is
made up for by `polling` and `listening`.
"""

import asyncio

import structlog
from fastapi import APIRouter, Request, Response
from limits import RateLimitItem
from sqlalchemy import Connection

from server.access.rate_limit import RateLimits
from server.clock import utc_now
from server.db.recruiting.recruitments import StoredRecruitment, open_recruitments, take_event
from server.db.recruiting.submissions import study_of_submission
from server.db.store.store import Store
from server.errors import EventRefused, NotConnected, PlatformFailed, PlatformUnsure, StorageFailed
from server.recruiters.prolific.hooks import ArrivedEvent, NotGenuine, genuine
from server.recruiting.studies import PlatformStudies

PATH = "/api/recruitment/prolific/events"
log = structlog.get_logger()


class Webhooks:
    """Endpoint for Prolific's events. It processes each event once, and reads its studies.

    Args:
        store: stores known events.
        studies: reads studies.
        limits: counts events per address.
        per_address: the limit per address.
        secret: the secret with which Prolific signs events; None refuses all events.
    """

    def __init__(
        self,
        *,
        store: Store,
        studies: PlatformStudies,
        limits: RateLimits,
        per_address: RateLimitItem,
        secret: str | None,
    ) -> None:
        self._store = store
        self._studies = studies
        self._limits = limits
        self._per_address = per_address
        self._secret = secret
        self._due: dict[int, StoredRecruitment] = {}
        self._reading: asyncio.Task[None] | None = None
        self.router = APIRouter()
        self.router.add_api_route(
            PATH, self.receive, methods=["POST"], status_code=204, include_in_schema=False
        )

    async def receive(self, request: Request) -> Response:
        """Accept an event, and answer before the study is read.

        Repeated events, and events of unknown studies, get the same answer, so that they are not sent again.
        """
        await self._limits.count_address(self._per_address, "events from this address", request)
        if self._secret is None:
            raise NotConnected(
                "this server does not accept events", "Start it with CANDOR_PROLIFIC_HOOK_SECRET, or poll."
            )
        try:
            event = genuine(self._secret, request.headers, await request.body(), utc_now())
        except NotGenuine as error:
            log.warning("event refused", reason=str(error))
            raise EventRefused(f"this event is refused: {error}") from error
        for found in await self._store.submit(lambda connection: _taken(connection, event)):
            self._due[found.id] = found
        if self._due and (self._reading is None or self._reading.done()):
            self._reading = asyncio.get_running_loop().create_task(self._read())
        return Response(status_code=204)

    async def close(self) -> None:
        """Stop reading studies. The next polling reads those that are due."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        """Read due studies one after the other. Several events of a waiting study cause one reading."""
        while self._due:
            _, found = self._due.popitem()
            try:
                await self._studies.refresh(found)
            except (NotConnected, PlatformFailed, PlatformUnsure) as error:
                log.warning("study was not read", study=found.study, reason=error.message)
            except StorageFailed:
                pass  # the store has logged it; polling reads the study again
            except Exception:  # a bug must not prevent reading the other studies
                log.exception("study was not read", study=found.study)


def _taken(connection: Connection, event: ArrivedEvent) -> list[StoredRecruitment]:
    """Note an event, and return the studies to read."""
    if not take_event(connection, event.id, event.signature, utc_now()):
        log.warning("event refused", reason="it has arrived before")
        return []
    found = studies_told_of(connection, event.study, event.submission)
    if not found:
        log.warning("event refused", reason="no run here has its study")
    return found


def studies_told_of(
    connection: Connection, study: str | None, submission: str | None
) -> list[StoredRecruitment]:
    """Return the studies to read after an event: all of them if its submission is not known yet."""
    study = study or (study_of_submission(connection, submission) if submission else None)
    return [one for one in open_recruitments(connection) if study in (None, one.study)]
