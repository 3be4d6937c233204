"""Responses of the researcher's API about runs. `/api/openapi.json` is generated from these models."""

from typing import Literal

from pydantic import BaseModel

from bots.serving import FailureKind
from server.clock import ShownTime
from server.db.runs.runs import Cause, RunStatus
from server.session.records import Closing
from server.session.state import Phase

AssignmentStatus = Literal["active"] | Closing


class AssignmentCounts(BaseModel):
    """The number of a run's assignments by status."""

    active: int
    completed: int
    returned: int
    expired: int


class RunLimits(BaseModel):
    """The rules of a run and how far they are used up. They apply to people, not to simulated workers.

    `target`: the run's target in words; empty if it has none. `places_open`: how many more workers may begin
    now; None: no limit. `opens_at`: when the run's opening hours begin again; None: they have not ended.
    `spent`: the cost with fees of assignments that are paid in full. `retention`: when words and ids of
    workers are removed, in words; empty if they are kept.
    """

    target: str
    places_open: int | None
    opens_at: ShownTime | None
    spent: float | None
    budget: float | None
    currency: str
    retention: str


class RunSummary(BaseModel):
    """A summary of a run, with separate numbers for people and for simulated workers.

    `cause` and `reason` explain its status: the kind of cause, and a sentence if somebody gave one. `places`:
    the number of assignments that its rules or study want, None if unknown. `minutes_to_go`: the time until
    all of them are submitted, at the pace of the last hour; None if it cannot be estimated. `waiting`: the
    number of workers whose bot has failed to reply.
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
    """A system's conversations or items, by status.

    `unrated`: those that workers were not asked to rate. `aim`: the number for perfect balance once every
    slot is filled, or by now if the number of slots is unlimited; None for items.
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

    `step`: the worker's current or last step. `position`, `system` and `inputs_here`: the number, system and
    messages of the conversation there; a side-by-side pair counts as one, with the left system. `away_since`:
    when the worker's page was closed, None while it is open. `excluded`: why analyses exclude it, None if
    they do not. `failed_tries`: failed attempts to get the reply that the worker waits for. `active_at`: the
    worker's last activity. `p`: the interim p-value of the worker filter in the latest analysis.
    `left_with_report`: the worker reported a message and left.
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
    """A step of an assignment: how many workers reached it, are there now, and stopped there.

    `position` counts conversations from 1; None for the steps before and after them.
    """

    step: Phase
    position: int | None
    reached: int
    now: int
    lost: int


class BotReplies(BaseModel):
    """Statistics of the replies of a system's bot, over all workers.

    `floor_ms`: the typing-time floor. While `p95_ms` is below it, workers cannot recognise the bot by its
    pace. `late`: replies to people that came after their planned delay. `failed_tries`: all failed attempts,
    by kind; `failing`: failed attempts since the last reply. `offensive`: replies with listed words;
    `flagged`: replies flagged by the moderation service. `replicas`: the replicas of a registered bot, by
    state.
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
    """Something that a researcher should see. `urgent`: workers are waiting, or data are being lost.

    `system` and `assignments` name its subject. `workers`: what the assignments have in common: their workers
    wait for a bot, have closed their page, or have reported a message, or a turn is flagged.
    """

    urgent: bool
    text: str
    system: str | None = None
    workers: Literal["waiting", "away", "reported", "flagged"] | None = None
    assignments: list[str] = []


class PassCounts(BaseModel):
    """The number of workers who pass the filter so far, fail it, or have not rated enough yet."""

    passed: int
    failed: int
    undecided: int


class WorkerStanding(BaseModel):
    """The p-value of the worker filter from a worker's ratings so far; None if there are too few."""

    worker: str
    p: float | None
    conversations: int


class ScoreStanding(BaseModel):
    """The interim score of a system. `low` and `high`: a confidence sequence, valid at any time."""

    system: str
    conversations: int
    raters: int
    z: float | None
    low: float | None
    high: float | None


class RunAnalysis(BaseModel):
    """The latest analysis of a run. `widest`: the width of the widest interval, in units of z."""

    at: ShownTime
    ratings: int
    pass_rate: PassCounts
    workers: list[WorkerStanding]
    scores: list[ScoreStanding]
    widest: float | None
    notes: list[str]


class RunDetail(RunSummary):
    """A run with the progress of its systems, and its assignments, newest first.

    `systems` and `funnel` are about people; simulated workers have their own. `incidents` has the latest
    ones.
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
    """The runs of the list that have changed. `whole`: these are all runs, newest first."""

    whole: bool
    runs: list[RunSummary]


class RunUpdate(BaseModel):
    """The parts of RunDetail that have changed since the previous event.

    `run` has the whole RunSummary. `whole`: the event contains everything. `workers`: assignments that are
    new or have changed; `gone`: ids of removed ones.
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
