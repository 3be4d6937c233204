"""The wire protocol between a worker's page and the server: JSON messages over one WebSocket.

A page sends one message per frame. A server's frame is an array of all messages that are due. Only the answer
to a page of another version is a single message, which every version can read.

Every client message carries an `id` made by the client. The server answers with `accepted`, once the message
is on disk and everything that it led to was sent, or with an `error` that names the id. Sending the same
message again is safe.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic_core import to_json

from server.session.protocol.from_page import (
    Agree,
    Answer,
    AnswerQuiz,
    Choose,
    ClientMessage,
    EndConversation,
    Feedback,
    Hello,
    Leave,
    Questionnaire,
    Rate,
    RateTurn,
    Report,
    Say,
    TakeBackReport,
    Topic,
    TopicChange,
    client_messages,
)
from server.session.protocol.from_server import (
    PROTOCOL_VERSION,
    SOCKET_PATH,
    Accepted,
    AnswerExplained,
    ChoiceDue,
    ComparisonCard,
    Completed,
    ConversationCard,
    ConversationStarted,
    CriterionCard,
    CutShort,
    Ended,
    Error,
    FeedbackDue,
    GoesOn,
    ItemDue,
    PostEditCard,
    QuestionCard,
    QuestionDue,
    QuestionnaireDue,
    QuizCard,
    QuizDue,
    RatingDue,
    Replaced,
    ReportCard,
    SaidByBot,
    SaidByBoth,
    ServerMessage,
    Snapshot,
    StudyCard,
    StudyNotice,
    TakenOver,
    TopicDue,
    TurnCard,
    Typing,
    WayBackCard,
)
from server.session.protocol.text import (
    MAX_EDIT,
    MAX_FEEDBACK,
    MAX_NOTE,
    MAX_SAY,
    MAX_TOKEN,
    MAX_TOPIC,
    Answers,
    plain,
)

__all__ = [
    "CLOSE_OUTDATED",
    "CLOSE_RESTART",
    "MAX_EDIT",
    "MAX_FEEDBACK",
    "MAX_FRAME_BYTES",
    "MAX_NOTE",
    "MAX_SAY",
    "MAX_TOKEN",
    "MAX_TOPIC",
    "PROTOCOL_VERSION",
    "SOCKET_PATH",
    "Accepted",
    "Agree",
    "Answer",
    "AnswerExplained",
    "AnswerQuiz",
    "Answers",
    "ChoiceDue",
    "Choose",
    "ClientMessage",
    "ComparisonCard",
    "Completed",
    "ConversationCard",
    "ConversationStarted",
    "CriterionCard",
    "CutShort",
    "EndConversation",
    "Ended",
    "Error",
    "Feedback",
    "FeedbackDue",
    "GoesOn",
    "Hello",
    "ItemDue",
    "Leave",
    "PostEditCard",
    "QuestionCard",
    "QuestionDue",
    "Questionnaire",
    "QuestionnaireDue",
    "QuizCard",
    "QuizDue",
    "Rate",
    "RateTurn",
    "RatingDue",
    "Replaced",
    "Report",
    "ReportCard",
    "SaidByBot",
    "SaidByBoth",
    "Say",
    "ServerMessage",
    "Snapshot",
    "StudyCard",
    "StudyNotice",
    "TakeBackReport",
    "TakenOver",
    "Topic",
    "TopicChange",
    "TopicDue",
    "TurnCard",
    "Typing",
    "WayBackCard",
    "client_messages",
    "frame_of",
    "json_schema",
    "plain",
]

# The code for closing a connection whose page speaks another version.
CLOSE_OUTDATED = 4409
CLOSE_RESTART = 1012  # the server is ending, and the page should reconnect at once
MAX_FRAME_BYTES = 32_768


def frame_of(messages: Sequence[ServerMessage]) -> bytes:
    """Return the frame that holds these messages: JSON text in UTF-8."""
    return to_json([message.__dict__ for message in messages])


class _Wire(BaseModel):
    """Both directions, so that one schema has every definition."""

    client: ClientMessage
    server: Annotated[ServerMessage, Field(discriminator="type")]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of both directions, for pages and for clients that do not import Python."""
    schema = _Wire.model_json_schema(mode="serialization")
    schema["title"] = "Wire"
    schema["description"] = f"Candor wire protocol, version {PROTOCOL_VERSION}"
    return schema
