"""Records of a session, one per fact. A session's state is a fold of its records.

`client_id` is the id of the worker's message that a record comes from. What every turn has are named tuples,
which are made in a third of the time that a frozen dataclass takes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from server.session.call import BotCall
from server.session.instrument import Opinion, Preference, Side, TopicChangeKind, number_on_page
from server.session.item import ItemContent, ItemKind
from server.session.questionnaire import Part
from server.session.writing import Writing

Closing = Literal["completed", "returned", "expired"]
ReportReason = Literal["offensive", "sexual", "harm", "personal", "other"]


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """What is shown at a position of an assignment whose worker rates what others have said or written.

    `item` names it: an item, its bad twin, its repeat and its reference have one name. `twin_of` is the
    position of the ordinary item that it belongs to; None for an ordinary one.
    """

    item: str
    kind: ItemKind
    twin_of: int | None
    content: ItemContent


@dataclass(frozen=True, slots=True)
class ConversationPlanned:
    """A conversation that the worker is to hold, or, with an `item`, one to be read and rated.

    `position` is its number in the assignment, counted from 1. `attempt` counts, from 1, how often the
    conversation at this position was begun: each time with another system. `scenario`: its label, if any.

    `side`: where two conversations stand beside each other, which of them it is. The left one has an odd
    position, the right one the position after it, and both the same attempt.
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
        """Its number as the worker counts, from 1: two that stand beside each other are one."""
        return number_on_page(self.position, self.side)


@dataclass(frozen=True, slots=True)
class Agreed:
    """The worker consented: to which version of the study's consent, ticking which of its boxes."""

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
class QuestionnaireHandedIn:
    """The worker has answered what they are asked before, or after, all conversations."""

    part: Part
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """An answer to a question of a questionnaire. Changes no state; kept for the analyst.

    `conversation`: which one it is about; None before and after all of them. Who chose several answers has
    given several.
    """

    conversation: str | None
    part: Part
    label: str
    value: float | str
    at: datetime


@dataclass(frozen=True, slots=True)
class ItemShown:
    """An item is before the worker, and its rating is due."""

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
    """A line of the worker's."""

    conversation: str
    index: int  # type: ignore[assignment]  # of the line, not tuple's method
    text: str
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class WritingKept:
    """How the worker has written line `index`. Changes no state; kept for the analyst."""

    conversation: str
    index: int
    writing: Writing


class BotSaid(NamedTuple):
    """A line of the bot's, made after `latency_ms`, not to be shown before `show_at`."""

    conversation: str
    index: int  # type: ignore[assignment]  # of the line, not tuple's method
    text: str
    at: datetime
    show_at: datetime
    latency_ms: int


@dataclass(frozen=True, slots=True)
class OutputKept:
    """What a bot's model wrote, where line `index` is not all of it. Changes no state; kept for the analyst.

    `changes`: what was done to the output, words of `bots.shown`.
    """

    conversation: str
    index: int
    output: str
    changes: tuple[str, ...]


class CallKept(NamedTuple):
    """A call by which the bot was asked for line `index`. Changes no state; kept for the analyst."""

    conversation: str
    index: int  # type: ignore[assignment]  # of the line, not tuple's method
    call: BotCall
    at: datetime


@dataclass(frozen=True, slots=True)
class SideChosen:
    """Which of two conversations the worker prefers, after line number `turn` of both.

    `conversation` is the left one. Where the worker chooses at the end, there is one, of both as a whole.
    """

    conversation: str
    turn: int
    preference: Preference
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class TurnRated:
    """What the worker thinks of line `index`, a reply: from 0 to 100. The last one counts."""

    conversation: str
    index: int
    value: int
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class MessageReported:
    """The worker finds that line `index`, of an item its line, should not have been said, and why.

    `leaves`: they leave the study with it, and are paid in full.
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
    """The worker has taken back what they reported of line `index`, or reports it anew."""

    conversation: str
    index: int
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """The chat is over and its rating is due. `client_id` is None where a failed bot ended it."""

    conversation: str
    at: datetime
    client_id: str | None


@dataclass(frozen=True, slots=True)
class ConversationFailed:
    """The bot gave up before the minimum of inputs was reached."""

    conversation: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ConversationSkipped:
    """A planned conversation that is not held, because the assignment ends early."""

    conversation: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ConversationLeftUnrated:
    """A conversation that has ended and that the worker is not asked to rate: the study's `rate_share`."""

    conversation: str


@dataclass(frozen=True, slots=True)
class ConversationRated:
    """The worker's values for every criterion, in the study's order.

    A study that compares side by side may have no criteria: then the conversation has been judged by the
    choice, and `client_id` is None where a failed bot ended it.
    """

    conversation: str
    ratings: tuple[tuple[str, int], ...]
    at: datetime
    client_id: str | None


class QuizLine(NamedTuple):
    """A line of the quiz after a conversation: said in which conversation, as which line of it."""

    text: str
    said_in: str
    turn: int


@dataclass(frozen=True, slots=True)
class QuizAsked:
    """The worker is asked which of `lines` their partner said; they stay in this order."""

    conversation: str
    lines: tuple[QuizLine, ...]
    at: datetime

    @property
    def right(self) -> int:
        """The number, from 1, of the line that the partner said."""
        return 1 + [line.said_in for line in self.lines].index(self.conversation)


@dataclass(frozen=True, slots=True)
class QuizNotAsked:
    """The study has a quiz, but not about this conversation. Changes no state; kept for the analyst.

    `few_replies`: none from the middle of the conversation could be remembered. `few_lines`: other workers
    have not been told enough that could stand beside one.
    """

    conversation: str
    why: Literal["few_replies", "few_lines"]
    at: datetime


@dataclass(frozen=True, slots=True)
class QuizAnswered:
    """Which line of the quiz the worker has chosen, from 1."""

    conversation: str
    choice: int
    is_right: bool
    at: datetime
    client_id: str


@dataclass(frozen=True, slots=True)
class ItemEdited:
    """How the worker has improved the text of an item. Changes no state; kept for the analyst.

    `share`: edited words over the length of what was shown, as `edits.edit_share` counts them.
    """

    conversation: str
    text: str
    share: float
    at: datetime


@dataclass(frozen=True, slots=True)
class FeedbackGiven:
    """What the worker wants to tell the researchers; empty when nothing."""

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
    """Something that went wrong with a bot, or that should not have been said.

    Changes no state; kept for the analyst. `text`: the reason; of `gave_itself_away`, the words by which it
    did; of `offensive_reply` and `offensive_input`, those that should not have been said. `failure`: of
    `bot_error` and `bot_gave_up`, the kind of failure, a word of `bots.core.failures`.
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


# What changes a conversation's status after it was begun.
ConversationEnd = (
    ConversationEnded
    | ConversationFailed
    | ConversationSkipped
    | ConversationLeftUnrated
    | ItemShown
    | ConversationRated
)
# What changes a conversation that is planned.
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
    | QuestionnaireHandedIn
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
