"""Cards: what the server's messages hold of a study, a conversation, a question, a quiz."""

from typing import Literal

from server.session.instrument import Consent, Display, Opinion, Side, TopicMode
from server.session.item import ItemContent
from server.session.protocol.message import Message
from server.session.questionnaire import AnswerForm, Questionnaires
from server.session.records import ReportReason
from server.session.texts import TextsCard


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


class WayBackCard(Message):
    """Where somebody who could not take part returns the study. `to`: an address that pays nothing."""

    platform: str
    to: str | None
