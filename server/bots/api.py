"""Registered bots in the researcher's REST API. Every call needs a researcher's token."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from sqlalchemy import Connection

from bots import Endpoint
from server.access.auth import Auth
from server.bots import fitness, registration
from server.bots.background_checks import BackgroundCheck
from server.bots.registered_bots import RegisteredBots
from server.bots.registration import Registration, StoredCheck
from server.clock import shown_time
from server.db.store import Store
from server.errors import NotChecked

Json = dict[str, Any]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewBot(_Body):
    """A bot to register."""

    name: Annotated[str, Field(max_length=200)]
    endpoint: Endpoint


class Change(_Body):
    """What can be changed of a bot."""

    enabled: StrictBool


class NewReplica(_Body):
    """A replica to add."""

    url: Annotated[str, Field(max_length=2_000)]


class NewCheck(_Body):
    """How to check a bot: how many conversations it has at the same time."""

    at_once: Annotated[int, Field(ge=1, le=64)] = fitness.AT_ONCE


class BotsApi:
    """Shows the registered bots, and has them changed and checked."""

    def __init__(self, *, store: Store, auth: Auth, bots: RegisteredBots) -> None:
        self._store = store
        self._auth = auth
        self._bots = bots
        self.router = APIRouter(prefix="/api/desk/bots", dependencies=[Depends(self._researcher)])
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

    async def _researcher(self, authorization: Annotated[str | None, Header()] = None) -> None:
        await self._auth.require_researcher(authorization)

    async def list_bots(self) -> Json:
        """Every registered bot, by name."""

        def read(connection: Connection) -> list[Json]:
            return [_stored_view(connection, row) for row in registration.registrations(connection)]

        return {"bots": [self._with_states(view) for view in await self._store.read(read)]}

    async def register(self, body: NewBot) -> Json:
        """Register a bot."""
        return await self._view(await self._bots.register(body.name, body.endpoint))

    async def show(self, name: str) -> Json:
        """One registered bot."""

        def read(connection: Connection) -> Json:
            return _stored_view(connection, registration.find(connection, name))

        return self._with_states(await self._store.read(read))

    async def change(self, name: str, body: Change) -> Json:
        """Enable or disable a bot."""
        change = self._bots.enable if body.enabled else self._bots.disable
        return await self._view(await change(name))

    async def delete(self, name: str) -> Response:
        """Forget a bot that no open run has."""
        await self._bots.delete(name)
        return Response(status_code=204)

    async def add_replica(self, name: str, body: NewReplica) -> Json:
        """Have another server answer for a bot, at once."""
        return await self._view(await self._bots.add_replica(name, body.url))

    async def remove_replica(self, name: str, url: str) -> Json:
        """Have a server answer for a bot no more; what it is at, it finishes."""
        return await self._view(await self._bots.remove_replica(name, url))

    async def start_check(self, name: str, body: NewCheck | None = None) -> Json:
        """Check in the background whether a bot is fit for workers."""
        return _check_view(await self._bots.start_check(name, (body or NewCheck()).at_once))

    async def show_check(self, name: str) -> Json:
        """The check that is under way, or the latest report."""
        row = await self._store.read(lambda c: registration.find(c, name))
        check = self._bots.check_of(name)
        if check is not None:
            return _check_view(check)
        stored = await self._store.read(lambda c: registration.latest_check(c, row))
        if stored is None:
            raise NotChecked(f"`{name}` has not been checked")
        return _report_view(stored)

    async def _view(self, row: Registration) -> Json:
        return self._with_states(await self._store.read(lambda c: _stored_view(c, row)))

    def _with_states(self, view: Json) -> Json:
        return view | {"replicas": [asdict(state) for state in self._bots.replica_states(view["name"])]}


def _stored_view(connection: Connection, row: Registration) -> Json:
    """Return what the database knows of a bot."""
    check = registration.latest_check(connection, row)
    overruns = registration.overruns(connection, row.name)
    return {
        "name": row.name,
        "endpoint": row.endpoint.model_dump(mode="json", exclude_none=True),
        "enabled": row.enabled,
        "created_at": shown_time(row.created_at),
        "used_by": registration.used_by(connection, row.name),
        "overruns": {"replies": overruns.replies, "overran": overruns.overran},
        "check": None if check is None else {"at": shown_time(check.at), "verdict": check.verdict},
    }


def _check_view(check: BackgroundCheck) -> Json:
    return {
        "state": "running" if check.error is None else "failed",
        "done": check.done,
        "total": check.total,
        "at": shown_time(check.at),
        "report": None,
        "error": check.error,
    }


def _report_view(stored: StoredCheck) -> Json:
    """Return a check that is over."""
    at, report = shown_time(stored.at), stored.report
    return {"state": "finished", "done": 1, "total": 1, "at": at, "report": report, "error": None}
