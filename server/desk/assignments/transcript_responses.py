"""Responses of the researcher's API about conversations: transcripts and search results."""

from typing import Literal

from pydantic import BaseModel

from server.clock import ShownTime
from server.desk.runs.responses import AssignmentStatus
from server.session.answer_kinds import Mark
from server.session.conversation import ConversationStatus
from server.session.instrument import Opinion, Preference, Side, TopicChangeKind
from server.session.item import ItemContent, ItemKind
from server.session.records import ReportReason


class TopicRow(BaseModel):
    """A topic of a conversation. `how` and `bot_opinion` are None for the first topic."""

    round: int
    topic: str
    how: TopicChangeKind | None
    opinion: Opinion
    bot_opinion: Opinion | None


class PointRow(BaseModel):
    """A worker's rating of a single reply: point `point` of `points`. Two points are thumbs down and up."""

    point: int
    points: int


class FlagRow(BaseModel):
    """A flag of a possibly offensive turn, set by a word list or a classifier.

    `reason`: the words found, or the classifier's categories. `seen_at`, `seen_by`: when and by whom a
    classifier's flag was marked as seen.
    """

    by: Literal["words", "classifier"]
    reason: str
    seen_at: ShownTime | None = None
    seen_by: str | None = None


class TurnRow(BaseModel):
    """A turn of a conversation. A bot's reply has its latency in milliseconds, and the worker's rating.

    `pasted`: the number of pasted characters in a worker's message, if it was recorded.
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
    """A measure of a worker's writing, with quartiles over the run's workers.

    `pasted`, `typed`: shares of all characters; `pace`: characters per minute that were not pasted; `pause`:
    the longest pause in seconds; `away`: how often the page lost the focus, `away_seconds`: for how long.
    `low`, `median`, `high`: quartiles over the `workers` with a known value; None for fewer than two.
    """

    measure: WritingMeasure
    value: float | None
    low: float | None
    median: float | None
    high: float | None
    workers: int


class RatingRow(BaseModel):
    """A worker's rating on one criterion, from 0 to 100."""

    criterion: str
    statement: str
    value: int


class AnswerRow(BaseModel):
    """A worker's answer to a question of the study.

    `answers` has one entry per chosen option, or per mark. `marks`: marks in the conversation or item, in its
    `output` or `context`.
    """

    label: str
    question: str
    answers: list[str]
    marks: list[Mark] = []
    marked: Literal["output", "context"] | None = None


class ScenarioRow(BaseModel):
    """The situation or task of a conversation, as the worker saw it."""

    label: str
    text: str


class ShownItemRow(BaseModel):
    """An item that was shown instead of a chat. `twin_of`: the position of the ordinary item it belongs to.

    `edited_text`: the text as improved by the worker, if the study asks for that.
    """

    kind: ItemKind
    twin_of: int | None
    content: ItemContent
    edited_text: str | None


class ChoiceRow(BaseModel):
    """The worker's preference between two side-by-side conversations, after turn `turn_index` of both."""

    turn_index: int
    preference: Preference


class MessageReportRow(BaseModel):
    """A worker's report of turn `turn_index`, or of a line of an item, and who has seen it.

    `leaves`: the worker left the study with it. `taken_back_at`: when they withdrew it or reported the turn
    again.
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
    """An incident in a conversation, or offensive words."""

    kind: str
    text: str


class ConversationDetail(BaseModel):
    """One attempt of a conversation, or an item that was shown.

    `side`: the side of a side-by-side pair; the left conversation has the worker's `choices`. `number`: its
    number on the worker's page, where a pair counts as one.
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
    """All details of one assignment. `before`, `after`: the answers to its questionnaires.

    `writing`: statistics of the worker's writing, if recorded.
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
    """A conversation found by a search. `line`: its first turn with the searched words, if any."""

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
    """A page of conversations, newest first. `after`: the argument for the next page; None on the last."""

    conversations: list[ConversationHit]
    after: str | None


class WorkerHit(BaseModel):
    """An assignment of a worker who was found by pseudonym."""

    assignment: str
    worker: str
    run: str
    study: str


class WorkerHits(BaseModel):
    """The newest assignments of the workers found."""

    workers: list[WorkerHit]
