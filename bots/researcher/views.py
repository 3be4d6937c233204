"""Answers of the researcher's API. Unknown fields are ignored."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from bots.conformance.report import ConformanceReport, Overruns, Verdict
from candor.common.api_models import Forecast


class ReplicaAnswer(BaseModel):
    """One server that answers for a bot."""

    url: str
    state: str
    in_flight: int
    calls: int
    failures: int
    last_error: str | None


class LastCheckAnswer(BaseModel):
    """The time and the verdict of a bot's last check."""

    at: datetime
    verdict: Verdict


class BotAnswer(BaseModel):
    """A registered bot. `endpoint` is as registered, with its kind under "kind"."""

    name: str
    endpoint: dict[str, Any]
    enabled: bool
    created_at: datetime
    used_by: list[str]
    replicas: list[ReplicaAnswer]
    overruns: Overruns
    check: LastCheckAnswer | None


class BotListAnswer(BaseModel):
    """All registered bots."""

    bots: list[BotAnswer]


class CheckAnswer(BaseModel):
    """A running or finished check. `report` is set when it is finished, `error` when it failed."""

    state: Literal["running", "finished", "failed"]
    done: int
    total: int
    at: datetime | None
    report: ConformanceReport | None
    error: str | None


class JoinAnswer(BaseModel):
    """A simulated worker's session token and its assignment."""

    token: str
    assignment: str


class RunAnswer(BaseModel):
    """A run, by its name."""

    run: str


class RunListAnswer(BaseModel):
    """All runs, newest first."""

    runs: list[RunAnswer]


class RehearsalAnswer(BaseModel):
    """A running or finished rehearsal; `run` is its own run."""

    job: str
    run: str
    status: Literal["running", "done", "failed", "cancelled"]
    step: str
    done: int
    total: int
    error: str | None
    forecast: Forecast | None
    trouble: str | None
