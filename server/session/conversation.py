"""A conversation as it stands in a session: a fold of its stored records. Pure."""

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
# that the same takes with a dataclass. What every turn changes is put in without it, in a third of that time:
# those fields come first, and the others are handed on as they are.


class Turn(NamedTuple):
    """A turn as it stands in the state."""

    author: Literal["worker", "bot"]
    text: str
    at: datetime
    show_at: datetime

    def is_due(self, at: datetime) -> bool:
        """Return whether it may be shown at `at`; before it was made, only a clock set back could ask."""
        return self.show_at <= at or at < self.at


class Conversation(NamedTuple):
    """A conversation as it stands in the state.

    `values` has what the worker thinks of single replies, by their lines. `topics` counts the topic
    marks, `inputs` the worker's lines. `opinion` and `bot_opinion` are those of the last mark. `seen`
    has the ids of the worker's messages that belong to it. `choices`: of a left one, what the worker has
    preferred. `reports`: those of its lines that the worker has reported and not taken back, in their order.
    `quiz` and `quiz_choice`: what the worker is asked about it afterwards, and which line they
    have chosen, from 1.
    """

    plan: ConversationPlanned
    turns: tuple[Turn, ...] = ()
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

    def with_turn(self, turn: Turn, inputs: int, seen: frozenset[str]) -> "Conversation":
        """Return it with one more line, after which `inputs` and `seen` are these."""
        return tuple.__new__(Conversation, (self.plan, (*self.turns, turn), inputs, seen, *self[4:]))

    @property
    def is_quizzed(self) -> bool:
        """Whether the worker is asked which of some lines its partner said, and has not answered."""
        return self.quiz is not None and self.quiz_choice is None

    def awaits_reply(self) -> bool:
        """Return whether the last word is the worker's, so that the bot has to be asked."""
        if self.status != "active":
            return False
        turns = self.turns
        return len(turns) > 0 and turns[-1].author == "worker"

    def report_of(self, index: int) -> MessageReported | None:
        """Return what the worker has reported of line `index`; None: nothing, or they took it back."""
        return next((report for report in self.reports if report.index == index), None)

    def hides_reply(self, at: datetime) -> bool:
        """Return whether the bot has answered, but it is too early to show it."""
        turns = self.turns
        return len(turns) > 0 and not turns[-1].is_due(at)

    def shows(self, index: int, at: datetime) -> bool:
        """Return whether line `index` is there and the worker may see it: whatever was answered, was seen."""
        last = len(self.turns) - 1
        return index < last or (index == last and self.turns[index].is_due(at))


class Pair(NamedTuple):
    """Two conversations that stand beside each other."""

    left: Conversation
    right: Conversation


def changed(conversation: Conversation, record: ConversationChange) -> Conversation:
    """Return a conversation after a record of it."""
    match record:
        case WorkerSaid():
            turn = Turn("worker", record.text, record.at, record.at)
            return conversation.with_turn(
                turn, conversation.inputs + 1, conversation.seen | {record.client_id}
            )
        case BotSaid():
            turn = Turn("bot", record.text, record.at, record.show_at)
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
