"""Answers of the researcher's API that commands read, as the server writes them."""

from pydantic import BaseModel


class SystemQuality(BaseModel):
    """The quality of a conversation as a simulated worker perceives it, from 0 (bad) to 1 (good).

    `system`: the system of a chat. `item`: the item, if items are rated; an item, its repeat and its twins
    have the same name.
    """

    conversation: int
    attempt: int
    quality: float
    item: str | None
    system: str | None


class CriterionSigns(BaseModel):
    """A criterion. `negative`: agreement is bad for a system. `qc`: it counts for the worker filter."""

    label: str
    negative: bool
    qc: bool


class CrowdQuestion(BaseModel):
    """The cost of simulated workers in words, to be confirmed first; None if they cost nothing."""

    question: str | None


class SimulatedBeliefs(BaseModel):
    """A simulated worker's beliefs about the systems of its assignment.

    `answers`: the right answers to the tutorial's questions, in order.
    """

    conversations: list[SystemQuality]
    criteria: list[CriterionSigns]
    answers: list[int]


class SystemForecast(BaseModel):
    """A system's score from simulated workers, and the half-width of its interval for the planned study."""

    system: str
    z: float
    half_width: float


class NumberForecast(BaseModel):
    """The forecast for a number of workers: widest half-width, power for the first two systems, and cost."""

    workers: int
    half_width: float
    apart: float
    cost: float | None


class PowerPoint(BaseModel):
    """The power for the first two systems with a number of workers."""

    workers: int
    apart: float


class PlannedStudy(BaseModel):
    """The planned study: workers with one assignment each, `pay` per assignment, `fee` as a share of it."""

    workers: int
    conversations: int
    inputs: int
    pay: float | None
    fee: float


class Forecast(BaseModel):
    """The forecast of a rehearsal, as printed by `python -m qc.planning.outlook`.

    `minutes`: the duration of an assignment. `apart`: the probability that the `first` and the `second`
    system are told apart. `needed`: the workers needed for a probability of `power`, None if that is
    unaffordable. `assumed`: assumptions in sentences. `curve`: power by number of workers, to be drawn; older
    forecasts have none.
    """

    plan: PlannedStudy
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
    curve: list[PowerPoint] = []
