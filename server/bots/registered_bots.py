"""Change registered bots within the limits of the API: each change is committed, then opened."""

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from bots import Bot
from bots.serving import Endpoint, EndpointError, HostReplica, HostSession, ReplicaState
from server.bots import fitness, stored_bots
from server.bots.fitness import BackgroundCheck, BackgroundChecks, FitnessCheck
from server.bots.opened_bots import OpenedBots
from server.bots.planned_calls import Confirmation, of_check
from server.bots.stored_bots import Registration
from server.clock import utc_now
from server.config import without_password
from server.db.audit import Doer, record
from server.db.store import Store
from server.errors import BotDisabled, BotNotFound, BotUnusable, StudyInvalid
from server.news import News
from server.study import Study

CORPORA = "corpora"  # the folder, within the data folder


class ApiLimits:
    """Limits which keys may be sent where, and which files may be read.

    Args:
        keys: the environment variables that endpoints may use as keys, each with the hosts that it may be
            sent to. Without this limit, anybody who may name a bot could get the server's keys sent to their
            own address.
        corpora: the folder of corpora that studies may use besides the builtin ones. Without this limit,
            anybody who may write a study could make the server read any file, or an endless one.
    """

    def __init__(self, keys: Mapping[str, Collection[str]], corpora: Path) -> None:
        self._keys = keys
        self._corpora = corpora

    def require_key(self, endpoint: Endpoint, urls: Iterable[str] | None = None) -> None:
        """Check that the key of `endpoint`, if any, may be sent to `urls`; by default, to the endpoint's own.

        Raises BotUnusable.
        """
        key = getattr(endpoint, "key", None)
        if key is None:
            return
        sent_to: Iterable[str] = getattr(endpoint, "urls", ()) if urls is None else urls
        hosts = {urlsplit(url.strip()).hostname or url for url in sent_to}
        forbidden = hosts - set(self._keys.get(key, ()))
        if forbidden:
            allowing = json.dumps({key: sorted(hosts | set(self._keys.get(key, ())))})
            raise BotUnusable(
                f"The environment variable {key} may not be sent as a key to {', '.join(sorted(forbidden))}",
                f"The server's operator can allow it: CANDOR_BOT_KEYS='{allowing}'.",
            )

    def require_keys(self, study: Study) -> None:
        """Check the keys of a study's own bots, as `require_key`. Raises BotUnusable."""
        for name, endpoint in study.bots.items():
            try:
                self.require_key(endpoint)
            except BotUnusable as error:
                raise BotUnusable(f"Bot “{name}”: {error.message}", error.hint) from error

    def require_corpora(self, study: Study) -> None:
        """Check that a study uses only corpora that it may read. Raises StudyInvalid."""
        for corpus in (study.corpus, study.qc.corpus):
            if not corpus.startswith("builtin:") and not self._has(corpus):
                raise StudyInvalid(
                    f"Corpus “{corpus}” is not in the folder “{CORPORA}” of the server's data",
                    "Ask the server's operator to put the file there and to tell you its full path, or open "
                    "the run with “candor run open”.",
                )

    def _has(self, corpus: str) -> bool:
        try:
            return Path(corpus).resolve().is_relative_to(self._corpora.resolve())
        except (OSError, RuntimeError, ValueError):  # not a path, or a cycle of links
            return False


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Logged:
    """The audit log entry for a change of a bot."""

    actor: Doer
    action: str
    detail: str = ""

    def record(self, connection: Connection, name: str) -> None:
        """Write the entry for the bot `name`."""
        record(connection, self.actor, f"bot.{self.action}", name, self.detail)


class RegisteredBots:
    """Registers, changes and checks bots while they answer.

    Changes of one bot run one after the other, and are completed even if the caller is cancelled. After each
    of them, the database and this process agree. `connections`: numbers the connections of bot hosts.
    """

    def __init__(
        self,
        store: Store,
        opened_bots: OpenedBots,
        checks: BackgroundChecks,
        reach: ApiLimits,
        news: News,
    ) -> None:
        """Create it.

        Args:
            store: the database of registrations.
            opened_bots: the bots of this process, loaded from the same database.
            checks: the running checks.
            reach: limits which keys may be sent where.
            news: announces changes to other processes.
        """
        self._store = store
        self._opened_bots = opened_bots
        self._checks = checks
        self._reach = reach
        self._news = news
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._changes: set[asyncio.Task[Any]] = set()
        self.connections = count(1)

    async def register(self, name: str, endpoint: Endpoint, actor: Doer) -> Registration:
        """Register a bot.

        Raises:
            BotInvalid: `name` is not a valid name.
            BotExists: there is a bot of this name.
            BotUnusable: this server cannot or may not open `endpoint`.
        """
        await self._require_usable(endpoint)
        at = utc_now()
        logged = Logged(actor, "register", _said(endpoint))
        return await self._change(name, lambda c: stored_bots.add(c, name, endpoint, at), logged)

    async def enable(self, name: str, actor: Doer) -> Registration:
        """Enable a bot. Raises BotNotFound, BotUnusable."""
        await self._require_usable((await self._find(name)).endpoint)
        return await self._change(name, lambda c: stored_bots.enable(c, name, True), Logged(actor, "enable"))

    async def disable(self, name: str, actor: Doer) -> Registration:
        """Disable a bot, and cancel its check. Raises BotNotFound."""
        logged = Logged(actor, "disable")
        return await self._change(name, lambda c: stored_bots.enable(c, name, False), logged, ends_check=True)

    async def delete(self, name: str, actor: Doer) -> None:
        """Delete a bot, and cancel its check. Raises BotNotFound, or BotInUse if an open run uses it."""

        def remove(connection: Connection) -> None:
            stored_bots.remove(connection, name)
            Logged(actor, "delete").record(connection, name)

        async def change() -> None:
            async with self._lock(name):
                await self._store.submit(remove)
                self._tell(name)
                self._opened_bots.forget(name)
                await self._checks.cancel(name)

        await self._to_its_end(change())

    async def add_replica(self, name: str, url: str, actor: Doer) -> Registration:
        """Add a replica to a bot, effective at once. Cancel its running check, and delete its earlier checks.

        Raises as `stored_bots.add_replica`, and BotUnusable if this server cannot open the bot.
        """
        endpoint = (await self._find(name)).endpoint
        await self._require_usable(endpoint)
        self._reach.require_key(endpoint, [url])
        logged = Logged(actor, "add_replica", without_password(url))
        return await self._change(
            name, lambda c: stored_bots.add_replica(c, name, url), logged, ends_check=True
        )

    async def remove_replica(self, name: str, url: str, actor: Doer) -> Registration:
        """Remove a replica of a bot. It finishes its open calls.

        Raises as `stored_bots.remove_replica`.
        """
        logged = Logged(actor, "remove_replica", without_password(url))
        return await self._change(name, lambda c: stored_bots.remove_replica(c, name, url), logged)

    async def attach(self, name: str, host: HostSession, actor: Doer) -> HostReplica:
        """Let a connected bot host answer as the bot `name`, and register the bot if it is new.

        Raises:
            BotInvalid: `name` is not a valid name.
            BotExists: there is a bot of another kind with this name.
        """

        at = utc_now()

        def find_or_add(connection: Connection) -> Registration:
            row, is_new = stored_bots.find_or_add_dial_in(connection, name, at)
            if is_new:
                Logged(actor, "register", _said(row.endpoint)).record(connection, name)
            return row

        async def change() -> HostReplica:
            async with self._lock(name):
                row = await self._store.submit(find_or_add)
                self._opened_bots.hold(row)
                replica = host.accept(name)
                self._opened_bots.attach(name, replica)
                return replica

        return await self._to_its_end(change())

    async def detach(self, name: str, replica: HostReplica) -> None:
        """Send no more calls to a host; return when its open calls are over."""
        with suppress(KeyError):  # the bot was deleted meanwhile, and its replicas with it
            await self._opened_bots.detach(name, replica)

    async def start_check(
        self,
        name: str,
        actor: Doer,
        confirmation: Confirmation,
        study: Study | None = None,
        at_once: int | None = None,
    ) -> BackgroundCheck:
        """Start a check whether a bot is fit for workers, or return its running check.

        Args:
            name: the bot's name.
            actor: the caller.
            confirmation: whether the caller accepts that it may cost money.
            study: the study to check for; None: the study of the newest run that uses the bot.
            at_once: the number of parallel conversations; None: as many as the study may have.

        Raises:
            BotNotFound: there is no such bot.
            BotDisabled: the bot is disabled.
            BotUnusable: this server cannot open the bot.
            NeedsConfirmation: the check may cost money, and that is not confirmed.
        """
        moderation = self._opened_bots.moderation

        def read(connection: Connection) -> tuple[Registration, FitnessCheck]:
            row = stored_bots.find(connection, name)
            return row, fitness.registered_check(connection, row, study, at_once, moderation)

        async with self._lock(name):
            row, ask = await self._store.read(read)
            if not row.enabled:
                raise BotDisabled(f"“{name}” is disabled")
            bot = self._usable(name)
            if not self._checks.is_under_way(name):
                calls = of_check(name, row.endpoint, ask, moderation)
                confirmation.require(f"The check of “{name}”", calls)
                await self._store.submit(lambda c: Logged(actor, "check").record(c, name))
            return self._checks.start(bot, row, ask)

    async def take_up_changes(self) -> None:
        """Apply all changes of registered bots in the database to this process. Raises StorageFailed."""
        stored = await self._store.read(stored_bots.registrations)
        for name in {row.name for row in stored} | set(self._opened_bots.names()):
            await self._to_its_end(self._take_up(name))

    async def _take_up(self, name: str) -> None:
        async with self._lock(name):
            try:
                row = await self._find(name)
            except BotNotFound:
                self._opened_bots.forget(name)
                await self._checks.cancel(name)
                return
            if not row.enabled:
                await self._checks.cancel(name)
            self._opened_bots.hold(row)

    def check_of(self, name: str) -> BackgroundCheck | None:
        """Return the running or broken-off check of a bot; None if there is none."""
        return self._checks.find(name)

    def replica_states(self, name: str) -> tuple[ReplicaState, ...]:
        """Return the states of a bot's replicas."""
        return self._opened_bots.states(name)

    async def _change(
        self,
        name: str,
        commit: Callable[[Connection], Registration],
        logged: Logged,
        *,
        ends_check: bool = False,
    ) -> Registration:
        def recorded(connection: Connection) -> Registration:
            row = commit(connection)
            logged.record(connection, name)
            return row

        async def change() -> Registration:
            async with self._lock(name):
                row = await self._store.submit(recorded)
                self._tell(name)
                if ends_check:
                    await self._checks.cancel(name)  # first, or disabling would fail the check
                self._opened_bots.hold(row)
                return row

        return await self._to_its_end(change())

    def _tell(self, name: str) -> None:
        self._news.publish("bots", {"name": name})

    async def _to_its_end(self, change: Coroutine[Any, Any, T]) -> T:
        """Await `change` and return its result. It is completed even if the caller is cancelled."""
        task = asyncio.get_running_loop().create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        return await asyncio.shield(task)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    async def _find(self, name: str) -> Registration:
        return await self._store.read(lambda c: stored_bots.find(c, name))

    async def _require_usable(self, endpoint: Endpoint) -> None:
        """Check that this server can and may open `endpoint`. Raises BotUnusable."""
        self._reach.require_key(endpoint)
        try:
            await self._opened_bots.require_openable(endpoint)
        except EndpointError as error:
            raise BotUnusable(str(error)) from error

    def _usable(self, name: str) -> Bot:
        try:
            bot = self._opened_bots.registered(name)
        except EndpointError as error:
            raise BotUnusable(f"“{name}” cannot be opened: {error}") from error
        if bot is None:
            raise BotNotFound(f"“{name}” was deleted a moment ago")
        return bot


def _said(endpoint: Endpoint) -> str:
    """Return a bot's kind and addresses in words, for the audit log."""
    urls = ", ".join(map(without_password, getattr(endpoint, "urls", ())))
    return f"{endpoint.kind} at {urls}" if urls else endpoint.kind
