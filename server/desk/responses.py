"""What the researcher's API answers, call by call. `/api/openapi.json` is made from these models."""

from typing import Literal

from pydantic import BaseModel

from server.clock import ShownTime
from server.db.runs import Cause, RunStatus
from server.session.comparison import Preference, Side
from server.session.instrument import Opinion, TopicChangeKind
from server.session.item import ItemContent, ItemKind
from server.session.records import Closing
from server.session.state import ConversationStatus

AssignmentStatus = Literal["active"] | Closing


class AssignmentCounts(BaseModel):
    """How many assignments of a run stand where."""

    active: int
    completed: int
    returned: int
    expired: int


class RunSummary(BaseModel):
    """A run in a few numbers: those of people, and beside them those of simulated workers.

    `cause` and `reason` say why it has its status: what has led to it, and a sentence, if somebody gave one.
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


class RunList(BaseModel):
    """Every run, newest first."""

    runs: list[RunSummary]


class SystemProgress(BaseModel):
    """A system's conversations, or items, by how they stand, and how it has answered.

    `unrated`: those that their workers were not asked to rate.
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
    median_latency_ms: int | None


class AssignmentRow(BaseModel):
    """An assignment in the list of its run. `worker` is a pseudonym."""

    assignment: str
    worker: str
    simulated: bool
    status: AssignmentStatus
    conversations_rated: int
    inputs: int
    started_at: ShownTime | None
    active_at: ShownTime | None
    ended_at: ShownTime | None
    completion_code: str | None


class RunDetail(RunSummary):
    """A run with the progress of its systems, and its assignments, newest first."""

    systems: list[SystemProgress]
    workers: list[AssignmentRow]


class TopicRow(BaseModel):
    """A topic of a conversation; `how` and `bot_opinion` are None for its first."""

    round: int
    topic: str
    how: TopicChangeKind | None
    opinion: Opinion
    bot_opinion: Opinion | None


class TurnRow(BaseModel):
    """A line of a conversation. A bot's has the milliseconds that it took."""

    turn_index: int
    author: Literal["worker", "bot"]
    text: str
    created_at: ShownTime
    latency_ms: int | None


class RatingRow(BaseModel):
    """What a worker has rated on one criterion, from 0 to 100."""

    criterion: str
    statement: str
    value: int


class ShownItemRow(BaseModel):
    """What was read in place of a chat. `twin_of`: the position of the ordinary item that it belongs to.

    `edited_text`: the text as the worker has improved it, if they were asked to.
    """

    kind: ItemKind
    twin_of: int | None
    content: ItemContent
    edited_text: str | None


class ChoiceRow(BaseModel):
    """Which of two conversations side by side the worker has preferred, after line `turn_index` of both."""

    turn_index: int
    preference: Preference


class ConversationDetail(BaseModel):
    """A conversation, attempt by attempt, or an item that was read. `incidents`: what went wrong.

    `side`: of two side by side, which one; the left one has the worker's `choices`.
    """

    position: int
    attempt: int
    system: str
    family: str
    is_qc: bool
    status: ConversationStatus
    persona: list[str]
    item: ShownItemRow | None
    topic_marks: list[TopicRow]
    turns: list[TurnRow]
    ratings: list[RatingRow]
    incidents: list[str]
    side: Side | None
    choices: list[ChoiceRow]


class AssignmentDetail(BaseModel):
    """Everything about one assignment."""

    assignment: str
    worker: str
    simulated: bool
    status: AssignmentStatus
    feedback: str | None
    conversations: list[ConversationDetail]


class SystemQuality(BaseModel):
    """How good a simulated worker finds the system of a conversation, by its number: 0 is bad, 1 is good.

    `item` names what is rated where nothing is chatted: an item, its repeat and its twins have one name.
    """

    conversation: int
    attempt: int
    quality: float
    item: str | None


class CriterionSigns(BaseModel):
    """Whether agreement with a criterion speaks against a system, and whether it counts for the filter."""

    label: str
    negative: bool
    qc: bool


class SimulatedBeliefs(BaseModel):
    """What a simulated worker believes of the systems of its assignment.

    `answers` are the right ones to the test questions, in their order.
    """

    conversations: list[SystemQuality]
    criteria: list[CriterionSigns]
    answers: list[int]
