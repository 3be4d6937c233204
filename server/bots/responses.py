"""Responses of the API of registered bots. `/api/openapi.json` is made from these models."""

from typing import Any, Literal

from pydantic import BaseModel, SerializerFunctionWrapHandler, field_serializer

from bots import ConformanceReport, Endpoint, Overruns, ReplicaState
from server.clock import ShownTime


class LastCheck(BaseModel):
    """When a bot was last checked, and what came of it."""

    at: ShownTime
    verdict: Literal["pass", "warn", "fail"]


class BotView(BaseModel):
    """A registered bot. `used_by`: the open runs that have it, of those that the caller may see."""

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
        """Leave out what was not given, as the endpoint is sent when a bot is registered."""
        return {name: value for name, value in write(endpoint).items() if value is not None}


class BotList(BaseModel):
    """Every registered bot, by name."""

    bots: list[BotView]


class CheckView(BaseModel):
    """A check, under way or over. `report` is there when it is finished, `error` when it failed."""

    state: Literal["running", "finished", "failed"]
    done: int
    total: int
    at: ShownTime
    report: ConformanceReport | None
    error: str | None


class CheckedBot(BaseModel):
    """A registered bot, and its check: the one under way, or the latest; None: it never was checked."""

    name: str
    check: CheckView | None


class CheckedBots(BaseModel):
    """Every registered bot with its check, by name."""

    bots: list[CheckedBot]
