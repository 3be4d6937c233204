"""Open runs: check their bots and store them, then keep them open in each process."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy import Connection

from bots.serving import Moderation
from server.bots import fitness
from server.bots.fitness import Fitness
from server.bots.lineup import OpenRun, open_lineup, require_known_bots
from server.bots.opened_bots import OpenedBots
from server.bots.planned_calls import Confirmation, of_run
from server.bots.registered_bots import ApiLimits, RegisteredBots
from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.runs import run_states, runs
from server.db.runs.run_rules import encrypted_workers, set_rules
from server.db.runs.run_states import RunChange
from server.db.runs.runs import RunEntry, all_runs, revisions
from server.db.store import Store
from server.errors import CandorError, RunExists, StudyInvalid
from server.items import items_of
from server.news import News
from server.periodic import PeriodicTask
from server.recruiters.arrival import IdCipher
from server.run_rules import RunRules, outline
from server.study import Study, in_thread, parse_study


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to open, with its name and the text of its study.

    `confirmation`: whether the caller accepts that it may cost money.
    """

    slug: str
    text: str
    rules: RunRules
    confirmation: Confirmation
    despite_failing_bots: bool = False


class RunChanges:
    """Opens and changes runs. Every process applies the changes within a second.

    Args:
        store: the database.
        news: announces changes to other processes, so that they apply them sooner.
        refuse_private: allow bots at public addresses only.
        reach: limits the keys of a study's own bots, and the corpora it may use.
        moderation: a service that moderates bots' replies in checks and messages of runs, if there is one.
        ids: encrypts the ids of excluded workers.
    """

    def __init__(
        self,
        store: Store,
        news: News,
        *,
        refuse_private: bool,
        reach: ApiLimits,
        moderation: Moderation | None,
        ids: IdCipher,
    ) -> None:
        self._store = store
        self._news = news
        self._moderation = moderation
        self._ids = ids
        self._refuse_private = refuse_private
        self._reach = reach

    async def open(self, new: NewRun, actor: Doer) -> RunEntry:
        """Check the bots of a study, open a run of it, and return the run.

        The check takes as long as a few conversations with the study's own bots.

        Raises:
            RunExists: there is a run of this name.
            StudyInvalid: the study has mistakes, its corpus may not be read, or a bot cannot be opened.
            BotUnusable: the key of one of its bots may not be sent to its address.
            BotNotFound: a bot is no longer registered.
            BotsUnfit: bots failed their check.
            NoModeration: the study needs a moderation service, and there is none.
            NeedsConfirmation: it may cost money, and that is not confirmed.
        """
        runs.require_slug(new.slug)
        study = await in_thread(lambda: parse_study(new.text))
        _require_no_file(study)
        await self._store.read(lambda connection: _require_new(connection, new.slug))
        self._reach.require_keys(study)
        self._reach.require_corpora(study)
        fitness.require_moderation(study, self._moderation)
        opened_bots = OpenedBots(refuse_private=self._refuse_private)
        try:
            entry = RunEntry(0, new.slug, 0, "open", utc_now(), new.text)
            read = await self._store.read(lambda connection: _lined_up(connection, opened_bots, entry))
            calls = await self._store.read(
                lambda c: of_run(c, study, new.rules, self._moderation, checked=not new.despite_failing_bots)
            )
            new.confirmation.require(f"The run “{new.slug}”", calls)
            if not new.despite_failing_bots:
                own = await fitness.own_fitness(read.opened, read.registered, _unseen, self._moderation)
                fitness.require_fit([*read.registered, *own])
        finally:
            await opened_bots.close()
        excluded = await self._excluded_workers(new.rules)
        return await self._changed(
            actor,
            "run.open",
            lambda connection: _store(connection, new, utc_now(), excluded),
            outline(new.rules),
        )

    async def change(self, slug: str, change: RunChange, reason: str, actor: Doer) -> RunEntry:
        """Pause, resume or close a run. Raises RunNotFound, RunRefused."""
        return await self._changed(
            actor, f"run.{change}", lambda c: run_states.change_run(c, slug, change, reason), reason
        )

    async def set_rules(self, slug: str, rules: RunRules, actor: Doer) -> RunEntry:
        """Replace the rules of a run.

        Raises RunNotFound if it, or a run that they exclude, does not exist.
        """
        excluded = await self._excluded_workers(rules)
        return await self._changed(
            actor, "run.rules", lambda c: set_rules(c, slug, rules, excluded), outline(rules)
        )

    async def replicate(
        self, slug: str, name: str | None, actor: Doer, confirmation: Confirmation, *, same_workers: bool
    ) -> RunEntry:
        """Open another run of a run's study, without rules.

        Raises RunNotFound, RunExists, StudyInvalid, NoModeration, or NeedsConfirmation if it may cost money
        and that is not confirmed.
        """
        first = await self._store.read(lambda connection: runs.find_run(connection, slug))
        study = parse_study(first.yaml)
        fitness.require_moderation(study, self._moderation)
        calls = await self._store.read(
            lambda c: of_run(c, study, RunRules(), self._moderation, checked=False)
        )
        confirmation.require(f"A replication of the run “{slug}”", calls)
        at = utc_now()
        return await self._changed(
            actor,
            "run.open",
            lambda c: run_states.replicate_run(c, slug, at, name, same_workers=same_workers),
            f"a replication of {slug}",
        )

    async def _excluded_workers(self, rules: RunRules) -> list[str]:
        return await asyncio.to_thread(encrypted_workers, rules, self._ids)

    async def _changed(
        self, actor: Doer, action: str, change: Callable[[Connection], RunEntry], detail: str = ""
    ) -> RunEntry:
        def logged(connection: Connection) -> RunEntry:
            entry = change(connection)
            record(connection, actor, action, entry.slug, detail)
            return entry

        changed = await self._store.submit(logged)
        self._news.publish("runs", {})
        return changed


@dataclass(frozen=True, slots=True)
class _LinedUp:
    """A run with its bots opened, and the check results of its registered bots."""

    opened: OpenRun
    registered: list[Fitness]


def _lined_up(connection: Connection, opened_bots: OpenedBots, entry: RunEntry) -> _LinedUp:
    opened_bots.load(connection)
    require_known_bots(entry.yaml, parse_study(entry.yaml), opened_bots.names(), "study")
    opened = open_lineup(entry, opened_bots)
    return _LinedUp(
        opened, fitness.registered_fitness(connection, opened.study, opened.study.registered_bots)
    )


def _require_new(connection: Connection, slug: str) -> None:
    """Check that there is no run of this name. Raises RunExists."""
    if runs.has_run(connection, slug):
        raise RunExists(f"A run named “{slug}” exists already")


def _require_no_file(study: Study) -> None:
    """Check that neither the items of a study nor their probabilities are in a file. Raises StudyInvalid."""
    if study.items is None:
        return
    if study.items.file is not None or study.items.probabilities is not None:
        what = "items" if study.items.file is not None else "probabilities of the items"
        raise StudyInvalid(
            f"The study's {what} are in a file, which the server cannot read",
            "Open the run with “candor run open” where the file is, or rate the conversations of a run.",
        )


def _store(connection: Connection, new: NewRun, at: datetime, excluded_workers: Collection[str]) -> RunEntry:
    """Store the run. Raises RunExists, or RunNotFound for a run that the rules exclude."""
    _require_new(connection, new.slug)
    runs.open_run(connection, new.text, new.slug, at, items_of(parse_study(new.text), connection))
    return set_rules(connection, new.slug, new.rules, excluded_workers)


def _unseen(_bot: str, _done: int, _total: int) -> None:
    """Ignore the progress of a check."""


log = structlog.get_logger()
Prepare = Callable[[OpenRun], OpenRun]


class OpenRuns(Mapping[int, OpenRun]):
    """Runs with their bots opened, by id. A closed run stays, so that active workers can finish.

    Args:
        runs: the runs that are open already.
        prepare: prepares each run before workers are admitted.
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
        """Open the runs among `entries` that are not closed and not open here yet.

        A run that cannot be opened is logged once.
        """
        for entry in entries:
            if entry.id not in self._runs and entry.status != "closed":
                self._open(entry, opened_bots)

    def refusal(self, run: int) -> str | None:
        """Return why a run cannot be opened here; None if no problem is known."""
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


SECONDS = 0.5  # between queries of the database


class StoredChanges:
    """Applies changes of bots and runs in the database to this process.

    Args:
        store: the database.
        runs: the runs of this process.
        bots: the registered bots of this process.
        opened_bots: opens the bots of new runs.
        news: announces changes, so that they are applied sooner.
    """

    def __init__(
        self, store: Store, runs: OpenRuns, bots: RegisteredBots, opened_bots: OpenedBots, news: News
    ) -> None:
        self._store = store
        self._runs = runs
        self._bots = bots
        self._opened_bots = opened_bots
        self._seen: Mapping[str, int] = {}
        self._looking = asyncio.Lock()
        self._task = PeriodicTask(self.look, SECONDS, "changes were not taken up")
        for topic in ("bots", "runs"):
            news.subscribe(topic, lambda _payload: self._task.wake())

    def start(self) -> None:
        """Start querying periodically."""
        self._task.start()

    async def close(self) -> None:
        """Stop querying. A running query is completed, so that the store can be stopped afterwards."""
        await self._task.stop()

    async def look(self) -> None:
        """Apply the changes since the last query. Raises StorageFailed."""
        async with self._looking:
            now, entries = await self._store.read(_stored)
            if now == self._seen:
                return
            if now.get("bots") != self._seen.get("bots"):
                await self._bots.take_up_changes()
            # Also if only bots have changed: a run may have been waiting for one of them.
            self._runs.open_new(entries, self._opened_bots)
            self._seen = now


def _stored(connection: Connection) -> tuple[Mapping[str, int], list[RunEntry]]:
    return revisions(connection), all_runs(connection)
