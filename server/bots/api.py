"""Registered bots in the researcher's REST API. Every call needs a researcher's token."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from sqlalchemy import Connection

from bots import Bot, Endpoint, EndpointError
from server.access.auth import Auth
from server.access.bearer import researchers_only
from server.bots import fitness, registration
from server.bots.background_checks import Check, Checks
from server.bots.fitness import FitnessCheck
from server.bots.registration import Registration, StoredCheck
from server.bots.registry import Registry
from server.bots.responses import BotList, BotView, CheckView, LastCheck
from server.clock import utc_now
from server.db.store import Store
from server.errors import BotDisabled, BotNotFound, BotUnusable, NotChecked


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewBot(_Body):
    """A bot to register."""

    name: Annotated[str, Field(max_length=200)]
    endpoint: Endpoint


class BotChange(_Body):
    """What can be changed of a bot."""

    enabled: StrictBool


class NewReplica(_Body):
    """A replica to add."""

    url: Annotated[str, Field(max_length=2_000)]


class NewCheck(_Body):
    """How to check a bot: how many conversations it has at the same time."""

    at_once: Annotated[int, Field(ge=1, le=64)] = fitness.AT_ONCE


class BotsApi:
    """Registers bots, changes them while they answer, and has them checked.

    `keys`: patterns (as of file names) of the environment variables that an endpoint may name as its key.
    Without them whoever has a token could have any variable of the server sent to an address of theirs.
    """

    def __init__(
        self, *, store: Store, auth: Auth, registry: Registry, checks: Checks, keys: Sequence[str]
    ) -> None:
        self._store = store
        self._registry = registry
        self._checks = checks
        self._keys = keys
        self.router = APIRouter(
            prefix="/api/desk/bots", tags=["bots"], dependencies=[Depends(researchers_only(auth))]
        )
        self._route("GET", "", self.list_bots)
        self._route("POST", "", self.register, status=201)
        self._route("GET", "/{name}", self.show)
        self._route("PATCH", "/{name}", self.change)
        self._route("DELETE", "/{name}", self.delete, status=204)
        self._route("POST", "/{name}/replicas", self.add_replica)
        self._route("DELETE", "/{name}/replicas", self.remove_replica)
        self._route("POST", "/{name}/check", self.start_check, status=202)
        self._route("GET", "/{name}/check", self.show_check)

    def _route(self, method: str, path: str, call: Callable[..., Any], status: int = 200) -> None:
        self.router.add_api_route(path, call, methods=[method], status_code=status)

    async def list_bots(self) -> BotList:
        """Every registered bot, by name."""

        def read(connection: Connection) -> list[BotView]:
            return [_stored_view(connection, row) for row in registration.registrations(connection)]

        return BotList(bots=[self._with_states(view) for view in await self._store.read(read)])

    async def register(self, body: NewBot) -> BotView:
        """Register a bot."""
        await self._require_usable(body.endpoint)
        at = utc_now()
        row = await self._store.submit(lambda c: registration.add(c, body.name, body.endpoint, at))
        return await self._applied(row)

    async def show(self, name: str) -> BotView:
        """One registered bot."""

        def read(connection: Connection) -> BotView:
            return _stored_view(connection, registration.find(connection, name))

        return self._with_states(await self._store.read(read))

    async def change(self, name: str, body: BotChange) -> BotView:
        """Enable or disable a bot."""
        if body.enabled:
            await self._require_usable((await self._found(name)).endpoint)
        row = await self._store.submit(lambda c: registration.enable(c, name, body.enabled))
        if not body.enabled:
            await self._checks.cancel(name)  # or the check would hold the disabling against the bot
        return await self._applied(row)

    async def delete(self, name: str) -> Response:
        """Forget a bot that no open run has."""
        await self._store.submit(lambda c: registration.remove(c, name))
        self._registry.apply(name, None, enabled=False)
        await self._checks.cancel(name)
        return Response(status_code=204)

    async def add_replica(self, name: str, body: NewReplica) -> BotView:
        """Have another server answer for a bot, at once."""
        await self._require_usable((await self._found(name)).endpoint)
        row = await self._store.submit(lambda c: registration.add_replica(c, name, body.url))
        await self._checks.cancel(name)
        return await self._applied(row)

    async def remove_replica(self, name: str, url: str) -> BotView:
        """Have a server answer for a bot no more; what it is at, it finishes."""
        row = await self._store.submit(lambda c: registration.remove_replica(c, name, url))
        return await self._applied(row)

    async def start_check(self, name: str, body: NewCheck | None = None) -> CheckView:
        """Check in the background whether a bot is fit for workers."""
        row = await self._found(name)
        if not row.enabled:
            raise BotDisabled(f"`{name}` is disabled, and answers nobody")
        bot = self._usable(name)
        at_once = (body or NewCheck()).at_once
        return _check_view(self._checks.start(row, bot, await self._store.read(_exam(row, at_once))))

    async def show_check(self, name: str) -> CheckView:
        """The check that is under way, or the latest report."""
        row = await self._found(name)
        check = self._checks.find(name)
        if check is not None:
            return _check_view(check)
        stored = await self._store.read(lambda c: registration.latest_check(c, row))
        if stored is None:
            raise NotChecked(f"`{name}` has not been checked")
        return _report_view(stored)

    async def _found(self, name: str) -> Registration:
        return await self._store.read(lambda c: registration.find(c, name))

    async def _applied(self, row: Registration) -> BotView:
        """Have this process hold the bot as it is stored now; return its view."""
        self._registry.apply(row.name, row.endpoint, row.enabled)
        return self._with_states(await self._store.read(lambda c: _stored_view(c, row)))

    async def _require_usable(self, endpoint: Endpoint) -> None:
        """Check that this server can and may open `endpoint`. Raises BotUnusable."""
        key = endpoint.model_dump().get("key")
        if key is not None and not any(fnmatchcase(key, pattern) for pattern in self._keys):
            raise BotUnusable(
                f"the environment variable {key} may not be named as a key here",
                f"Name the variable like {' or '.join(self._keys) or 'none'}; or let the server's operator"
                " allow it with CANDOR_BOT_KEYS.",
            )
        try:
            await self._registry.require(endpoint)
        except EndpointError as error:
            raise BotUnusable(str(error)) from error

    def _usable(self, name: str) -> Bot:
        try:
            bot = self._registry.registered(name)
        except EndpointError as error:
            raise BotUnusable(f"`{name}` cannot be opened: {error}") from error
        if bot is None:
            raise BotNotFound(f"`{name}` was deleted a moment ago")
        return bot

    def _with_states(self, view: BotView) -> BotView:
        return view.model_copy(update={"replicas": list(self._registry.states(view.name))})


def _stored_view(connection: Connection, row: Registration) -> BotView:
    """Return what the database knows of a bot."""
    check = registration.latest_check(connection, row)
    return BotView(
        name=row.name,
        endpoint=row.endpoint,
        enabled=row.enabled,
        created_at=row.created_at,
        used_by=registration.used_by(connection, row.name),
        overruns=registration.overruns(connection, row.name),
        check=None if check is None else LastCheck(at=check.at, verdict=check.verdict),
        replicas=[],
    )


def _exam(row: Registration, at_once: int) -> Callable[[Connection], FitnessCheck]:
    """Return how to look up what the bot is examined against: the newest study that has it."""

    def read(connection: Connection) -> FitnessCheck:
        study = registration.newest_study(connection, row.name)
        overruns = registration.overruns(connection, row.name)
        return fitness.exam(row.name, row.endpoint, study, at_once, overruns)

    return read


def _check_view(check: Check) -> CheckView:
    return CheckView(
        state="running" if check.error is None else "failed",
        done=check.done,
        total=check.total,
        at=check.at,
        report=None,
        error=check.error,
    )


def _report_view(stored: StoredCheck) -> CheckView:
    """Return a check that is over."""
    return CheckView(state="finished", done=1, total=1, at=stored.at, report=stored.report, error=None)
