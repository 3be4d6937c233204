"""Endpoints for registered bots. Bots serve all studies, so changing them needs a role for all studies."""

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, StrictBool, field_serializer
from sqlalchemy import Connection

from bots.serving import MOST_AT_ONCE, ConformanceReport, DialInEndpoint, Endpoint, Overruns, ReplicaState
from server.access.actor import Actor, Allowed, Caller, RequestBody
from server.access.parts import Database, part
from server.bots import stored_bots
from server.bots.fitness import BackgroundCheck
from server.bots.planned_calls import Confirmation
from server.bots.registered_bots import RegisteredBots
from server.bots.stored_bots import Registration
from server.clock import ShownTime
from server.db.store import Store
from server.errors import NotChecked
from server.study import LEFT_OUT, SENT, in_thread, parse_study


class LastCheck(BaseModel):
    """The time and verdict of a bot's latest check."""

    at: ShownTime
    verdict: Literal["pass", "warn", "fail"]


class BotView(BaseModel):
    """A registered bot. `used_by`: the open runs that use it and that the caller may see."""

    name: str
    endpoint: Endpoint
    enabled: bool
    created_at: ShownTime
    used_by: list[str]
    overruns: Overruns
    check: LastCheck | None
    replicas: list[ReplicaState]

    @field_serializer("endpoint", mode="wrap")
    def _as_registered(self, endpoint: Endpoint, write: SerializerFunctionWrapHandler) -> Any:
        """Leave out settings that were not given, as in a request that registers the bot."""
        return {name: value for name, value in write(endpoint).items() if value is not None}


class BotList(BaseModel):
    """All registered bots, by name."""

    bots: list[BotView]


class CheckView(BaseModel):
    """A running or ended check. `report` is set when it has finished, `error` when it has failed."""

    state: Literal["running", "finished", "failed"]
    done: int
    total: int
    at: ShownTime
    report: ConformanceReport | None
    error: str | None


class CheckedBot(BaseModel):
    """A registered bot, with its running or latest check; None if it was never checked."""

    name: str
    check: CheckView | None


class CheckedBots(BaseModel):
    """All registered bots with their checks, by name."""

    bots: list[CheckedBot]


ADDRESS = re.compile(r"""https?://[^\s"'\\]+""")


def check_of(
    connection: Connection, row: Registration, in_this_process: BackgroundCheck | None
) -> CheckView | None:
    """Return the running or broken-off check in this process, else the latest report, else None."""
    if in_this_process is not None:
        return check_view(in_this_process)
    stored = stored_bots.latest_check(connection, row)
    if stored is None:
        return None
    return CheckView(state="finished", done=1, total=1, at=stored.at, report=stored.report, error=None)


def check_view(check: BackgroundCheck) -> CheckView:
    """Return a running or broken-off check as a response."""
    return CheckView(
        state="running" if check.error is None else "failed",
        done=check.done,
        total=check.total,
        at=check.at,
        report=None,
        error=check.error,
    )


def without_addresses(check: CheckView) -> CheckView:
    """Return a check without the addresses in its errors."""
    return CheckView.model_validate_json(ADDRESS.sub(LEFT_OUT, check.model_dump_json()))


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


Bots = Annotated[RegisteredBots, part(RegisteredBots)]
router = APIRouter(prefix="/api/desk/bots", tags=["bots"])
_SEE = [Depends(Allowed("see_bots"))]
_CHANGE = [Depends(Allowed("change_bots"))]


@router.get("", dependencies=_SEE)
async def list_bots(actor: Caller, store: Database, bots: Bots) -> BotList:
    """List all registered bots, by name. Only callers who may change bots see addresses and headers."""

    def read(connection: Connection) -> list[BotView]:
        return [_stored_view(connection, row, actor) for row in stored_bots.registrations(connection)]

    return BotList(bots=[_shown(bots, view, actor) for view in await store.read(read)])


@router.post("", status_code=201, dependencies=_CHANGE)
async def register(body: NewBot, actor: Caller, store: Database, bots: Bots) -> BotView:
    """Register a bot."""
    return await _view(store, bots, await bots.register(body.name, body.endpoint, actor), actor)


@router.get("/{name}", dependencies=_SEE)
async def show(name: str, actor: Caller, store: Database, bots: Bots) -> BotView:
    """Return one registered bot, as in the list."""

    def read(connection: Connection) -> BotView:
        return _stored_view(connection, stored_bots.find(connection, name), actor)

    return _shown(bots, await store.read(read), actor)


@router.patch("/{name}", dependencies=_CHANGE)
async def change(name: str, body: BotChange, actor: Caller, store: Database, bots: Bots) -> BotView:
    """Enable or disable a bot."""
    change = bots.enable if body.enabled else bots.disable
    return await _view(store, bots, await change(name, actor), actor)


@router.delete("/{name}", status_code=204, dependencies=_CHANGE)
async def delete(name: str, actor: Caller, bots: Bots) -> Response:
    """Delete a bot that no open run uses."""
    await bots.delete(name, actor)
    return Response(status_code=204)


@router.post("/{name}/replicas", dependencies=_CHANGE)
async def add_replica(name: str, body: NewReplica, actor: Caller, store: Database, bots: Bots) -> BotView:
    """Add a replica to a bot. It answers at once."""
    return await _view(store, bots, await bots.add_replica(name, body.url, actor), actor)


@router.delete("/{name}/replicas", dependencies=_CHANGE)
async def remove_replica(name: str, url: str, actor: Caller, store: Database, bots: Bots) -> BotView:
    """Remove a replica of a bot. It finishes its open calls."""
    return await _view(store, bots, await bots.remove_replica(name, url, actor), actor)


@router.post("/{name}/check", status_code=202, dependencies=_CHANGE)
async def start_check(name: str, actor: Caller, bots: Bots, body: NewCheck | None = None) -> CheckView:
    """Start a check in the background whether a bot is fit for workers."""
    asked = body or NewCheck()
    text = asked.study
    study = None if text is None else await in_thread(lambda: parse_study(text))
    confirmation = Confirmation(asked.confirmed)
    return check_view(await bots.start_check(name, actor, confirmation, study, asked.at_once))


@router.get("/{name}/check", dependencies=_SEE)
async def show_check(name: str, actor: Caller, store: Database, bots: Bots) -> CheckView:
    """Return the running check, or the latest report."""
    under_way = bots.check_of(name)
    check = await store.read(lambda c: check_of(c, stored_bots.find(c, name), under_way))
    if check is None:
        raise NotChecked(f"“{name}” has not been checked")
    return check if actor.may("change_bots") else without_addresses(check)


async def _view(store: Store, bots: RegisteredBots, row: Registration, actor: Actor) -> BotView:
    return _with_states(bots, await store.read(lambda c: _stored_view(c, row, actor)))


def _shown(bots: RegisteredBots, view: BotView, actor: Actor) -> BotView:
    seen = _with_states(bots, view)
    return seen if actor.may("change_bots") else _without_addresses(seen)


def _with_states(bots: RegisteredBots, view: BotView) -> BotView:
    return view.model_copy(update={"replicas": list(bots.replica_states(view.name))})


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
