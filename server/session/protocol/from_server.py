"""Messages from the server to a worker's page, and their parts (cards), such as that of a study."""

from datetime import datetime
from typing import Literal

from server.session.answer_kinds import AnswerForm
from server.session.instrument import (
    Consent,
    Display,
    Lab,
    Opinion,
    Questionnaires,
    QuizAbout,
    Side,
    Task,
    TopicMode,
)
from server.session.item import ItemContent
from server.session.protocol.text import WireModel, turn_message
from server.session.records import ReportReason
from server.session.state import Phase
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
    conversations, items or pairs. `correctness`: they judge an answer by paragraphs. `comparison`: how they
    compare the two. `rates_all`: they rate every conversation, not only some. `duration`: about how many
    minutes it takes. `transcript_while_rating`: the conversation is visible while it is rated. `turn_points`:
    the number of points for rating single replies; 2 means thumbs. `withdrawal_days`: for how many days after
    the end they can download or withdraw their data. `records_writing`: the page sends with each message how
    it was written, and tells the worker so. `moderation`: the check of lines; with `classifier` the worker is
    told that a service does it. `contact`: the researchers' address. `lab`: whose name and logo the page has.
    `words`: texts that replace the page's own.
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
    correctness: bool = False
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

    If it is `about` personas, the lines are personas, with a sentence on each line of the text. The
    conversation is not shown with it: otherwise a right answer would prove nothing.
    """

    conversation: int
    attempt: int
    about: QuizAbout = "lines"
    lines: list[str]


class WayBackCard(WireModel):
    """The link with which workers who could not take part return the study. `to` pays nothing."""

    platform: str
    to: str | None


PROTOCOL_VERSION = 6
SOCKET_PATH = "/ws"

CutShort = Literal["chatbot", "researcher"]


class Snapshot(WireModel):
    """Everything that a page needs to draw itself; sent on every connect.

    `code`, `return_to` and `debriefing` are as in `completed` or `ended`, and null until then.
    """

    type: Literal["snapshot"] = "snapshot"
    protocol: int = PROTOCOL_VERSION
    phase: Phase
    study: StudyCard
    conversation: ConversationCard | None
    question: QuestionCard | None
    quiz: QuizCard | None = None
    code: str | None
    return_to: str | None
    debriefing: str | None


@turn_message
class Accepted:
    """The message with this id is on disk; everything that it led to was sent before."""

    type: Literal["accepted"] = "accepted"
    id: str


class _OfConversation(WireModel):
    """A message about a conversation: its number in the assignment, and the attempt, both from 1."""

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


class QuestionDue(WireModel):
    """This test question is next, or again after a wrong answer."""

    type: Literal["question_due"] = "question_due"
    question: QuestionCard


class AnswerExplained(WireModel):
    """The worker's answer to a test question is right: this is why. What is due next follows."""

    type: Literal["answer_explained"] = "answer_explained"
    why: str


class QuestionnaireDue(WireModel):
    """Show the questionnaire before, or after, all conversations."""

    type: Literal["questionnaire_due"] = "questionnaire_due"
    part: Literal["before", "after"]


class ConversationStarted(_OfConversation):
    """The chat of this conversation, of `conversations` in all, is open."""

    type: Literal["conversation_started"] = "conversation_started"
    conversations: int
    topic: str
    scenario: str | None = None


@turn_message
class Typing:
    """The chatbot is about to reply."""

    conversation: int
    attempt: int
    type: Literal["typing"] = "typing"


@turn_message
class SaidByBot:
    """The chatbot's reply: line number `turn` of the conversation, counted from 0.

    `pace`: the milliseconds for each word, to show it word by word; null: show it at once.
    """

    conversation: int
    attempt: int
    type: Literal["said"] = "said"
    turn: int
    text: str
    pace: int | None = None


@turn_message
class SaidByBoth:
    """The replies of two chatbots, side by side: line number `turn` of the conversation, counted from 0.

    `pace`: as in `said`, for both.
    """

    conversation: int
    attempt: int
    type: Literal["said_by_both"] = "said_by_both"
    turn: int
    left: str
    right: str
    pace: int | None = None


class GoesOn(_OfConversation):
    """The conversation goes on with this one of the two replies at line number `turn`."""

    type: Literal["goes_on"] = "goes_on"
    turn: int
    text: str


class ChoiceDue(_OfConversation):
    """The chat is over: choose between the two conversations, after line number `turn`."""

    type: Literal["choice_due"] = "choice_due"
    turn: int


class RatingDue(_OfConversation):
    """The chat is over: rate the conversation. `side`: for a pair, the side to rate.

    `cut_short`: who ended the chat, if not the worker: a chatbot that failed (either one of a pair), or a
    researcher.
    """

    type: Literal["rating_due"] = "rating_due"
    side: Side | None = None
    cut_short: CutShort | None = None


class QuizDue(WireModel):
    """The conversation is rated: ask which of these lines or personas is its chat partner's."""

    type: Literal["quiz_due"] = "quiz_due"
    quiz: QuizCard


class Replaced(_OfConversation):
    """The chatbot failed; the conversation begins again with another one, as `attempt`.

    `topic_due` follows.
    """

    type: Literal["replaced"] = "replaced"


class FeedbackDue(WireModel):
    """Every conversation is rated: ask for feedback."""

    type: Literal["feedback_due"] = "feedback_due"


class Completed(WireModel):
    """The assignment is submitted: `code` proves it. `return_to`: the link for the worker afterwards.

    `debriefing`: the study's text for workers at the end.
    """

    type: Literal["completed"] = "completed"
    code: str
    return_to: str | None
    debriefing: str | None


class Ended(WireModel):
    """The assignment has ended without being submitted.

    `debriefing`: as in `completed`, for workers who had agreed. `return_to`: the link to the worker's
    platform. `code`: the proof for workers who left with a report, who are paid in
    full.
    """

    type: Literal["ended"] = "ended"
    phase: Literal["expired", "returned"]
    debriefing: str | None = None
    return_to: str | None = None
    code: str | None = None


class StudyNotice(WireModel):
    """A notice from the researchers, to be shown until the worker closes it. Sent again on every connect.

    `notice` is its number; a later notice may be shown beside an earlier one.
    """

    type: Literal["notice"] = "notice"
    notice: int
    text: str


class TakenOver(WireModel):
    """The session was opened elsewhere; this connection closes."""

    type: Literal["taken_over"] = "taken_over"


class Error(WireModel):
    """A message was refused. `retry`: the same message may be sent again later.

    `again_at`: when the run next admits newcomers, if it is outside its hours. `way_back`: where to return
    the study, for newcomers from a platform whom the run does not admit.
    """

    type: Literal["error"] = "error"
    code: str
    message: str
    retry: bool
    id: str | None = None
    again_at: datetime | None = None
    way_back: WayBackCard | None = None


ServerMessage = (
    Snapshot
    | Accepted
    | QuestionnaireDue
    | QuestionDue
    | AnswerExplained
    | TopicDue
    | ItemDue
    | ConversationStarted
    | Typing
    | SaidByBot
    | SaidByBoth
    | GoesOn
    | ChoiceDue
    | RatingDue
    | QuizDue
    | Replaced
    | FeedbackDue
    | Completed
    | Ended
    | StudyNotice
    | TakenOver
    | Error
)
