"""Cards: the parts of server messages that describe a study, a conversation, a question or a quiz."""

from typing import Literal

from server.session.answer_kinds import AnswerForm
from server.session.instrument import Consent, Display, Lab, Opinion, Side, Task, TopicMode
from server.session.item import ItemContent
from server.session.protocol.text import WireModel
from server.session.questionnaire import Questionnaires
from server.session.records import ReportReason
from server.session.texts import TextsCard


class CriterionCard(WireModel):
    """A statement to rate. The label names the answer and is never shown. `scale`: null for a slider."""

    label: str
    statement: str
    scale: AnswerForm | None = None


class PostEditCard(WireModel):
    """A text rated below `top` on this criterion, named by its label, must be improved."""

    criterion: str
    top: int


class ComparisonCard(WireModel):
    """The comparison of two chatbots: after each turn or at the end, with or without ties, and the question.

    `history`: each chatbot gets its own earlier replies (`own`), or those that the worker chose (`chosen`).
    """

    choose: Literal["end", "turn"]
    history: Literal["own", "chosen"]
    ties: bool
    question: str | None


class StudyCard(WireModel):
    """The facts about a study that a worker may know.

    `task`: workers chat, rate items, or chat with two chatbots side by side. `conversations` counts
    conversations, items or pairs. `comparison`: how they compare the two. `rates_all`: they rate every
    conversation, not only some. `duration`: about how many minutes it takes. `transcript_while_rating`: the
    conversation is visible while it is rated. `turn_points`: the number of points for rating single replies;
    2 means thumbs. `withdrawal_days`: for how many days after the end they can download or withdraw their
    data. `records_writing`: the page sends with each message how it was written, and tells the worker so.
    `moderation`: the check of lines; with `classifier` the worker is told that a service does it. `contact`:
    the researchers' address. `lab`: whose name and logo the page has. `words`: texts that replace the page's
    own.
    """

    title: str
    payment: str
    task: Task
    conversations: int
    minimum_inputs: int
    maximum_inputs: int
    topic_mode: TopicMode
    rates_all: bool
    criteria: list[CriterionCard]
    post_edit: PostEditCard | None
    comparison: ComparisonCard | None = None
    display: Display = Display()
    duration: int | None
    transcript_while_rating: bool
    turn_points: int | None = None
    withdrawal_days: int | None = None
    records_writing: bool = False
    moderation: Literal["words", "classifier"] = "words"
    consent: Consent | None
    contact: str | None
    lab: Lab | None = None
    words: TextsCard | None
    questionnaires: Questionnaires = Questionnaires()


class TurnCard(WireModel):
    """One line of the conversation, as shown.

    `right`: the reply on the right, if two chatbots have answered; `text` is the one on the left then. If
    replies appear word by word, the last one has its `pace`, in milliseconds a word, and `shown_for`, the
    milliseconds since it began to appear. `value`: the worker's rating of a reply, a point from 1.
    """

    turn: int
    author: Literal["worker", "bot"]
    text: str
    right: str | None = None
    pace: int | None = None
    shown_for: int | None = None
    value: int | None = None


class ReportCard(WireModel):
    """The worker's report of line `turn`, if not taken back. `side`: for a pair, the side of the line."""

    turn: int
    side: Side | None
    reason: ReportReason
    note: str | None


class ConversationCard(WireModel):
    """The worker's current conversation: its number in the assignment, and the attempt, both from 1.

    `attempt` is above 1 if the conversation began again because a chatbot failed. `icebreaker` is the study's
    opening topic, in the topic phase. `topic` is the current topic once the chat has begun; `opinion` and
    `bot_opinion` are the worker's latest statements about it. `inputs` counts the worker's messages.
    `typing`: a reply is due. `item` is an item to read and rate, in place of a chat. `scenario`: the
    situation or task of the conversation. `choice_due`: the line after which the worker must choose between
    two replies or conversations, null if there is nothing to choose now. `side`: the side of a pair to rate.
    `reports`: the worker's reports of the conversation.
    """

    conversation: int
    attempt: int
    icebreaker: str | None
    topic: str | None
    opinion: Opinion | None
    bot_opinion: Opinion | None
    turns: list[TurnCard]
    inputs: int
    typing: bool
    item: ItemContent | None
    choice_due: int | None = None
    side: Side | None = None
    scenario: str | None = None
    reports: tuple[ReportCard, ...] = ()


class QuestionCard(WireModel):
    """A test question, number `question` of `questions`: a text, a question about it, and the answers.

    `why` explains the question's right answer to a worker who has just given a wrong one.
    """

    question: int
    questions: int
    text: str
    asked: str
    answers: list[str]
    why: str | None


class QuizCard(WireModel):
    """The quiz about a conversation, its number and attempt: the lines, of which the chat partner said one.

    The conversation is not shown with it: otherwise a right answer would prove nothing.
    """

    conversation: int
    attempt: int
    lines: list[str]


class WayBackCard(WireModel):
    """The link with which workers who could not take part return the study. `to` pays nothing."""

    platform: str
    to: str | None
