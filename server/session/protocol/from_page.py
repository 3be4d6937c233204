"""Messages from a worker's page."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter

from server.session.answer_kinds import MAX_POINTS
from server.session.instrument import Label, Opinion, Preference, Side, TopicChangeKind
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
    WireModel,
)
from server.session.records import ReportReason, Writing


class _ClientMessage(WireModel):
    """A message from a page, with an `id` that the page has made."""

    id: MessageId


class Hello(_ClientMessage):
    """Open the session that `token` names. Must be the first message on a connection.

    `protocol` is the version that the page speaks; version 1 did not name it. Unknown fields are ignored, so
    that a page of any other version can be told to reload itself.
    """

    model_config = ConfigDict(extra="ignore")

    type: Literal["hello"]
    token: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOKEN)]
    protocol: Annotated[int, Field(strict=True)] | None = None


class Agree(_ClientMessage):
    """The worker has read the instructions and consents.

    If the study has a consent form: `consent` is its version, and `ticked` has the labels of the ticked
    boxes.
    """

    type: Literal["agree"]
    consent: Annotated[str, StringConstraints(max_length=40)] | None = None
    ticked: Annotated[list[Label], Field(max_length=20)] = Field(default=[])


class _ForConversation(_ClientMessage):
    """A message for a conversation, named by its number in the assignment and the attempt, both from 1.

    A page that was away for long may send old messages when the worker, on another device, is already in a
    later conversation, or in the same one with another system. These are refused by their numbers.
    """

    conversation: Annotated[int, Field(ge=1, strict=True)]
    attempt: Annotated[int, Field(ge=1, strict=True)]


class Topic(_ForConversation):
    """The opening topic of a conversation: typed by the worker, or left out if the study chooses it."""

    type: Literal["topic"]
    text: TopicText | None = None
    opinion: Opinion


class Say(_ForConversation):
    """One message of the worker: line number `turn` of the conversation, counted from 0.

    `writing`: how it was written, if the study records that.
    """

    type: Literal["say"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    text: Said
    writing: Writing | None = None


class TopicChange(_ForConversation):
    """The topic has changed: how, to what, and both sides' apparent opinions of it."""

    type: Literal["topic_change"]
    how: TopicChangeKind
    topic: TopicText
    opinion: Opinion
    bot_opinion: Opinion


class EndConversation(_ForConversation):
    """The worker ends the chat and goes on to rate."""

    type: Literal["end_conversation"]


class Rate(_ForConversation):
    """One value for each rated criterion of the study, by its label: from 0 to 100, or the point of its
    Likert scale, from 1.

    `answers` are those to the study's own questions, and to criteria that are not rated. `edit` is the
    improved text, if the study asks for one and the text was not rated at the top. `side`: for a pair, the
    side that is rated.
    """

    type: Literal["rate"]
    ratings: Annotated[dict[str, Score], Field(max_length=50)]
    answers: Answers = Field(default={})
    edit: Edit | None = None
    side: Side | None = None


class Choose(_ForConversation):
    """The worker's choice between two conversations, after line number `turn` of both."""

    type: Literal["choose"]
    turn: Annotated[int, Field(ge=1, strict=True)]
    preference: Preference


class AnswerQuiz(_ForConversation):
    """The number, from 1, of the quiz line that the worker thinks is their partner's."""

    type: Literal["answer_quiz"]
    choice: Annotated[int, Field(ge=1, strict=True)]


class RateTurn(_ForConversation):
    """The worker's rating of reply number `turn`: a point from 1. It replaces an earlier one."""

    type: Literal["rate_turn"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    value: Annotated[int, Field(ge=1, le=MAX_POINTS, strict=True)]


class Report(_ForConversation):
    """A report of line number `turn` as unacceptable: the reason, and a note. It replaces an earlier report.

    `leave`: the worker leaves the study with the report, and is paid in full. `side`: for a pair, the side of
    the line; none if both sides show the same line.
    """

    type: Literal["report"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    side: Side | None = None
    reason: ReportReason
    note: ReportNote = ""
    leave: Annotated[bool, Field(strict=True)] = False


class TakeBackReport(_ForConversation):
    """The report of line number `turn` is taken back. `side`: as in the report."""

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
    """The worker's comments for the researchers; empty if there are none. Submits the assignment."""

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
