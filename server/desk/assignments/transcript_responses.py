"""Responses of the researcher's API about conversations: transcripts and search results."""

from typing import Literal

from pydantic import BaseModel

from server.clock import ShownTime
from server.desk.runs.responses import AssignmentStatus
from server.session.conversation import ConversationStatus
from server.session.instrument import Opinion, Preference, Side, TopicChangeKind
from server.session.item import ItemContent, ItemKind
from server.session.records import ReportReason


class TopicRow(BaseModel):
    """A topic of a conversation; `how` and `bot_opinion` are None for its first."""

    round: int
    topic: str
    how: TopicChangeKind | None
    opinion: Opinion
    bot_opinion: Opinion | None


class PointRow(BaseModel):
    """What a worker thought of a single reply: point `point` of `points`. Two points are thumbs: down, up."""

    point: int
    points: int


class FlagRow(BaseModel):
    """That a line may be offensive: by lists of words, and these, or by a classifier, and its categories.

    `seen_at`, `seen_by`: who has marked what the classifier says as seen.
    """

    by: Literal["words", "classifier"]
    reason: str
    seen_at: ShownTime | None = None
    seen_by: str | None = None


class TurnRow(BaseModel):
    """A line of a conversation. A bot's has the milliseconds it took, and what the worker thought of it.

    `pasted`: characters of a worker's line that were pasted, where that is recorded.
    """

    turn_index: int
    author: Literal["worker", "bot"]
    text: str
    created_at: ShownTime
    latency_ms: int | None
    rating: PointRow | None
    pasted: int | None
    flags: list[FlagRow]


WritingMeasure = Literal["pasted", "typed", "pace", "pause", "away", "away_seconds"]


class WritingRow(BaseModel):
    """How a worker writes, in one measure, beside the workers of the run of whom it is known.

    `pasted`, `typed`: shares of all characters that they wrote; `pace`: characters a minute that were not
    pasted; `pause`: the longest, in seconds; `away`: how often the page lost the focus, `away_seconds` for
    how long. `low`, `median`, `high`: the quartiles of all of them; None of fewer than two.
    """

    measure: WritingMeasure
    value: float | None
    low: float | None
    median: float | None
    high: float | None
    workers: int


class RatingRow(BaseModel):
    """What a worker has rated on one criterion, from 0 to 100."""

    criterion: str
    statement: str
    value: int


class AnswerRow(BaseModel):
    """What a worker answered to a question of the study's own. Several choices are as many `answers`."""

    label: str
    question: str
    answers: list[str]


class ScenarioRow(BaseModel):
    """The situation or task of a conversation, as the worker was shown it."""

    label: str
    text: str


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


class MessageReportRow(BaseModel):
    """What the worker has reported of line `turn_index`, of an item its line, and who has seen it.

    `leaves`: they left the study with it. `taken_back_at`: they took it back, or reported the line anew.
    """

    id: int
    turn_index: int
    reason: ReportReason
    note: str | None
    leaves: bool
    created_at: ShownTime
    taken_back_at: ShownTime | None
    seen_at: ShownTime | None
    seen_by: str | None


class NotedRow(BaseModel):
    """Something that went wrong in a conversation, or that should not have been said."""

    kind: str
    text: str


class ConversationDetail(BaseModel):
    """A conversation, attempt by attempt, or an item that was read. `incidents`: what went wrong.

    `side`: of two side by side, which one; the left one has the worker's `choices`. `number`: as the worker
    counts, two side by side being one.
    """

    position: int
    number: int
    attempt: int
    system: str
    family: str
    is_qc: bool
    status: ConversationStatus
    scenario: ScenarioRow | None
    persona: list[str]
    item: ShownItemRow | None
    topic_marks: list[TopicRow]
    turns: list[TurnRow]
    ratings: list[RatingRow]
    answers: list[AnswerRow]
    incidents: list[NotedRow]
    reports: list[MessageReportRow]
    side: Side | None
    choices: list[ChoiceRow]


class AssignmentDetail(BaseModel):
    """Everything about one assignment. `before`, `after`: what was answered to its questionnaires.

    `writing`: how its worker writes, where that is recorded.
    """

    assignment: str
    worker: str
    simulated: bool
    status: AssignmentStatus
    feedback: str | None
    before: list[AnswerRow]
    conversations: list[ConversationDetail]
    after: list[AnswerRow]
    writing: list[WritingRow]


class ConversationHit(BaseModel):
    """A conversation that a search has found. `line` is the first of its lines that has the words, if any."""

    conversation: str
    assignment: str
    worker: str
    simulated: bool
    position: int
    system: str
    status: ConversationStatus
    inputs: int
    incidents: int
    started_at: ShownTime | None
    line: str | None


class ConversationHits(BaseModel):
    """A page of conversations, newest first. `after`: give it to get the next page; None: there is none."""

    conversations: list[ConversationHit]
    after: str | None


class SystemQuality(BaseModel):
    """How good a simulated worker finds the system of a conversation, by its number: 0 is bad, 1 is good.

    `system` names it where it is chatted with. `item` names what is rated where nothing is chatted: an item,
    its repeat and its twins have one name.
    """

    conversation: int
    attempt: int
    quality: float
    item: str | None
    system: str | None


class CriterionSigns(BaseModel):
    """Whether agreement with a criterion speaks against a system, and whether it counts for the filter."""

    label: str
    negative: bool
    qc: bool


class CrowdQuestion(BaseModel):
    """What is to be known before simulated workers take part; None where that costs nothing."""

    question: str | None


class SimulatedBeliefs(BaseModel):
    """What a simulated worker believes of the systems of its assignment.

    `answers` are the right ones to the test questions, in their order.
    """

    conversations: list[SystemQuality]
    criteria: list[CriterionSigns]
    answers: list[int]
