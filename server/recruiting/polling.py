"""Read studies from the platform periodically, to notice changes there."""

from contextlib import suppress
from datetime import datetime

import structlog

from server.clock import utc_now
from server.db.recruiting.bonuses import open_batches
from server.db.recruiting.recruitments import open_recruitments
from server.db.store.store import Store
from server.errors import NotConnected, PlatformFailed, PlatformUnsure, StorageFailed
from server.lease import Lease
from server.periodic import PeriodicTask
from server.recruiting.bonuses import Bonuses, is_due
from server.recruiting.platform import Platform
from server.recruiting.studies import PlatformStudies

POLLING_SECONDS = 20.0  # between readings; a lease lasts longer
log = structlog.get_logger()


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
