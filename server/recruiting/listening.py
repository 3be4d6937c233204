"""Keeps the subscriptions to the platform's events, and takes up the events that did not arrive."""

from contextlib import suppress

import structlog
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.recruiting.platform_events import new_lost, note_lost
from server.db.recruiting.recruitments import StoredRecruitment
from server.db.store.store import Store
from server.errors import PlatformFailed, PlatformUnsure, StorageFailed
from server.lease import Lease
from server.periodic import PeriodicTask
from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.hooks import FAILED, STUDIES, SUBMISSIONS, SentEvent
from server.recruiting.platform import Platform
from server.recruiting.studies import PlatformStudies
from server.recruiting.webhooks import PATH, studies_told_of

SECONDS = 300.0  # between two looks
log = structlog.get_logger()


class Listening:
    """Looks, as the server begins and then again and again, which events have not arrived.

    Events are lost while the server, or what stands before it, is down. In one process of those that serve.

    Args:
        store: where it is kept which events there were.
        platform: Prolific.
        studies: reads studies.
        public_url: how the outside reaches this server.
        workspace: the workspace there, in which a subscription that is missing is made anew; None: in none.
        secret: what the events are signed with; None: none are taken, and nothing is looked for.
    """

    def __init__(
        self,
        *,
        store: Store,
        platform: Platform,
        studies: PlatformStudies,
        public_url: str,
        workspace: str | None,
        secret: str | None,
    ) -> None:
        self._store = store
        self._platform = platform
        self._studies = studies
        self._target = f"{public_url}{PATH}"
        self._workspace = workspace
        self._is_on = secret is not None and platform.connected
        self._lease = Lease(store, "listening")
        self._task = PeriodicTask(self._look_or_say_why, SECONDS, "events were not looked for")

    def start(self) -> None:
        """Begin to look, if the server takes events."""
        if self._is_on:
            self._task.start()

    async def close(self) -> None:
        """Look no more; what is under way is given up."""
        await self._task.cancel()
        if self._is_on:
            with suppress(StorageFailed):
                await self._lease.release()

    async def _look_or_say_why(self) -> None:
        try:
            await self.look()
        except (PlatformFailed, PlatformUnsure) as error:
            log.warning("events were not looked for", reason=error.message)

    async def look(self) -> None:
        """Subscribe to what is missing, and read the studies of events that did not arrive.

        Nothing is done while another process does it, or has less than SECONDS ago. An event is taken up once
        its studies were read: of those that could not be, it is looked at again.

        Raises:
            PlatformFailed, PlatformUnsure: the platform was asked, and did not answer as it should.
            StorageFailed: the database could not be asked, or not write.
        """
        await self._lease.work_alone(self._take_up, SECONDS)

    async def _take_up(self) -> None:
        async with self._platform.asked() as client:
            if self._workspace is not None and await subscribe_to_missing(
                client, self._workspace, self._target
            ):
                log.warning("subscribed to events anew", workspace=self._workspace)
            ours = [one for one in await client.hooks.subscriptions() if one.target_url == self._target]
            lost = [event for one in ours async for event in client.hooks.events(one.id, FAILED)]
        due = await self._store.read(lambda connection: _due(connection, lost))
        unread = set[int]()
        for found in {one.id: one for studies in due.values() for one in studies}.values():
            log.info("an event did not arrive", study=found.study)
            try:
                await self._studies.refresh(found)
            except (PlatformFailed, PlatformUnsure) as error:
                log.warning("study was not read", study=found.study, reason=error.message)
                unread.add(found.id)
        taken = [event for event, studies in due.items() if unread.isdisjoint(one.id for one in studies)]
        listed = {event.id for event in lost}
        await self._store.submit(lambda connection: note_lost(connection, taken, listed, utc_now()))


async def subscribe(
    store: Store, platform: Platform, public_url: str, workspace: str, secret: str | None, actor: Doer
) -> str:
    """Have Prolific send its events here, and confirm that this is wanted; return what it signs them with.

    Args:
        store: where the audit log is.
        platform: Prolific.
        public_url: how the outside reaches this server.
        workspace: the workspace there.
        secret: what the workspace signs with already; None: it gets a new secret, and any earlier is void.
        actor: who wants it.

    Raises:
        NotConnected, PlatformFailed, PlatformUnsure: as of `Platform.asked`. Doing it again is safe.
    """
    async with platform.asked() as client:
        if secret is None:
            secret = (await client.hooks.new_secret(workspace)).value
        await subscribe_to_missing(client, workspace, f"{public_url}{PATH}")
    await store.submit(lambda connection: record(connection, actor, "recruitment.listen", workspace))
    return secret


async def subscribe_to_missing(client: ProlificClient, workspace: str, target: str) -> bool:
    """Have those events sent to `target` that are not yet; return whether any was missing."""
    ours = [one for one in await client.hooks.subscriptions(workspace) if one.target_url == target]
    missing = False
    for event_type in (STUDIES, SUBMISSIONS):
        before = [one for one in ours if one.event_type == event_type]
        if any(one.is_enabled for one in before):
            continue
        for one in before:  # was never confirmed: what confirms it was in an answer that is gone
            await client.hooks.unsubscribe(one.id)
        await client.hooks.subscribe(workspace, event_type, target)
        missing = True
    return missing


def _due(connection: Connection, lost: list[SentEvent]) -> dict[str, list[StoredRecruitment]]:
    """Return the events that did not arrive and were not taken up yet, each with the studies to read."""
    due: dict[str, list[StoredRecruitment]] = {}
    fresh = new_lost(connection, {event.id for event in lost})
    for event in lost:
        if event.id in fresh:
            is_study = event.event_type.startswith("study.")
            study, submission = (event.resource_id, None) if is_study else (None, event.resource_id)
            due[event.id] = studies_told_of(connection, study, submission)
    return due
