"""Endpoints for registered bots. Bots serve all studies, so changing them needs a role for all studies."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import Field, StrictBool
from sqlalchemy import Connection

from bots import MOST_AT_ONCE, DialInEndpoint, Endpoint
from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.auth import Auth
from server.bots import stored_bots
from server.bots.planned_calls import Confirmation
from server.bots.registered_bots import RegisteredBots
from server.bots.responses import (
    BotList,
    BotView,
    CheckView,
    LastCheck,
    check_of,
    check_view,
    without_addresses,
)
from server.bots.stored_bots import Registration
from server.db.store.store import Store
from server.errors import NotChecked
from server.study import LEFT_OUT, SENT, in_thread, parse_study


class NewBot(RequestBody):
    """A bot to register."""

    name: Annotated[str, Field(max_length=200)]
    endpoint: Endpoint


class BotChange(RequestBody):
    """A change of a bot."""

    enabled: StrictBool


class NewReplica(RequestBody):
    """A replica to add."""

    url: Annotated[str, Field(max_length=2_000)]


class NewCheck(RequestBody):
    """Options of a check: the study (YAML) to check for, and the number of parallel conversations.

    The default study is that of the newest run that uses the bot; the default number is the study's.
    `confirmed`: the caller accepts that it may cost money.
    """

    study: Annotated[str, Field(max_length=60_000)] | None = None
    at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE, strict=True)] | None = None
    confirmed: StrictBool = False


class BotsApi:
    """Endpoints that show, change and check registered bots."""

    def __init__(self, *, store: Store, auth: Auth, bots: RegisteredBots) -> None:
        self._store = store
        self._bots = bots
        self._auth = auth
        self.router = APIRouter(prefix="/api/desk/bots", tags=["bots"])
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
        allowed = Allowed(self._auth, "see_bots" if method == "GET" else "change_bots")
        self.router.add_api_route(
            path, call, methods=[method], status_code=status, dependencies=[Depends(allowed)]
        )

    async def list_bots(self, actor: Caller) -> BotList:
        """List all registered bots, by name. Only callers who may change bots see addresses and headers."""

        def read(connection: Connection) -> list[BotView]:
            return [_stored_view(connection, row, actor) for row in stored_bots.registrations(connection)]

        return BotList(bots=[self._shown(view, actor) for view in await self._store.read(read)])

    async def register(self, body: NewBot, actor: Caller) -> BotView:
        """Register a bot."""
        return await self._view(await self._bots.register(body.name, body.endpoint, actor), actor)

    async def show(self, name: str, actor: Caller) -> BotView:
        """Return one registered bot, as in the list."""

        def read(connection: Connection) -> BotView:
            return _stored_view(connection, stored_bots.find(connection, name), actor)

        return self._shown(await self._store.read(read), actor)

    async def change(self, name: str, body: BotChange, actor: Caller) -> BotView:
        """Enable or disable a bot."""
        change = self._bots.enable if body.enabled else self._bots.disable
        return await self._view(await change(name, actor), actor)

    async def delete(self, name: str, actor: Caller) -> Response:
        """Delete a bot that no open run uses."""
        await self._bots.delete(name, actor)
        return Response(status_code=204)

    async def add_replica(self, name: str, body: NewReplica, actor: Caller) -> BotView:
        """Add a replica to a bot. It answers at once."""
        return await self._view(await self._bots.add_replica(name, body.url, actor), actor)

    async def remove_replica(self, name: str, url: str, actor: Caller) -> BotView:
        """Remove a replica of a bot. It finishes its open calls."""
        return await self._view(await self._bots.remove_replica(name, url, actor), actor)

    async def start_check(self, name: str, actor: Caller, body: NewCheck | None = None) -> CheckView:
        """Start a check in the background whether a bot is fit for workers."""
        asked = body or NewCheck()
        text = asked.study
        study = None if text is None else await in_thread(lambda: parse_study(text))
        confirmation = Confirmation(asked.confirmed)
        return check_view(await self._bots.start_check(name, actor, confirmation, study, asked.at_once))

    async def show_check(self, name: str, actor: Caller) -> CheckView:
        """Return the running check, or the latest report."""
        under_way = self._bots.check_of(name)
        check = await self._store.read(lambda c: check_of(c, stored_bots.find(c, name), under_way))
        if check is None:
            raise NotChecked(f"`{name}` has not been checked")
        return check if actor.may("change_bots") else without_addresses(check)

    async def _view(self, row: Registration, actor: Actor) -> BotView:
        return self._with_states(await self._store.read(lambda c: _stored_view(c, row, actor)))

    def _shown(self, view: BotView, actor: Actor) -> BotView:
        seen = self._with_states(view)
        return seen if actor.may("change_bots") else _without_addresses(seen)

    def _with_states(self, view: BotView) -> BotView:
        return view.model_copy(update={"replicas": list(self._bots.replica_states(view.name))})


def _stored_view(connection: Connection, row: Registration, actor: Actor) -> BotView:
    """Return a bot as stored in the database, with the runs that use it and that `actor` may see."""
    using = stored_bots.used_by(connection, row.name)
    check = stored_bots.latest_check(connection, row)
    return BotView(
        name=row.name,
        endpoint=row.endpoint,
        enabled=row.enabled,
        created_at=row.created_at,
        used_by=[run for run, study in using.items() if actor.may("see_runs", study)],
        overruns=stored_bots.overruns(connection, row.name),
        check=None if check is None else LastCheck(at=check.at, verdict=check.report.verdict),
        replicas=[],
    )


def _without_addresses(view: BotView) -> BotView:
    """Remove addresses, headers, queries and errors of replicas, for callers who may not change bots."""
    endpoint = view.endpoint
    hidden: dict[str, Any] = {
        name: dict.fromkeys(held, LEFT_OUT) for name in SENT if (held := getattr(endpoint, name, None))
    }
    if not isinstance(endpoint, DialInEndpoint):
        hidden["urls"] = [LEFT_OUT] * len(endpoint.urls)
    replicas = [replace(replica, url=LEFT_OUT, last_error=None) for replica in view.replicas]
    return view.model_copy(update={"endpoint": endpoint.model_copy(update=hidden), "replicas": replicas})
