"""Responses of the API of registered bots. `/api/openapi.json` is generated from these models."""

import re
from typing import Any, Literal

from pydantic import BaseModel, SerializerFunctionWrapHandler, field_serializer
from sqlalchemy import Connection

from bots import ConformanceReport, Endpoint, Overruns, ReplicaState
from server.bots import stored_bots
from server.bots.fitness import BackgroundCheck
from server.bots.stored_bots import Registration
from server.clock import ShownTime
from server.study import LEFT_OUT


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


_ADDRESS = re.compile(r"""https?://[^\s"'\\]+""")


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
    return CheckView.model_validate_json(_ADDRESS.sub(LEFT_OUT, check.model_dump_json()))
