"""Answers of the researcher's API. Unknown fields are ignored."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from bots.conformance.report import ConformanceReport, Overruns, Verdict


class ReplicaView(BaseModel):
    """One server that answers for a bot."""

    url: str
    state: str
    in_flight: int
    calls: int
    failures: int
    last_error: str | None


class LastCheck(BaseModel):
    """The time and the verdict of a bot's last check."""

    at: datetime
    verdict: Verdict


class BotView(BaseModel):
    """A registered bot. `endpoint` is as registered, with its kind under "kind"."""

    name: str
    endpoint: dict[str, Any]
    enabled: bool
    created_at: datetime
    used_by: list[str]
    replicas: list[ReplicaView]
    overruns: Overruns
    check: LastCheck | None


class BotList(BaseModel):
    """All registered bots."""

    bots: list[BotView]


class CheckView(BaseModel):
    """A running or finished check. `report` is set when it is finished, `error` when it failed."""

    state: Literal["running", "finished", "failed"]
    done: int
    total: int
    at: datetime | None
    report: ConformanceReport | None
    error: str | None


class JoinView(BaseModel):
    """A simulated worker's session token and its assignment."""

    token: str
    assignment: str


class RunView(BaseModel):
    """A run, by its name."""

    run: str


class RunList(BaseModel):
    """All runs, newest first."""

    runs: list[RunView]


class CrowdQuestion(BaseModel):
    """The question to confirm before simulated workers take part; None if they cost nothing."""

    question: str | None


class QualityView(BaseModel):
    """The quality of the system of a `conversation`, from 0 to 1.

    `system` names the chat partner, if there is one. `item` names the item that is rated without a chat: an
    item, its repeat and its twins share one name.
    """

    conversation: int
    quality: float
    item: str | None = None
    system: str | None = None


class CriterionView(BaseModel):
    """A criterion: whether agreement counts against a system, and whether the worker filter uses it."""

    label: str
    negative: bool
    qc: bool


class SimulatedBeliefs(BaseModel):
    """The beliefs of a simulated worker. The attempts at a conversation are in order: the last one counts.

    `answers` are the right ones to the tutorial's test questions.
    """

    conversations: list[QualityView]
    criteria: list[CriterionView]
    answers: list[int] = []


class SystemForecast(BaseModel):
    """A rehearsal's forecast for a system: its simulated score, and half the width of its interval."""

    system: str
    z: float
    half_width: float


class NumberForecast(BaseModel):
    """The forecast for a number of workers: the widest half-width, and the chance of a clear winner.

    `apart` is the chance that the first two systems are told apart.
    """

    workers: int
    half_width: float
    apart: float
    cost: float | None


class Forecast(BaseModel):
    """A rehearsal's forecast."""

    rehearsed: int
    passed: int
    minutes: float
    cost: float | None
    scores: list[SystemForecast]
    first: str
    second: str
    difference: float
    apart: float
    needed: int | None
    power: float
    chances: list[NumberForecast]
    assumed: list[str]


class RehearsalView(BaseModel):
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
