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
    """When a bot was last checked, and what came of it."""

    at: datetime
    verdict: Verdict


class BotView(BaseModel):
    """A registered bot. `endpoint` as it was registered, its kind under "kind"."""

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
    """A check, under way or over. `report` is there when it is finished, `error` when it failed."""

    state: Literal["running", "finished", "failed"]
    done: int
    total: int
    at: datetime | None
    report: ConformanceReport | None
    error: str | None


class JoinView(BaseModel):
    """A simulated worker's way in: the token of its session, and its assignment."""

    token: str
    assignment: str


class RunView(BaseModel):
    """A run, by its name."""

    run: str


class RunList(BaseModel):
    """All runs, newest first."""

    runs: list[RunView]


class CrowdQuestion(BaseModel):
    """What is to be known before simulated workers take part; None where that costs nothing."""

    question: str | None


class QualityView(BaseModel):
    """How good the system of conversation number `conversation` is, from 0 to 1.

    `system` names it where it is chatted with. `item` names what is rated where nothing is chatted: an item,
    its repeat and its twins have one name.
    """

    conversation: int
    quality: float
    item: str | None = None
    system: str | None = None


class CriterionView(BaseModel):
    """Whether agreement with a criterion speaks against a system, and whether the worker filter uses it."""

    label: str
    negative: bool
    qc: bool


class SimulatedBeliefs(BaseModel):
    """What a simulated worker believes. A conversation's attempts come in order: the last one counts.

    `answers` are the right ones to the tutorial's test questions.
    """

    conversations: list[QualityView]
    criteria: list[CriterionView]
    answers: list[int] = []


class SystemForecast(BaseModel):
    """What a rehearsal foretells of a system: its score as simulated, and half the width of its interval."""

    system: str
    z: float
    half_width: float


class NumberForecast(BaseModel):
    """What so many workers would show: the widest half-width, and the chance for the first two systems."""

    workers: int
    half_width: float
    apart: float
    cost: float | None


class Forecast(BaseModel):
    """What a rehearsal foretells."""

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
    """A rehearsal, under way or over; `run` is the run of its own."""

    job: str
    run: str
    status: Literal["running", "done", "failed", "cancelled"]
    step: str
    done: int
    total: int
    error: str | None
    forecast: Forecast | None
    trouble: str | None
