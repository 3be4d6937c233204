"""Receive the platform's events, and read the studies again that they are about.

The content of an event is not used otherwise. So the order of events does not matter, and a lost event is
made up for by `polling` and `listening`.
"""

import asyncio
from typing import Annotated

import structlog
from fastapi import APIRouter, Request, Response
from limits import parse
from sqlalchemy import Connection

from server.access.parts import Configured, Limits, part
from server.clock import utc_now
from server.db.recruiting.recruitments import StoredRecruitment, open_recruitments, take_event
from server.db.recruiting.submissions import study_of_submission
from server.db.store import Store
from server.errors import EventRefused, NotConnected, PlatformFailed, PlatformUnsure, StorageFailed
from server.recruiters.recruiter import PAYING
from server.recruiters.signatures import ArrivedEvent, NotGenuine
from server.recruiting.platform import Platform, hook_secret_variable
from server.recruiting.studies import PlatformStudies

PATH = "/api/recruitment/{kind}/events"
log = structlog.get_logger()


class Webhooks:
    """Processes each event of a platform once, and reads its studies. `store`: stores known events."""

    def __init__(self, store: Store, studies: PlatformStudies) -> None:
        self._store = store
        self._studies = studies
        self._due: dict[int, StoredRecruitment] = {}
        self._reading: asyncio.Task[None] | None = None

    async def take(self, kind: str, event: ArrivedEvent) -> None:
        """Store an event, and begin to read its studies unless the event is known or of unknown studies."""
        for found in await self._store.submit(lambda connection: _taken(connection, kind, event)):
            self._due[found.id] = found
        if self._due and (self._reading is None or self._reading.done()):
            self._reading = asyncio.get_running_loop().create_task(self._read())

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


router = APIRouter(include_in_schema=False)


@router.post(PATH, status_code=204)
async def receive(
    kind: str,
    request: Request,
    limits: Limits,
    settings: Configured,
    platform: Annotated[Platform, part(Platform)],
    webhooks: Annotated[Webhooks, part(Webhooks)],
) -> Response:
    """Accept an event of a platform, named by its kind, and answer before the study is read.

    Repeated events, and events of unknown studies, get the same answer, so that they are not sent again.
    """
    await limits.count_address(parse(settings.attempts_per_address), "events from this address", request)
    secret = platform.hook_secret(kind)
    if secret is None or kind not in PAYING:
        hint = f"Start it with {hook_secret_variable(kind)}, or poll." if kind in PAYING else "Poll."
        raise NotConnected("This server does not accept events of this platform", hint)
    try:
        event = PAYING[kind].event(secret, request.headers, await request.body(), utc_now())
    except NotGenuine as error:
        log.warning("event refused", reason=str(error))
        raise EventRefused(f"This event is refused: {error}") from error
    await webhooks.take(kind, event)
    return Response(status_code=204)


def _taken(connection: Connection, kind: str, event: ArrivedEvent) -> list[StoredRecruitment]:
    """Note an event, and return the studies to read."""
    if not take_event(connection, event.id, event.signature, utc_now()):
        log.warning("event refused", reason="it has arrived before")
        return []
    found = studies_told_of(connection, kind, event.study, event.submission)
    if not found:
        log.warning("event refused", reason="no run here has its study")
    return found


def studies_told_of(
    connection: Connection, kind: str, study: str | None, submission: str | None
) -> list[StoredRecruitment]:
    """Return a platform's studies to read after an event: all of them if its submission is not known yet."""
    study = study or (study_of_submission(connection, submission) if submission else None)
    found = (one for one in open_recruitments(connection) if one.platform == kind)
    return [one for one in found if study in (None, one.study)]
