"""Learn of changes on platforms: keep subscriptions to their events, and read studies periodically."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

import structlog
from sqlalchemy import Connection

from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.jobs import Lease
from server.db.recruiting.bonuses import open_batches
from server.db.recruiting.recruitments import StoredRecruitment, new_lost, note_lost, open_recruitments
from server.db.store import Store
from server.errors import NotConnected, PlatformFailed, PlatformUnsure, StorageFailed
from server.periodic import PeriodicTask
from server.recruiters.pay_platform import LostEvent
from server.recruiting.bonuses import Bonuses, is_due
from server.recruiting.platform import Platform
from server.recruiting.studies import PlatformStudies
from server.recruiting.webhooks import PATH, studies_told_of

SECONDS = 300.0  # between checks
log = structlog.get_logger()


class Listening:
    """Checks at the start and then periodically which of the platform's events have not arrived.

    Events are lost while the server or its proxy is down. Only one of the serving processes checks.

    Args:
        store: stores known events.
        platform: gives access to the platforms, and tells in which workspaces missing subscriptions are
            created. Platforms without a secret that signs events are not checked.
        studies: reads studies.
        public_url: the public address of this server.
    """

    def __init__(self, store: Store, platform: Platform, studies: PlatformStudies, public_url: str) -> None:
        self._store = store
        self._platform = platform
        self._studies = studies
        self._public_url = public_url
        self._kinds = platform.listened_to
        self._lease = Lease(store, "listening")
        self._task = PeriodicTask(self._look_or_say_why, SECONDS, "events were not looked for")

    def start(self) -> None:
        """Start the checks, if the server accepts events."""
        if self._kinds:
            self._task.start()

    async def close(self) -> None:
        """Stop the checks, and cancel a running one."""
        await self._task.cancel()
        if self._kinds:
            with suppress(StorageFailed):
                await self._lease.release()

    async def _look_or_say_why(self) -> None:
        try:
            await self.look()
        except (PlatformFailed, PlatformUnsure) as error:
            log.warning("events were not looked for", reason=error.message)

    async def look(self) -> None:
        """Create missing subscriptions, and read the studies of events that did not arrive.

        It does nothing while another process checks, or less than SECONDS after a check. An event counts as
        processed once its studies were read; otherwise it is processed again in the next check.

        Raises:
            PlatformFailed, PlatformUnsure: the platform did not answer as expected.
            StorageFailed: the database could not be read or written.
        """
        await self._lease.work_alone(self._take_up, SECONDS)

    async def _take_up(self) -> None:
        lost = {kind: await self._lost(kind) for kind in self._kinds}
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
        listed = {event.id for events in lost.values() for event in events}
        await self._store.submit(lambda connection: note_lost(connection, taken, listed, utc_now()))

    async def _lost(self, kind: str) -> list[LostEvent]:
        """Create missing subscriptions at a platform, and return its events that did not arrive."""
        target, workspace = target_of(self._public_url, kind), self._platform.workspace(kind)
        async with self._platform.asked(kind) as client:
            if (hooks := client.hooks) is None:
                return []
            if workspace is not None and await hooks.subscribe_to_missing(workspace, target):
                log.warning("subscribed to events anew", workspace=workspace)
            return await hooks.lost_events(target)


def target_of(public_url: str, kind: str) -> str:
    """Return the address to which a platform sends its events."""
    return f"{public_url}{PATH.format(kind=kind)}"


async def subscribe(
    store: Store, platform: Platform, kind: str, public_url: str, workspace: str, actor: Doer
) -> str:
    """Subscribe to a platform's events and confirm the subscription; return the secret that signs them.

    The workspace's secret is kept if the server knows it; a new one replaces any earlier one.

    Args:
        store: the database with the audit log.
        platform: gives access to the platforms.
        kind: the platform.
        public_url: the public address of this server.
        workspace: the workspace there.
        actor: the caller.

    Raises:
        NotConnected, PlatformFailed, PlatformUnsure: as in `Platform.asked`. It is safe to repeat the call.
    """
    secret = platform.hook_secret(kind)
    async with platform.asked(kind) as client:
        if (hooks := client.hooks) is None:
            raise NotConnected("This platform sends no events")
        if secret is None:
            secret = (await hooks.new_secret(workspace)).value
        await hooks.subscribe_to_missing(workspace, target_of(public_url, kind))
    await store.submit(lambda connection: record(connection, actor, "recruitment.listen", workspace))
    return secret


def _due(
    connection: Connection, lost: Mapping[str, Sequence[LostEvent]]
) -> dict[str, list[StoredRecruitment]]:
    """Return the unprocessed events that did not arrive, each with the studies to read."""
    due: dict[str, list[StoredRecruitment]] = {}
    fresh = new_lost(connection, {event.id for events in lost.values() for event in events})
    for kind, events in lost.items():
        for event in events:
            if event.id in fresh:
                due[event.id] = studies_told_of(connection, kind, event.study, event.submission)
    return due


POLLING_SECONDS = 20.0  # between readings; a lease lasts longer


class Polling:
    """Reads all published studies and open bonuses periodically, in one of the serving processes."""

    def __init__(self, store: Store, platform: Platform, studies: PlatformStudies) -> None:
        self._store = store
        self._platform = platform
        self._studies = studies
        self._bonuses = Bonuses(store, platform)
        self._looked: dict[int, datetime] = {}
        self._lease = Lease(store, "recruitment")
        self._task = PeriodicTask(self.look, POLLING_SECONDS, "studies were not read")

    def start(self) -> None:
        """Start polling, if the server has access to the platform."""
        if self._platform.connected:
            self._task.start()

    async def close(self) -> None:
        """Stop polling, so that another process can poll. A running reading is cancelled and not stored."""
        await self._task.cancel()
        with suppress(StorageFailed):
            await self._lease.release()

    async def look(self) -> None:
        """Read all published studies unless another process does; pause those whose run is not open.

        Raises:
            StorageFailed.
            ExceptionGroup: bugs; each prevented the reading of one study only.
        """
        await self._lease.work_alone(self._read)

    async def _read(self) -> None:
        faults = []
        for found in await self._store.read(open_recruitments):
            try:
                await self._studies.refresh(found)
                await self._studies.pause_unless_open(found)
            except (NotConnected, PlatformFailed, PlatformUnsure) as error:
                log.warning("study was not read", study=found.study, reason=error.message)
            except StorageFailed:
                raise
            except Exception as fault:  # the other studies must still be read
                faults.append(fault)
        await self._look_at_bonuses()
        if faults:
            raise ExceptionGroup("studies were not read", faults)

    async def _look_at_bonuses(self) -> None:
        """Check the open bonuses of all studies, including closed ones, less often the older they are."""
        now = utc_now()
        open_ = await self._store.read(open_batches)
        self._looked = {batch.id: at for batch in open_ if (at := self._looked.get(batch.id)) is not None}
        for batch in open_:
            if is_due(batch, self._looked.get(batch.id), now):
                self._looked[batch.id] = now
                try:
                    await self._bonuses.reconcile([batch])
                except (NotConnected, PlatformFailed, PlatformUnsure) as error:
                    log.warning("bonuses were not looked at", batch=batch.id, reason=error.message)
