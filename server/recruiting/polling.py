"""Reads studies on platforms again and again, so that what happens there is known here."""

from contextlib import suppress

import structlog

from server.db.recruitments import open_recruitments
from server.db.store import Store
from server.errors import PlatformFailed, PlatformUnsure, StorageFailed
from server.lease import Lease
from server.periodic import PeriodicTask
from server.recruiting.platform import Platform
from server.recruiting.studies import PlatformStudies

SECONDS = 20.0  # between two looks; a lease lasts longer
log = structlog.get_logger()


class Polling:
    """Reads every published study, in one process of those that serve."""

    def __init__(self, store: Store, platform: Platform, studies: PlatformStudies) -> None:
        self._store = store
        self._platform = platform
        self._studies = studies
        self._lease = Lease(store, "recruitment")
        self._task = PeriodicTask(self.look, SECONDS, "studies were not read")

    def start(self) -> None:
        """Begin to look, if the server has access to the platform."""
        if self._platform.connected:
            self._task.start()

    async def close(self) -> None:
        """Look no more, so that another process does; what is under way is given up, and not stored."""
        await self._task.cancel()
        with suppress(StorageFailed):
            await self._lease.release()

    async def look(self) -> None:
        """Read every published study, unless another process does; pause those whose run takes nobody.

        Raises:
            StorageFailed.
            ExceptionGroup: faults of ours; each has kept its own study from being read, and no other.
        """
        await self._lease.work_alone(self._read)

    async def _read(self) -> None:
        faults = []
        for found in await self._store.read(open_recruitments):
            try:
                await self._studies.refresh(found)
                await self._studies.pause_unless_open(found)
            except (PlatformFailed, PlatformUnsure) as error:
                log.warning("study was not read", study=found.study, reason=error.message)
            except StorageFailed:
                raise
            except Exception as fault:  # the others' people wait for their pay
                faults.append(fault)
        if faults:
            raise ExceptionGroup("studies were not read", faults)
