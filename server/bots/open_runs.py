"""The runs that this process can let workers into, and that grow in number while it serves."""

from collections.abc import Callable, Collection, Iterator, Mapping

import structlog

from server.bots.lineup import OpenRun, open_lineup
from server.bots.opened_bots import OpenedBots
from server.db.runs.runs import RunEntry
from server.errors import CandorError

log = structlog.get_logger()
Prepare = Callable[[OpenRun], OpenRun]


class OpenRuns(Mapping[int, OpenRun]):
    """Runs with their bots opened, by id. A run that is closed stays: who is under way goes on.

    Args:
        runs: those that are opened already.
        prepare: what is done to each run before a worker gets in.
    """

    def __init__(self, runs: Mapping[int, OpenRun], prepare: Prepare = lambda run: run) -> None:
        self._prepare = prepare
        self._runs = {key: prepare(run) for key, run in runs.items()}
        self._refused: dict[int, str] = {}

    def __getitem__(self, key: int) -> OpenRun:
        return self._runs[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def open_new(self, entries: Collection[RunEntry], opened_bots: OpenedBots) -> None:
        """Open the runs among `entries` that this process does not have, save those that are closed.

        One that cannot be opened is logged once.
        """
        for entry in entries:
            if entry.id not in self._runs and entry.status != "closed":
                self._open(entry, opened_bots)

    def refusal(self, run: int) -> str | None:
        """Return why a run cannot be opened here; None where nothing is known to be in its way."""
        return self._refused.get(run)

    def _open(self, entry: RunEntry, opened_bots: OpenedBots) -> None:
        try:
            self._runs[entry.id] = self._prepare(open_lineup(entry, opened_bots))
        except CandorError as error:
            if self._refused.get(entry.id) != error.message:
                log.error("run is not served", run=entry.slug, reason=error.message, hint=error.hint)
            self._refused[entry.id] = error.message
        else:
            self._refused.pop(entry.id, None)
            log.info("run is served", run=entry.slug)
