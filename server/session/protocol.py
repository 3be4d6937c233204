"""The wire between a worker's page and the server: JSON messages over one WebSocket.

A page sends one message a frame. A frame of the server's is an array of messages: all that there was to say
by then. Only the answer to a page of another version is a message by itself, which every version can read.

Every client message carries an `id` made by the client. The server answers it with `accepted` once
what it says is on disk and all that it led to was sent, or with an `error` that names the id. Sending
the same message again is safe.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from server.session.comparison import Preference, Side
from server.session.instrument import Consent, Display, Label, Opinion, TopicChangeKind, TopicMode
from server.session.item import ItemContent
from server.session.phase import Phase
from server.session.questionnaire import MAX_ANSWER, MAX_POINTS, AnswerForm, Questionnaires
from server.session.texts import TextsCard

PROTOCOL_VERSION = 4
# The code that a connection is closed with when the page speaks another version.
CLOSE_OUTDATED = 4409
CLOSE_RESTART = 1012  # the server ends, and the page should connect anew at once

MAX_FRAME_BYTES = 32_768
MAX_TOKEN = 2_048  # a ticket holds a worker's id of 200 characters, up to four bytes each, in base64
MAX_SAY = 1_000
MAX_TOPIC = 200
MAX_FEEDBACK = 5_000
MAX_EDIT = 5_000


# Control characters, halves of surrogate pairs, and what turns the direction of all the text around it.
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and marks that are drawn as nothing


def plain(text: str) -> str:
    """Return `text` without control characters, overrides of direction and broken surrogates.

    Line feeds and tabs stay.

    This is what can be stored of any text, and all that is asked of what workers write: their words are
    data. What a bot may show them is held to a stricter rule, that of bots' replies.
    """
    return _UNSPEAKABLE.sub("", text).strip()


def _something(text: str) -> str:
    if not any(_is_seen(mark) for mark in text):
        raise ValueError("there is nothing to see in the text")
    return text


def _is_seen(mark: str) -> bool:
    """Return whether a character is drawn; one that is newer than Python's tables may well be."""
    kind = unicodedata.category(mark)
    return kind not in {"Cc", "Cf", "Cs"} and not kind.startswith("Z") and mark not in _BLANK


MessageId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
_PLAIN = AfterValidator(plain)
Said = Annotated[str, StringConstraints(max_length=MAX_SAY), _PLAIN, AfterValidator(_something)]
TopicText = Annotated[str, StringConstraints(max_length=MAX_TOPIC), _PLAIN, AfterValidator(_something)]
Edit = Annotated[str, StringConstraints(max_length=MAX_EDIT), _PLAIN]
AnswerText = Annotated[str, StringConstraints(max_length=MAX_ANSWER), _PLAIN]
# A number, a text, or several of the choices; which of them a question takes, the session knows.
GivenAnswer = (
    Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | AnswerText
    | Annotated[tuple[AnswerText, ...], Field(max_length=50)]
)
Answers = Annotated[dict[str, GivenAnswer], Field(max_length=100)]
Score = Annotated[int, Field(ge=0, le=100, strict=True)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


# ---- what a page sends -----------------------------------------------------------------------


class _ClientMessage(_Message):
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
    ticked: Annotated[list[Label], Field(max_length=20)] = []


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
    """One input of the worker: line number `turn` of the conversation, counted from 0."""

    type: Literal["say"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    text: Said


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
    answers: Answers = {}
    edit: Edit | None = None
    side: Side | None = None


class Choose(_ForConversation):
    """Which of two conversations the worker prefers, after line number `turn` of both."""

    type: Literal["choose"]
    turn: Annotated[int, Field(ge=1, strict=True)]
    preference: Preference


class RateTurn(_ForConversation):
    """What the worker thinks of reply number `turn`: a point from 1. It takes the place of an earlier one."""

    type: Literal["rate_turn"]
    turn: Annotated[int, Field(ge=0, strict=True)]
    value: Annotated[int, Field(ge=1, le=MAX_POINTS, strict=True)]


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
    text: Annotated[str, StringConstraints(max_length=MAX_FEEDBACK), _PLAIN]


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
    | Feedback
    | Leave,
    Field(discriminator="type"),
]

client_messages: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)


# ---- what the server sends -------------------------------------------------------------------


class CriterionCard(_Message):
    """A statement to rate. The label keys the answer and is never shown. `scale`: None for a slider."""

    label: str
    statement: str
    scale: AnswerForm | None = None


class PostEditCard(_Message):
    """A text that is rated below `top` on this criterion, named by its label, has to be improved."""

    criterion: str
    top: int


class ComparisonCard(_Message):
    """How two chatbots are compared: after each turn or at the end, whether ties are allowed, what is asked.

    `history`: both know what each has said itself (`own`), or what the worker has chosen (`chosen`).
    """

    choose: Literal["end", "turn"]
    history: Literal["own", "chosen"]
    ties: bool
    question: str | None


class StudyCard(_Message):
    """What a worker may know of the study.

    `task`: they chat, rate what others have said or written, or chat with two chatbots side by side;
    `conversations` then counts items, or pairs. `comparison`: how they compare the two.
    `rates_all`: they rate every conversation that they hold, and not some of them only.
    `task`: they chat, or rate what others have said or written; `conversations` then counts items.
    `rates_all`: they rate every conversation that they hold, and not some of them only. `duration`: about how
    many minutes it takes. `transcript_while_rating`: the conversation can be read while it is rated.
    `turn_points`: on how many points single replies are rated; two are thumbs.
    `contact`: whom to write to. `words`: what the page says, where that is not what it says by itself.
    """

    title: str
    payment: str
    task: Literal["chat", "transcripts", "side_by_side"]
    conversations: int
    minimum_inputs: int
    topic_mode: TopicMode
    rates_all: bool
    criteria: list[CriterionCard]
    post_edit: PostEditCard | None
    comparison: ComparisonCard | None = None
    display: Display = Display()
    duration: int | None
    transcript_while_rating: bool
    turn_points: int | None = None
    consent: Consent | None
    contact: str | None
    words: TextsCard | None
    questionnaires: Questionnaires = Questionnaires()


class TurnCard(_Message):
    """One line of the conversation as it stands on the screen.

    `right`: where two chatbots have answered, the reply on the right; `text` is the one on the left. Where
    replies appear word by word, the last one has its `pace`, in milliseconds a word, and `shown_for`, the
    milliseconds since it began to appear. `value`: what the worker thinks of a reply, a point from 1.
    """

    turn: int
    author: Literal["worker", "bot"]
    text: str
    right: str | None = None
    pace: int | None = None
    shown_for: int | None = None
    value: int | None = None


class ConversationCard(_Message):
    """The conversation that the worker is in: its number in the assignment, and the attempt at it, from 1.

    `attempt` is above 1 where it started over, because a chatbot could not go on. `icebreaker` is the
    opening topic picked by the study, in the topic phase. `topic` is the current topic once the chat has
    begun; `opinion` and `bot_opinion` are what the worker last said of it. `inputs` counts the worker's
    lines. `typing` says that a reply is due. `item` is what the worker reads and rates where there is nothing
    to chat. `scenario`: the situation or the task of the conversation. `choice_due`: the line after which the
    worker is to choose between two replies or conversations, None where there is nothing to choose now.
    `side`: which of two is to be rated.
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


class QuestionCard(_Message):
    """A test question, number `question` of `questions`: a text, what is asked of it, the answers.

    `why` explains the question's right answer to a worker who has just given a wrong one.
    """

    question: int
    questions: int
    text: str
    asked: str
    answers: list[str]
    why: str | None


class Snapshot(_Message):
    """All that a page needs to draw itself; sent on every connect.

    `code` and `return_to` are as in `completed`, and None until then; `debriefing` is as in `completed` or
    `ended`, and None until then.
    """

    type: Literal["snapshot"] = "snapshot"
    protocol: int = PROTOCOL_VERSION
    phase: Phase
    study: StudyCard
    conversation: ConversationCard | None
    question: QuestionCard | None
    code: str | None
    return_to: str | None
    debriefing: str | None


class Accepted(_Message):
    """The message with this id is on disk; what it led to was sent before this."""

    type: Literal["accepted"] = "accepted"
    id: str


class _OfConversation(_Message):
    """What is told of a conversation: its number in the assignment, and the attempt at it, from 1."""

    conversation: int
    attempt: int


class TopicDue(_OfConversation):
    """This conversation, of `conversations` in all, is next: ask for its topic, or for an opinion of the
    ice-breaker.
    """

    type: Literal["topic_due"] = "topic_due"
    conversations: int
    icebreaker: str | None
    scenario: str | None = None


class ItemDue(_OfConversation):
    """This item, of `conversations` in all, is next: show it and ask for its rating."""

    type: Literal["item_due"] = "item_due"
    conversations: int
    item: ItemContent


class QuestionDue(_Message):
    """This test question is next, or once more after a wrong answer."""

    type: Literal["question_due"] = "question_due"
    question: QuestionCard


class QuestionnaireDue(_Message):
    """Ask what the study asks before, or after, all conversations."""

    type: Literal["questionnaire_due"] = "questionnaire_due"
    part: Literal["before", "after"]


class ConversationStarted(_OfConversation):
    """The chat of this conversation, of `conversations` in all, is open."""

    type: Literal["conversation_started"] = "conversation_started"
    conversations: int
    topic: str
    scenario: str | None = None


class Typing(_OfConversation):
    """A reply is on its way."""

    type: Literal["typing"] = "typing"


class SaidByBot(_OfConversation):
    """The chatbot's reply: line number `turn` of the conversation, counted from 0.

    `pace`: it is to appear word by word, so many milliseconds each; None: at once.
    """

    type: Literal["said"] = "said"
    turn: int
    text: str
    pace: int | None = None


class SaidByBoth(_OfConversation):
    """The replies of two chatbots, side by side: line number `turn` of the conversation, counted from 0.

    `pace`: of both, as in `said`.
    """

    type: Literal["said_by_both"] = "said_by_both"
    turn: int
    left: str
    right: str
    pace: int | None = None


class GoesOn(_OfConversation):
    """The conversation goes on with this one of the two replies that were line number `turn`."""

    type: Literal["goes_on"] = "goes_on"
    turn: int
    text: str


class ChoiceDue(_OfConversation):
    """The chat is over: choose between the two conversations, after line number `turn`."""

    type: Literal["choice_due"] = "choice_due"
    turn: int


class RatingDue(_OfConversation):
    """The chat is over: rate the conversation. `side`: of two, which one."""

    type: Literal["rating_due"] = "rating_due"
    side: Side | None = None


class Replaced(_OfConversation):
    """The chatbot could not go on; the conversation starts over with another one, as `attempt`.

    `topic_due` follows.
    """

    type: Literal["replaced"] = "replaced"


class FeedbackDue(_Message):
    """Every conversation is rated: ask for feedback."""

    type: Literal["feedback_due"] = "feedback_due"


class Completed(_Message):
    """The assignment is handed in: `code` proves it. `return_to`: where the worker is expected afterwards.

    `debriefing`: what the study tells about itself now that it is over.
    """

    type: Literal["completed"] = "completed"
    code: str
    return_to: str | None
    debriefing: str | None


class Ended(_Message):
    """The assignment is over without being handed in.

    `debriefing`: as in `completed`, for who had agreed to take part.
    """

    type: Literal["ended"] = "ended"
    phase: Literal["expired", "returned"]
    debriefing: str | None = None


class StudyNotice(_Message):
    """Words of the researchers: to be shown until the worker puts them away. Sent again on every connect.

    `notice` is their number; a later one may be shown beside an earlier.
    """

    type: Literal["notice"] = "notice"
    notice: int
    text: str


class TakenOver(_Message):
    """The session was opened elsewhere; this connection closes."""

    type: Literal["taken_over"] = "taken_over"


class Error(_Message):
    """A message was refused. `retry`: the same message may be sent again later.

    `again_at`: when the run takes newcomers again, where it does not now because of its hours.
    """

    type: Literal["error"] = "error"
    code: str
    message: str
    retry: bool
    id: str | None = None
    again_at: datetime | None = None


ServerMessage = (
    Snapshot
    | Accepted
    | QuestionnaireDue
    | QuestionDue
    | TopicDue
    | ItemDue
    | ConversationStarted
    | Typing
    | SaidByBot
    | SaidByBoth
    | GoesOn
    | ChoiceDue
    | RatingDue
    | Replaced
    | FeedbackDue
    | Completed
    | Ended
    | StudyNotice
    | TakenOver
    | Error
)


def frame_of(messages: Iterable[ServerMessage]) -> str:
    """Return the frame that holds these messages."""
    return f"[{','.join(message.model_dump_json() for message in messages)}]"


class _Wire(BaseModel):
    """Holds both directions, so that one schema has every definition."""

    client: ClientMessage
    server: Annotated[ServerMessage, Field(discriminator="type")]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of both directions, for pages and for clients that do not import this."""
    schema = _Wire.model_json_schema(mode="serialization")
    schema["title"] = "Wire"
    schema["description"] = f"Candor wire protocol, version {PROTOCOL_VERSION}"
    return schema
