"""The state of a conversation in a session: a fold of its stored records. Pure."""

from datetime import datetime
from typing import Literal, NamedTuple

from server.session.instrument import Opinion
from server.session.records import (
    BotSaid,
    ConversationChange,
    ConversationEnd,
    ConversationEnded,
    ConversationFailed,
    ConversationLeftUnrated,
    ConversationPlanned,
    ConversationRated,
    ConversationSkipped,
    ItemShown,
    MessageReported,
    QuizAnswered,
    QuizAsked,
    ReportTakenBack,
    SideChosen,
    TopicMarked,
    TurnRated,
    WorkerSaid,
)

ConversationStatus = Literal["planned", "active", "ended", "rated", "unrated", "failed", "skipped"]

# Named tuples, because events are many and each changes a few fields: `_replace` takes a fifth of the time
# that it takes with a dataclass. The fields that change at every turn are set without it, in a third of that
# time: they come first, and the others are copied as they are.


class TimedTurn(NamedTuple):
    """A turn in the state of a conversation."""

    author: Literal["worker", "bot"]
    text: str
    at: datetime
    show_at: datetime

    def is_due(self, at: datetime) -> bool:
        """Return whether the turn may be shown at `at`, or was made later (after a clock was set back)."""
        return self.show_at <= at or at < self.at


class Conversation(NamedTuple):
    """The state of a conversation.

    `values` has the worker's ratings of single replies, as (line, rating). `topics` counts the topic marks,
    `inputs` the worker's messages. `opinion` and `bot_opinion` are those of the last mark. `seen` has the ids
    of the worker's messages that belong to the conversation. `choices`: in the left one of a pair, the
    worker's choices. `reports`: the worker's reports that they have not taken back, in the order of their
    lines. `quiz` is the quiz about the conversation, `quiz_choice` the number of the line that the worker has
    chosen in it, from 1.
    """

    plan: ConversationPlanned
    turns: tuple[TimedTurn, ...] = ()
    inputs: int = 0
    seen: frozenset[str] = frozenset()
    status: ConversationStatus = "planned"
    topic: str | None = None
    topics: int = 0
    opinion: Opinion | None = None
    bot_opinion: Opinion | None = None
    values: tuple[tuple[int, int], ...] = ()
    choices: tuple[SideChosen, ...] = ()
    reports: tuple[MessageReported, ...] = ()
    quiz: QuizAsked | None = None
    quiz_choice: int | None = None

    def with_turn(self, turn: TimedTurn, inputs: int, seen: frozenset[str]) -> "Conversation":
        """Return a copy with one more turn and with these `inputs` and `seen`."""
        return tuple.__new__(Conversation, (self.plan, (*self.turns, turn), inputs, seen, *self[4:]))

    @property
    def is_quizzed(self) -> bool:
        """Whether a quiz about the conversation is due."""
        return self.quiz is not None and self.quiz_choice is None

    def awaits_reply(self) -> bool:
        """Return whether the last message is the worker's, so that the bot has to be asked."""
        if self.status != "active":
            return False
        turns = self.turns
        return len(turns) > 0 and turns[-1].author == "worker"

    def report_of(self, index: int) -> MessageReported | None:
        """Return the worker's report of line `index`; None if there is none, or they took it back."""
        return next((report for report in self.reports if report.index == index), None)

    def hides_reply(self, at: datetime) -> bool:
        """Return whether the bot has answered, but its reply must not be shown yet."""
        turns = self.turns
        return len(turns) > 0 and not turns[-1].is_due(at)

    def shows(self, index: int, at: datetime) -> bool:
        """Return whether line `index` exists and the worker may see it; all but the last have been seen."""
        last = len(self.turns) - 1
        return index < last or (index == last and self.turns[index].is_due(at))


class Pair(NamedTuple):
    """Two conversations side by side."""

    left: Conversation
    right: Conversation


def changed(conversation: Conversation, record: ConversationChange) -> Conversation:
    """Return a conversation after one of its records."""
    match record:
        case WorkerSaid():
            turn = TimedTurn("worker", record.text, record.at, record.at)
            return conversation.with_turn(
                turn, conversation.inputs + 1, conversation.seen | {record.client_id}
            )
        case BotSaid():
            turn = TimedTurn("bot", record.text, record.at, record.show_at)
            return conversation.with_turn(turn, conversation.inputs, conversation.seen)
        case SideChosen():
            return conversation._replace(
                choices=(*conversation.choices, record), seen=conversation.seen | {record.client_id}
            )
        case TopicMarked():
            return conversation._replace(
                status="active" if conversation.status == "planned" else conversation.status,
                topic=record.topic,
                topics=conversation.topics + 1,
                opinion=record.opinion,
                bot_opinion=record.bot_opinion,
                seen=conversation.seen | {record.client_id},
            )
        case TurnRated():
            values = {**dict(conversation.values), record.index: record.value}
            return conversation._replace(
                values=tuple(sorted(values.items())), seen=conversation.seen | {record.client_id}
            )
        case MessageReported():
            reports = sorted((*conversation.reports, record), key=lambda report: report.index)
            return conversation._replace(reports=tuple(reports), seen=conversation.seen | {record.client_id})
        case ReportTakenBack():
            return conversation._replace(
                reports=tuple(report for report in conversation.reports if report.index != record.index),
                seen=conversation.seen | {record.client_id},
            )
        case QuizAsked():
            return conversation._replace(quiz=record)
        case QuizAnswered():
            return conversation._replace(
                quiz_choice=record.choice, seen=conversation.seen | {record.client_id}
            )
    return _ended(conversation, record)


def _ended(conversation: Conversation, record: ConversationEnd) -> Conversation:
    match record:
        case ConversationEnded():
            return conversation._replace(status="ended", seen=_seen(conversation, record.client_id))
        case ConversationFailed():
            return conversation._replace(status="failed")
        case ConversationSkipped():
            return conversation._replace(status="skipped")
        case ConversationLeftUnrated():
            return conversation._replace(status="unrated")
        case ItemShown():
            return conversation._replace(status="ended")
        case ConversationRated():
            return conversation._replace(status="rated", seen=_seen(conversation, record.client_id))


def _seen(conversation: Conversation, client_id: str | None) -> frozenset[str]:
    return conversation.seen if client_id is None else conversation.seen | {client_id}
