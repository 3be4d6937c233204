"""What the server sends to a worker's page."""

from datetime import datetime
from typing import Literal

from server.session.comparison import Side
from server.session.instrument import Consent, Display, Opinion, TopicMode
from server.session.item import ItemContent
from server.session.phase import Phase
from server.session.protocol.message import Message, turn_message
from server.session.questionnaire import AnswerForm, Questionnaires
from server.session.records import ReportReason
from server.session.texts import TextsCard

PROTOCOL_VERSION = 6

CutShort = Literal["chatbot", "researcher"]


class CriterionCard(Message):
    """A statement to rate. The label keys the answer and is never shown. `scale`: None for a slider."""

    label: str
    statement: str
    scale: AnswerForm | None = None


class PostEditCard(Message):
    """A text that is rated below `top` on this criterion, named by its label, has to be improved."""

    criterion: str
    top: int


class ComparisonCard(Message):
    """How two chatbots are compared: after each turn or at the end, whether ties are allowed, what is asked.

    `history`: both know what each has said itself (`own`), or what the worker has chosen (`chosen`).
    """

    choose: Literal["end", "turn"]
    history: Literal["own", "chosen"]
    ties: bool
    question: str | None


class StudyCard(Message):
    """What a worker may know of the study.

    `task`: they chat, rate what others have said or written, or chat with two chatbots side by side;
    `conversations` then counts items, or pairs. `comparison`: how they compare the two.
    `rates_all`: they rate every conversation that they hold, and not some of them only.
    `task`: they chat, or rate what others have said or written; `conversations` then counts items.
    `rates_all`: they rate every conversation that they hold, and not some of them only. `duration`: about how
    many minutes it takes. `transcript_while_rating`: the conversation can be read while it is rated.
    `turn_points`: on how many points single replies are rated; two are thumbs.
    `withdrawal_days`: how long after the end they can download or withdraw what they gave.
    `records_writing`: the page tells with each input how it was written, and the worker that it does.
    `moderation`: by what lines are looked over; with `classifier` the worker is told that a service is.
    `contact`: whom to write to. `words`: what the page says, where that is not what it says by itself.
    """

    title: str
    payment: str
    task: Literal["chat", "transcripts", "side_by_side"]
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
    words: TextsCard | None
    questionnaires: Questionnaires = Questionnaires()


class TurnCard(Message):
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


class ReportCard(Message):
    """What the worker has reported of line `turn`, and not taken back. `side`: of two, whose line it is."""

    turn: int
    side: Side | None
    reason: ReportReason
    note: str | None


class ConversationCard(Message):
    """The conversation that the worker is in: its number in the assignment, and the attempt at it, from 1.

    `attempt` is above 1 where it started over, because a chatbot could not go on. `icebreaker` is the
    opening topic picked by the study, in the topic phase. `topic` is the current topic once the chat has
    begun; `opinion` and `bot_opinion` are what the worker last said of it. `inputs` counts the worker's
    lines. `typing` says that a reply is due. `item` is what the worker reads and rates where there is nothing
    to chat. `scenario`: the situation or the task of the conversation. `choice_due`: the line after which the
    worker is to choose between two replies or conversations, None where there is nothing to choose now.
    `side`: which of two is to be rated. `reports`: what the worker has reported of it.
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


class QuestionCard(Message):
    """A test question, number `question` of `questions`: a text, what is asked of it, the answers.

    `why` explains the question's right answer to a worker who has just given a wrong one.
    """

    question: int
    questions: int
    text: str
    asked: str
    answers: list[str]
    why: str | None


class QuizCard(Message):
    """The quiz about a conversation, its number and attempt: the lines, of which the chat partner said one.

    No line of the conversation stands beside it: who may read it again shows nothing by a right answer.
    """

    conversation: int
    attempt: int
    lines: list[str]


class Snapshot(Message):
    """All that a page needs to draw itself; sent on every connect.

    `code`, `return_to` and `debriefing` are as in `completed` or `ended`, and None until then.
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
    """The message with this id is on disk; what it led to was sent before this."""

    type: Literal["accepted"] = "accepted"
    id: str


class _OfConversation(Message):
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


class QuestionDue(Message):
    """This test question is next, or once more after a wrong answer."""

    type: Literal["question_due"] = "question_due"
    question: QuestionCard


class QuestionnaireDue(Message):
    """Ask what the study asks before, or after, all conversations."""

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
    """A reply is on its way."""

    conversation: int
    attempt: int
    type: Literal["typing"] = "typing"


@turn_message
class SaidByBot:
    """The chatbot's reply: line number `turn` of the conversation, counted from 0.

    `pace`: it is to appear word by word, so many milliseconds each; None: at once.
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

    `pace`: of both, as in `said`.
    """

    conversation: int
    attempt: int
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
    """The chat is over: rate the conversation. `side`: of two, which one.

    `cut_short`: who has ended it where the worker has not: a chatbot that could not go on, whichever of two
    it was, or a researcher.
    """

    type: Literal["rating_due"] = "rating_due"
    side: Side | None = None
    cut_short: CutShort | None = None


class QuizDue(Message):
    """The conversation is rated: ask which of these lines its chat partner said."""

    type: Literal["quiz_due"] = "quiz_due"
    quiz: QuizCard


class Replaced(_OfConversation):
    """The chatbot could not go on; the conversation starts over with another one, as `attempt`.

    `topic_due` follows.
    """

    type: Literal["replaced"] = "replaced"


class FeedbackDue(Message):
    """Every conversation is rated: ask for feedback."""

    type: Literal["feedback_due"] = "feedback_due"


class Completed(Message):
    """The assignment is handed in: `code` proves it. `return_to`: where the worker is expected afterwards.

    `debriefing`: what the study tells about itself now that it is over.
    """

    type: Literal["completed"] = "completed"
    code: str
    return_to: str | None
    debriefing: str | None


class Ended(Message):
    """The assignment is over without being handed in.

    `debriefing`: as in `completed`, for who had agreed to take part. `return_to`: where the worker is
    expected to say so, on the platform that they came from. `code`: of who left with a report, who is paid in
    full, and proves it so.
    """

    type: Literal["ended"] = "ended"
    phase: Literal["expired", "returned"]
    debriefing: str | None = None
    return_to: str | None = None
    code: str | None = None


class StudyNotice(Message):
    """Words of the researchers: to be shown until the worker puts them away. Sent again on every connect.

    `notice` is their number; a later one may be shown beside an earlier.
    """

    type: Literal["notice"] = "notice"
    notice: int
    text: str


class TakenOver(Message):
    """The session was opened elsewhere; this connection closes."""

    type: Literal["taken_over"] = "taken_over"


class Error(Message):
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
    | QuizDue
    | Replaced
    | FeedbackDue
    | Completed
    | Ended
    | StudyNotice
    | TakenOver
    | Error
)
