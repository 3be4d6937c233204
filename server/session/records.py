"""Records of a session, one per fact. A session's state is a fold of its records.

`client_id` is the id of the worker's message that a record comes from. The records of every turn are named
tuples, which are made in a third of the time that a frozen dataclass takes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from server.session.instrument import (
    Opinion,
    Part,
    Preference,
    QuizAbout,
    Side,
    TopicChangeKind,
    number_on_page,
)
from server.session.item import ItemContent, ItemKind

if TYPE_CHECKING:  # so that the session stays light to import
    from bots import Provenance
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Characters = Annotated[int, Field(ge=0, le=100_000, strict=True)]
_Times = Annotated[int, Field(ge=0, le=10_000, strict=True)]
_Milliseconds = Annotated[int, Field(ge=0, le=86_400_000, strict=True)]


class Writing(BaseModel):
    """Counts of how a worker wrote a message, made by their page; a page can count wrongly, or lie.

    Characters that were deleted again count too, except, in what is stored (`kept`), pasted ones.
    `typed`: characters entered one at a time. `composed`: several at a time, by an input method, a
    correction, a suggestion or voice, but not pasted. `pasted`: pasted or dropped, in `pastes` actions.

    `writing_ms`: from the first change of the text to the last. `longest_pause_ms`: the longest time between
    two changes. `away`: how often the page lost the focus since the message before; `away_ms`: for how long
    in total.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    typed: _Characters
    composed: _Characters
    pasted: _Characters
    pastes: _Times
    writing_ms: _Milliseconds
    longest_pause_ms: _Milliseconds
    away: _Times
    away_ms: _Milliseconds

    def kept(self, sent: str) -> "Writing":
        """Return what is stored of a message: pasted characters count only if `sent` can contain them.

        If fewer characters were sent than pasted, some were deleted. Then those count that were not written
        by hand.
        """
        if len(sent) >= self.pasted:
            return self
        left = max(0, len(sent) - self.typed - self.composed)
        return self.model_copy(update={"pasted": left})


class BotCall(NamedTuple):
    """A call that was answered.

    `tries`: how often the bot was asked for the line so far, this call included. `made`: where the answer
    came from. `failure`: the kind of failure, if there was no reply. `output`: the model's output, if it was
    no reply.
    """

    tries: int
    made: "Provenance"
    failure: str | None = None
    output: str | None = None


Closing = Literal["completed", "returned", "expired"]
ReportReason = Literal["offensive", "sexual", "harm", "personal", "other"]


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """An item at a position of an assignment whose worker rates items instead of chatting.

    `item` is its name: an item, its bad twin, its repeat and its reference share one name. `twin_of` is the
    position of the ordinary item that it belongs to; None for an ordinary one.
    """

    item: str
    kind: ItemKind
    twin_of: int | None
    content: ItemContent


@dataclass(frozen=True, slots=True)
class ConversationPlanned:
    """A conversation that the worker is to hold, or, with an `item`, an item to be read and rated.

    `position` is its number in the assignment, from 1. `attempt` counts, from 1, how often the conversation
    at this position was begun, each time with another system. `scenario` is its label, if any.

    `side` is its side of a pair. The left conversation has an odd position, the right one the next position,
    and both have the same attempt.
    """

    conversation: str
    position: int
    attempt: int
    system: str
    seed: int
    persona: tuple[str, ...]
    icebreaker: str | None
    item: PlannedItem | None = None
    scenario: str | None = None
    side: Side | None = None

    @property
    def number(self) -> int:
        """Its number as workers see it, from 1; both conversations of a pair have the same number."""
        return number_on_page(self.position, self.side)


@dataclass(frozen=True, slots=True)
class Agreed:
    """The worker's consent: to which version of the study's consent, with which boxes ticked."""

    at: datetime
    client_id: str
    consent: str | None = None
    ticked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The worker's answer to test question number `question` of the tutorial; both are counted from 1."""

    question: int
    answer: int
    is_right: bool
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class QuestionnaireSubmitted:
    """The worker has submitted the questionnaire before, or after, all conversations."""

    part: Part
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """An answer to a question of a questionnaire. Changes no state; stored for the analyst.

    `conversation` is the one that it is about; None before and after all of them. Each of several chosen
    answers is a record of its own.
    """

    conversation: str | None
    part: Part
    label: str
    value: float | str
    at: datetime


@dataclass(frozen=True, slots=True)
class ItemShown:
    """An item was shown to the worker, and its rating is due."""

    conversation: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TopicMarked:
    """A topic of a conversation. The first one (ordinal 0, `how` None) opens the chat."""

    conversation: str
    ordinal: int
    round: int
    topic: str
    opinion: Opinion
    how: TopicChangeKind | None
    bot_opinion: Opinion | None
    at: datetime
    client_id: str


class WorkerSaid(NamedTuple):
    """A message of the worker."""

    conversation: str
    index: int  # type: ignore[assignment]  # the line's index, not tuple's method
    text: str
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class WritingKept:
    """Counts of how the worker wrote line `index`. Changes no state; stored for the analyst."""

    conversation: str
    index: int
    writing: Writing


class BotSaid(NamedTuple):
    """A reply of the bot, made in `latency_ms`, which must not be shown before `show_at`."""

    conversation: str
    index: int  # type: ignore[assignment]  # the line's index, not tuple's method
    text: str
    at: datetime
    show_at: datetime
    latency_ms: int


@dataclass(frozen=True, slots=True)
class OutputKept:
    """A model's full output, if line `index` differs from it. Changes no state; stored for the analyst.

    `changes`: the changes made to the output, as named in `bots.shown`.
    """

    conversation: str
    index: int
    output: str
    changes: tuple[str, ...]


class CallKept(NamedTuple):
    """A call of the bot for line `index`. Changes no state; stored for the analyst."""

    conversation: str
    index: int  # type: ignore[assignment]  # the line's index, not tuple's method
    call: BotCall
    at: datetime


@dataclass(frozen=True, slots=True)
class SideChosen:
    """The worker's choice between two conversations, after line number `turn` of both.

    `conversation` is the left one. If the worker chooses at the end, the one choice is about both as a whole.
    """

    conversation: str
    turn: int
    preference: Preference
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class TurnRated:
    """The worker's rating of line `index`, a reply, from 0 to 100. The last one counts."""

    conversation: str
    index: int
    value: int
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class MessageReported:
    """The worker's report of line `index` of a conversation or an item as unacceptable, with the reason.

    `leaves`: they leave the study with the report, and are paid in full.
    """

    conversation: str
    index: int
    reason: ReportReason
    note: str | None
    leaves: bool
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class ReportTakenBack:
    """The worker has taken back their report of line `index`, or reports it again."""

    conversation: str
    index: int
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """The chat is over and its rating is due. `client_id` is None if a failed bot ended it."""

    conversation: str
    at: datetime
    client_id: str | None


@dataclass(frozen=True, slots=True)
class ConversationFailed:
    """The bot gave up before the minimum of messages was reached."""

    conversation: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ConversationSkipped:
    """A planned conversation that is not held, because the assignment ends early."""

    conversation: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ConversationLeftUnrated:
    """A conversation that has ended and need not be rated, because of the study's `rate_share`."""

    conversation: str


@dataclass(frozen=True, slots=True)
class ConversationRated:
    """The worker's ratings on every criterion, in the study's order.

    A comparison study may have no criteria: then the choice is the judgement of the conversation, and
    `client_id` is None if a failed bot ended it.
    """

    conversation: str
    ratings: tuple[tuple[str, int], ...]
    at: datetime
    client_id: str | None


class QuizLine(NamedTuple):
    """A line of the quiz after a conversation: line `turn` of conversation `said_in`.

    In a quiz about personas it is a persona, with a sentence on each line of its text. It has no `turn`, and
    `said_in` is the conversation of the partner whose persona it is; None for the others.
    """

    text: str
    said_in: str | None
    turn: int | None


@dataclass(frozen=True, slots=True)
class QuizAsked:
    """The worker is asked which of `lines` is their partner's; the lines stay in this order."""

    conversation: str
    lines: tuple[QuizLine, ...]
    at: datetime
    about: QuizAbout = "lines"

    @property
    def right(self) -> int:
        """The number, from 1, of the partner's line."""
        return 1 + [line.said_in for line in self.lines].index(self.conversation)


WhyNoQuiz = Literal["few_replies", "few_lines", "no_persona", "few_personas"]


@dataclass(frozen=True, slots=True)
class QuizNotAsked:
    """The study has a quiz, but not about this conversation. Changes no state; stored for the analyst.

    `few_replies`: the middle of the conversation has no reply that could be remembered. `few_lines`: there
    are not enough lines from other workers' conversations to put beside it. `no_persona`: the partner has no
    persona. `few_personas`: the study has not enough other personas to put beside it.
    """

    conversation: str
    why: WhyNoQuiz
    at: datetime
    about: QuizAbout = "lines"


@dataclass(frozen=True, slots=True)
class QuizAnswered:
    """The number, from 1, of the quiz line that the worker has chosen."""

    conversation: str
    choice: int
    is_right: bool
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class ItemEdited:
    """The worker's improved text of an item. Changes no state; stored for the analyst.

    `share`: edited words over the length of the text shown, as `rating.edit_share` counts them.
    """

    conversation: str
    text: str
    share: float
    at: datetime


@dataclass(frozen=True, slots=True)
class FeedbackGiven:
    """The worker's comments for the researchers; empty if there are none."""

    text: str
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The assignment is over."""

    status: Closing
    at: datetime


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident in a conversation, such as a failure of its bot, or offensive words.

    Changes no state; stored for the analyst. `text`: the reason; for `gave_itself_away`, the words that did;
    for `offensive_reply` and `offensive_input`, the offensive words. `failure`: for `bot_error` and
    `bot_gave_up`, the kind of failure, as named in `bots.core.failures`.
    """

    conversation: str
    kind: Literal[
        "bot_error",
        "bot_gave_up",
        "replaced",
        "gave_itself_away",
        "offensive_reply",
        "offensive_input",
        "ended_by_researcher",
        "ended_by_partner",
    ]
    text: str
    at: datetime
    failure: str | None = None


# Records that change a conversation's status after it has begun.
ConversationEnd = (
    ConversationEnded
    | ConversationFailed
    | ConversationSkipped
    | ConversationLeftUnrated
    | ItemShown
    | ConversationRated
)
# Records that change a planned conversation.
ConversationChange = (
    TopicMarked
    | WorkerSaid
    | BotSaid
    | TurnRated
    | MessageReported
    | ReportTakenBack
    | SideChosen
    | ConversationEnd
    | QuizAsked
    | QuizAnswered
)
Record = (
    ConversationPlanned
    | ConversationChange
    | Agreed
    | QuestionAnswered
    | QuestionnaireSubmitted
    | AnswerGiven
    | ItemEdited
    | OutputKept
    | WritingKept
    | CallKept
    | QuizNotAsked
    | FeedbackGiven
    | Closed
    | Incident
)
