"""Open and change runs on a running server. New runs get their bots checked, as in `candor run open`."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from bots import Moderation
from server.bots import fitness
from server.bots.fitness import Fitness
from server.bots.lineup import OpenRun, open_lineup, require_known_bots
from server.bots.opened_bots import OpenedBots
from server.bots.planned_calls import Confirmation, of_run
from server.bots.registered_bots import ApiLimits
from server.clock import utc_now
from server.db.audit import Doer, record
from server.db.runs import run_states, runs
from server.db.runs.run_rules import encrypted_workers, set_rules
from server.db.runs.run_states import RunChange
from server.db.runs.runs import RunEntry
from server.db.store.store import Store
from server.errors import RunExists, StudyInvalid
from server.items.pool import items_of
from server.news import News
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
            new.confirmation.require(f"The run `{new.slug}`", calls)
            if not new.despite_failing_bots:
                own = await fitness.own_fitness(read.lineup, read.registered, _unseen, self._moderation)
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
        confirmation.require(f"A replication of the run `{slug}`", calls)
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

    lineup: OpenRun
    registered: list[Fitness]


def _lined_up(connection: Connection, opened_bots: OpenedBots, entry: RunEntry) -> _LinedUp:
    opened_bots.load(connection)
    require_known_bots(entry.yaml, parse_study(entry.yaml), opened_bots.names(), "study")
    lineup = open_lineup(entry, opened_bots)
    return _LinedUp(
        lineup, fitness.registered_fitness(connection, lineup.study, lineup.study.registered_bots)
    )


def _require_new(connection: Connection, slug: str) -> None:
    """Check that there is no run of this name. Raises RunExists."""
    if runs.has_run(connection, slug):
        raise RunExists(f"there is a run named `{slug}` already")


def _require_no_file(study: Study) -> None:
    """Check that the items of a study are not in a file. Raises StudyInvalid."""
    if study.items is not None and study.items.file is not None:
        raise StudyInvalid(
            "the study's items are in a file, which the server cannot read",
            "Open the run with `candor run open` where the file is, or rate the conversations of a run.",
        )


def _store(connection: Connection, new: NewRun, at: datetime, excluded_workers: Collection[str]) -> RunEntry:
    """Store the run. Raises RunExists, or RunNotFound for a run that the rules exclude."""
    _require_new(connection, new.slug)
    runs.open_run(connection, new.text, new.slug, at, items_of(parse_study(new.text), connection))
    return set_rules(connection, new.slug, new.rules, excluded_workers)


def _unseen(_bot: str, _done: int, _total: int) -> None:
    """Ignore the progress of a check."""
