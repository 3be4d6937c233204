"""Messages from a worker's page."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter

from server.session.instrument import Label, Opinion, Preference, Side, TopicChangeKind
from server.session.protocol.message import Message
from server.session.protocol.text import (
    MAX_TOKEN,
    Answers,
    Edit,
    FeedbackText,
    MessageId,
    ReportNote,
    Said,
    Score,
    TopicText,
)
from server.session.questionnaire import MAX_POINTS
from server.session.records import ReportReason
from server.session.writing import Writing


class _ClientMessage(Message):
    """What a page sends has an `id` that the page has made."""

    id: MessageId


class Hello(_ClientMessage):
    """Open the session that `token` names. Must be the first message on a connection.

    `protocol` is the version that the page speaks; version 1 did not name it. Fields that are not known here
    are ignored, so that a page of any other version is told to load itself again.
    """

    model_config = ConfigDict(extra="ignore")

    type: Literal["hello"]
    token: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOKEN)]
    protocol: Annotated[int, Field(strict=True)] | None = None


class Agree(_ClientMessage):
    """The worker has read the instructions and consents.

    Where the study has a consent: to which version of it, and which boxes, by their labels, are ticked.
    """

    type: Literal["agree"]
    consent: Annotated[str, StringConstraints(max_length=40)] | None = None
    ticked: Annotated[list[Label], Field(max_length=20)] = Field(default=[])


class _ForConversation(_ClientMessage):
    """What belongs to a conversation names it by its number in the assignment, and the attempt at it.

    Both are counted from 1. A page that was away for long may send what it still holds when the worker, on
    another device, is already in a later conversation, or in the same one with another system.
    """

    conversation: Annotated[int, Field(ge=1, strict=True)]
    attempt: Annotated[int, Field(ge=1, strict=True)]


class Topic(_ForConversation):
    """The opening topic of a conversation: typed by the worker, or left out where the study picks it."""

    type: Literal["topic"]
    text: TopicText | None = None
    opinion: Opinion


class Say(_ForConversation):
    """One input of the worker: line number `turn` of the conversation, counted from 0.

    `writing`: how it was written, where the study records that.
    """

    type: Literal["say"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    text: Said
    writing: Writing | None = None


class TopicChange(_ForConversation):
    """The topic has changed: how, to what, and what both sides seem to think of it."""

    type: Literal["topic_change"]
    how: TopicChangeKind
    topic: TopicText
    opinion: Opinion
    bot_opinion: Opinion


class EndConversation(_ForConversation):
    """The worker is done chatting and goes on to rate."""

    type: Literal["end_conversation"]


class Rate(_ForConversation):
    """One value for every criterion of the study that is rated, by its label: from 0 to 100, or the point of
    its Likert scale, from 1.

    `answers` are those to the study's own questions, and to criteria that are not rated. `edit` is the
    improved text, where the study asks for it and the text was not rated at the top. `side`: of two
    conversations beside each other, which one is rated.
    """

    type: Literal["rate"]
    ratings: Annotated[dict[str, Score], Field(max_length=50)]
    answers: Answers = Field(default={})
    edit: Edit | None = None
    side: Side | None = None


class Choose(_ForConversation):
    """Which of two conversations the worker prefers, after line number `turn` of both."""

    type: Literal["choose"]
    turn: Annotated[int, Field(ge=1, strict=True)]
    preference: Preference


class AnswerQuiz(_ForConversation):
    """Which line of the quiz the worker says that their partner said, from 1."""

    type: Literal["answer_quiz"]
    choice: Annotated[int, Field(ge=1, strict=True)]


class RateTurn(_ForConversation):
    """What the worker thinks of reply number `turn`: a point from 1. It takes the place of an earlier one."""

    type: Literal["rate_turn"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    value: Annotated[int, Field(ge=1, le=MAX_POINTS, strict=True)]


class Report(_ForConversation):
    """Line number `turn` should not have been said: why, with a note. It takes an earlier report's place.

    `leave`: the worker leaves the study with it, and is paid in full. `side`: of two chatbots beside each
    other, which one's line it is; none where both stand for one line.
    """

    type: Literal["report"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    side: Side | None = None
    reason: ReportReason
    note: ReportNote = ""
    leave: Annotated[bool, Field(strict=True)] = False


class TakeBackReport(_ForConversation):
    """What was reported of line number `turn` is taken back. `side`: as it was reported."""

    type: Literal["take_back_report"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    side: Side | None = None


class Questionnaire(_ClientMessage):
    """The worker's answers before, or after, all conversations, by the labels of the questions."""

    type: Literal["questionnaire"]
    part: Literal["before", "after"]
    answers: Answers


class Answer(_ClientMessage):
    """The worker's answer to a test question of the tutorial. Both are numbers, from 1."""

    type: Literal["answer"]
    question: Annotated[int, Field(ge=1, strict=True)]
    answer: Annotated[int, Field(ge=1, strict=True)]


class Feedback(_ClientMessage):
    """What the worker wants to tell the researchers; empty when nothing. Hands the assignment in."""

    type: Literal["feedback"]
    text: FeedbackText


class Leave(_ClientMessage):
    """The worker gives the assignment back."""

    type: Literal["leave"]


ClientMessage = Annotated[
    Hello
    | Agree
    | Questionnaire
    | Answer
    | Topic
    | Say
    | TopicChange
    | EndConversation
    | Choose
    | Rate
    | RateTurn
    | Report
    | TakeBackReport
    | AnswerQuiz
    | Feedback
    | Leave,
    Field(discriminator="type"),
]

client_messages: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
