"""Responses of the researcher's API about runs. `/api/openapi.json` is made from these models."""

from typing import Literal

from pydantic import BaseModel

from bots import FailureKind
from server.clock import ShownTime
from server.db.runs.runs import Cause, RunStatus
from server.session.records import Closing
from server.session.state import Phase

AssignmentStatus = Literal["active"] | Closing


class AssignmentCounts(BaseModel):
    """How many assignments of a run stand where."""

    active: int
    completed: int
    returned: int
    expired: int


class RunLimits(BaseModel):
    """How a run stands with its rules, which are about people.

    `target`: what it is to gather, in words; empty where it has none of its own. `places_open`: how many more
    workers may begin now; None: as many as come. `opens_at`: when the run's hours begin again; None: they are
    not over. `spent`: what the assignments cost that are paid in full, with fees. `retention`: when words and
    ids of workers are removed, in words; empty where they stay.
    """

    target: str
    places_open: int | None
    opens_at: ShownTime | None
    spent: float | None
    budget: float | None
    currency: str
    retention: str


class RunSummary(BaseModel):
    """A run in a few numbers: those of people, and beside them those of simulated workers.

    `cause` and `reason` say why it has its status: what has led to it, and a sentence, if somebody gave one.
    `places`: how many assignments are wanted by its rules or its study, None where nobody knows.
    `minutes_to_go`: until they are all handed in, at the pace of the last hour; None where that cannot be
    told. `waiting`: workers whose bot was asked in vain for the line that they wait for.
    """

    run: str
    study: str
    title: str
    status: RunStatus
    cause: Cause
    reason: str
    created_at: ShownTime
    worker_link: str
    assignments: AssignmentCounts
    conversations_rated: int
    simulated: AssignmentCounts
    simulated_conversations_rated: int
    places: int | None
    minutes_to_go: int | None
    waiting: int
    limits: RunLimits


class RunList(BaseModel):
    """Every run, newest first."""

    runs: list[RunSummary]


class SystemProgress(BaseModel):
    """A system's conversations, or items, by how they stand.

    `unrated`: those that their workers were not asked to rate. `aim`: how many it is to have in the balance
    aimed at, once every place is filled, or by now where there is no end to them; None of items.
    """

    system: str
    family: str
    is_qc: bool
    planned: int
    active: int
    rated: int
    unrated: int
    failed: int
    skipped: int
    inputs: int
    aim: float | None


class AssignmentRow(BaseModel):
    """An assignment in the list of its run. `worker` is a pseudonym.

    `step` is where the worker is, or was at the end; `position` and `system` are of the conversation there,
    `inputs_here` its lines; two side by side count as one, and the left one is named. `away_since`: their
    page is gone since then, None while it is open. `excluded`: why analyses leave it out, None where they do
    not. `failed_tries`: how often the bot was asked in vain for the line that they wait for. `active_at`:
    last heard of. `p`: of the worker filter when the run was last analysed; no verdict while ratings come in.
    `left_with_report`: they have reported a message and left with it.
    """

    assignment: str
    worker: str
    simulated: bool
    status: AssignmentStatus
    step: Phase
    position: int | None
    system: str | None
    conversations_rated: int
    inputs: int
    inputs_here: int
    p: float | None
    failed_tries: int
    started_at: ShownTime | None
    active_at: ShownTime | None
    ended_at: ShownTime | None
    away_since: ShownTime | None
    excluded: str | None
    left_with_report: bool
    completion_code: str | None


class FunnelStep(BaseModel):
    """A step of an assignment: how many came so far, are there now, and ended there without handing in.

    `position` counts conversations from 1; None of the steps before and after them.
    """

    step: Phase
    position: int | None
    reached: int
    now: int
    lost: int


class BotReplies(BaseModel):
    """How the bot of a system has answered, everybody who chatted with it taken together.

    `floor_ms` is the typing-time floor: as long as `p95_ms` lies below it, the bot's pace does not tell it
    apart. `late`: replies to people that came after the delay drawn for them. `failed_tries` by kind are all
    so far; `failing` are those in a row since its last reply. `offensive`: replies with words of the list;
    `flagged`: those that the moderation service flags.
    `replicas`: of a registered bot, by state.
    """

    system: str
    bot: str
    replies: int
    p50_ms: int | None
    p95_ms: int | None
    floor_ms: int
    late: int
    failed_tries: dict[FailureKind, int]
    failing: int
    gave_away: int
    offensive: int
    flagged: int
    replicas: dict[Literal["fine", "failing", "resting"], int]


class IncidentRow(BaseModel):
    """Something that went wrong in a conversation."""

    at: ShownTime
    kind: str
    failure: str | None
    text: str
    system: str
    worker: str
    assignment: str
    simulated: bool


class Attention(BaseModel):
    """Something that a researcher should see. `urgent`: workers are kept waiting, or data are being lost.

    `system` or `assignments` name what it is about. `workers`: what those of the assignments have in common:
    they wait for a bot, their page is gone, they have reported a message, or a line is flagged.
    """

    urgent: bool
    text: str
    system: str | None = None
    workers: Literal["waiting", "away", "reported", "flagged"] | None = None
    assignments: list[str] = []


class PassCounts(BaseModel):
    """How many workers pass the filter so far, fail it, or have not rated enough to tell."""

    passed: int
    failed: int
    undecided: int


class WorkerStanding(BaseModel):
    """The filter's p of a worker by what they have rated; None where that does not tell."""

    worker: str
    p: float | None
    conversations: int


class ScoreStanding(BaseModel):
    """The score of a system so far, from `low` to `high`: a confidence sequence, valid at every look."""

    system: str
    conversations: int
    raters: int
    z: float | None
    low: float | None
    high: float | None


class RunAnalysis(BaseModel):
    """How a run stood when it was last analysed. `widest`: of the intervals, in units of z."""

    at: ShownTime
    ratings: int
    pass_rate: PassCounts
    workers: list[WorkerStanding]
    scores: list[ScoreStanding]
    widest: float | None
    notes: list[str]


class RunDetail(RunSummary):
    """A run with the progress of its systems, and its assignments, newest first.

    `systems` and `funnel` are of people; what simulated workers have done stands apart. `incidents` has the
    latest.
    """

    systems: list[SystemProgress]
    simulated_systems: list[SystemProgress]
    funnel: list[FunnelStep]
    simulated_funnel: list[FunnelStep]
    bots: list[BotReplies]
    incidents: list[IncidentRow]
    analysis: RunAnalysis | None
    attention: list[Attention]
    workers: list[AssignmentRow]


class RunListUpdate(BaseModel):
    """What has changed in the list of runs: those that differ. `whole`: these are all, newest first."""

    whole: bool
    runs: list[RunSummary]


class RunUpdate(BaseModel):
    """What has changed of a run since the event before: the parts of RunDetail that differ, and no other.

    `run` has all of its RunSummary. `whole`: this is all that there is. `workers` has the assignments that
    differ, or are new; `gone` the ids of those that are there no more.
    """

    whole: bool
    run: RunSummary | None = None
    systems: list[SystemProgress] | None = None
    simulated_systems: list[SystemProgress] | None = None
    funnel: list[FunnelStep] | None = None
    simulated_funnel: list[FunnelStep] | None = None
    bots: list[BotReplies] | None = None
    incidents: list[IncidentRow] | None = None
    analysis: RunAnalysis | None = None
    attention: list[Attention] | None = None
    workers: list[AssignmentRow]
    gone: list[str]
