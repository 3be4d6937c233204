"""A session's state: a fold of its stored records, under its run's rules. Pure.

Whatever a session knows is in its records, so it can be rebuilt from the database on any process.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from server.session.conversation import Conversation, Pair, changed
from server.session.instrument import Comparison, Consent, PostEdit, Tutorial
from server.session.plan import LineupSpec
from server.session.questionnaire import Part, Questionnaires
from server.session.records import (
    Agreed,
    AnswerGiven,
    BotSaid,
    CallKept,
    Closed,
    Closing,
    ConversationChange,
    ConversationPlanned,
    FeedbackGiven,
    Incident,
    ItemEdited,
    OutputKept,
    QuestionAnswered,
    QuestionnaireHandedIn,
    QuizNotAsked,
    Record,
    WorkerSaid,
    WritingKept,
)
from server.session.reply_time import ReplyTime


@dataclass(frozen=True)
class SessionRules:
    """What a study prescribes to every session of a run. `streaming`: replies are shown word by word.

    `criteria` are those that are rated; `points` has those of them that are rated on a Likert scale, with the
    number of its points. `rate_share`: the share of a system's conversations that are rated. `post_edit`,
    `tutorial`, `consent`, `debriefing` and `comparison` are None where the study has none. `questionnaires`:
    those about a conversation end with the criteria that are not rated. `scenarios`: what workers read, by
    the labels. Of pairs of conversations, `conversations` counts the pairs. `quiz_choices`: how many lines
    the quiz after a conversation has; None: there is no quiz. `records_writing`: how inputs were written is
    kept.
    """

    minimum_inputs: int
    maximum_inputs: int
    maximum_topic_changes: int
    criteria: tuple[str, ...]
    conversations: int
    lineup: LineupSpec
    reply_time: ReplyTime
    rate_share: float = 1.0
    post_edit: PostEdit | None = None
    tutorial: Tutorial | None = None
    comparison: Comparison | None = None
    streaming: bool = False
    consent: Consent | None = None
    debriefing: str | None = None
    points: Mapping[str, int] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)
    turn_points: int | None = None
    quiz_choices: int | None = None
    records_writing: bool = False
    questionnaires: Questionnaires = field(default_factory=Questionnaires)

    def scenario_text(self, label: str | None) -> str | None:
        """Return what the worker reads of a scenario, by its label; None where there is none."""
        return None if label is None else self.scenarios[label]


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Where those go who end without handing in, by why they do; None: nowhere.

    `no_consent`: they have not agreed; `screened_out`: they have not passed the test questions;
    `our_failure`: a chatbot failed them; `reported`: they left with a report, and `reported_code` proves it;
    `returned`: any other reason. Where there is no way of its own for a report, it is as if handed in.
    """

    no_consent: str | None = None
    screened_out: str | None = None
    our_failure: str | None = None
    reported: str | None = None
    reported_code: str | None = None
    returned: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """What is fixed about one assignment.

    `seed` fixes what is drawn for it. `reply_pace` scales reply times; 1 for people. `code` is what the
    worker gets for handing it in, `return_to` where they then go; None: nowhere. `ways_out`: where they go
    who do not hand it in.
    """

    assignment: str
    seed: int
    reply_pace: float
    code: str
    return_to: str | None
    ways_out: WaysOut = WaysOut()


class Phase(StrEnum):
    """Where an assignment stands."""

    INSTRUCTIONS = "instructions"
    QUESTIONS_BEFORE = "questions_before"
    TUTORIAL = "tutorial"
    TOPIC = "topic"
    CHAT = "chat"
    CHOICE = "choice"
    RATING = "rating"
    QUIZ = "quiz"
    QUESTIONS_AFTER = "questions_after"
    FEEDBACK = "feedback"
    DONE = "done"
    EXPIRED = "expired"
    RETURNED = "returned"


class State(NamedTuple):
    """A session: a fold of its records over `context` and `rules`.

    `answers` are those to the tutorial's test questions, `handed_in` the questionnaires that are answered.
    `seen` has the ids of the worker's messages that belong to no conversation.
    """

    rules: SessionRules
    context: AssignmentContext
    conversations: tuple[Conversation, ...] = ()
    agreed: bool = False
    answers: tuple[QuestionAnswered, ...] = ()
    feedback: str | None = None
    closed: Closing | None = None
    handed_in: frozenset[Part] = frozenset()
    seen: frozenset[str] = frozenset()

    def with_conversations(self, conversations: tuple[Conversation, ...]) -> "State":
        """Return it with these conversations in place of its own."""
        return tuple.__new__(State, (self.rules, self.context, conversations, *self[3:]))

    @property
    def phase(self) -> Phase:
        """Where the assignment stands."""
        return self.phase_in(self.current)

    def phase_in(self, current: Conversation | None) -> Phase:
        """Return where the assignment stands; for who has looked up the `current` conversation already."""
        if self.closed is not None:
            return _CLOSED_PHASE[self.closed]
        if current is not None and current.status == "active":  # all that comes before a chat is done
            return _OPEN_PHASE["active"]
        if not self.agreed:
            return Phase.INSTRUCTIONS
        if self._is_due("before"):
            return Phase.QUESTIONS_BEFORE
        if self.question is not None:
            return Phase.TUTORIAL
        if current is not None:
            return self._phase_of(current)
        return Phase.QUESTIONS_AFTER if self._is_due("after") else Phase.FEEDBACK

    @property
    def debriefing(self) -> str | None:
        """What the worker is told once it is over, however it ends; None who has not agreed took no part."""
        return self.rules.debriefing if self.agreed else None

    @property
    def left_with_report(self) -> bool:
        """Whether the worker has reported a message and left with it: paid as if they had finished."""
        return any(report.leaves for conversation in self.conversations for report in conversation.reports)

    @property
    def code(self) -> str | None:
        """What the worker gets for having handed in, or left with a report; None: nothing (yet)."""
        if self.closed == "completed":
            return self.context.code
        if self.closed is None or not self.left_with_report:
            return None
        return self.context.ways_out.reported_code or self.context.code

    @property
    def way_out(self) -> str | None:
        """Where somebody goes whose assignment is over without being handed in; None: nowhere."""
        ways, tutorial = self.context.ways_out, self.rules.tutorial
        if self.left_with_report:
            return ways.reported or self.context.return_to
        if not self.agreed:
            return ways.no_consent
        mistakes = sum(not answer.is_right for answer in self.answers)
        if tutorial is not None and mistakes > tutorial.mistakes:
            return ways.screened_out
        if any(conversation.status == "failed" for conversation in self.conversations):
            return ways.our_failure
        return ways.returned

    def _is_due(self, part: Part) -> bool:
        return part not in self.handed_in and bool(self.rules.questionnaires.of(part))

    @property
    def current(self) -> Conversation | None:
        """The conversation that the worker is in or comes to next; None after the last."""
        for conversation in self.conversations:  # a generator would take twice as long, at every event
            if conversation.status in _OPEN_PHASE or conversation.is_quizzed:
                return conversation
        return None

    @property
    def pair(self) -> Pair | None:
        """The current conversation and the one beside it; None where it stands alone, or there is none."""
        if self.rules.comparison is None:
            return None
        current = self.current
        return self.pair_of(current) if current is not None and current.plan.side is not None else None

    def pair_of(self, conversation: Conversation) -> Pair:
        """Return a conversation of a pair and the one beside it. Raises ValueError: it stands alone."""
        number, attempt = conversation.plan.number, conversation.plan.attempt
        left, right = (c for c in self.conversations if c.plan.number == number and c.plan.attempt == attempt)
        return Pair(left, right)

    def held_with(self, conversation: Conversation) -> tuple[Conversation, ...]:
        """Return the conversations that a worker holds at once, of which this is one; the left one first."""
        return (conversation,) if conversation.plan.side is None else self.pair_of(conversation)

    def _phase_of(self, current: Conversation) -> Phase:
        if current.is_quizzed:
            return Phase.QUIZ
        return Phase.CHOICE if self._chooses_now() else _OPEN_PHASE[current.status]

    def _chooses_now(self) -> bool:
        """Return whether a pair is over, and the worker has not chosen between the two."""
        comparison = self.rules.comparison
        if comparison is None or comparison.choose == "turn":
            return False
        pair = self.pair
        return pair is not None and pair.left.status == "ended" and not pair.left.choices

    @property
    def question(self) -> int | None:
        """The number of the test question that is due, from 1; None where none is left."""
        if self.rules.tutorial is None:
            return None
        passed = sum(answer.is_right for answer in self.answers)
        return passed + 1 if passed < len(self.rules.tutorial.questions) else None

    def has_seen(self, client_id: str) -> bool:
        """Return whether the worker's message of that id is stored."""
        if client_id in self.seen:
            return True
        for conversation in self.conversations:  # noqa: SIM110  (a generator would take twice as long)
            if client_id in conversation.seen:
                return True
        return False

    def conversation(self, conversation_id: str) -> Conversation:
        """Return the conversation of that id. Raises KeyError when there is none."""
        for conversation in self.conversations:
            if conversation.plan.conversation == conversation_id:
                return conversation
        raise KeyError(conversation_id)


_CLOSED_PHASE: dict[Closing, Phase] = {
    "completed": Phase.DONE,
    "returned": Phase.RETURNED,
    "expired": Phase.EXPIRED,
}
_OPEN_PHASE: dict[str, Phase] = {"planned": Phase.TOPIC, "active": Phase.CHAT, "ended": Phase.RATING}


def fold(state: State, records: Iterable[Record]) -> State:
    """Return the state after `records`. Raises KeyError for a record of an unknown conversation."""
    for record in records:
        state = _apply(state, record)
    return state


def _apply(state: State, record: Record) -> State:
    match record:
        case WorkerSaid() | BotSaid():  # most records are: what every turn has is asked for first
            return _changed(state, record)
        case CallKept():
            return state
        case ConversationPlanned():
            return _planned(state, record)
        case Agreed():
            return state._replace(agreed=True, seen=state.seen | {record.client_id})
        case QuestionAnswered():
            return state._replace(answers=(*state.answers, record), seen=state.seen | {record.client_id})
        case QuestionnaireHandedIn():
            return state._replace(
                handed_in=state.handed_in | {record.part}, seen=state.seen | {record.client_id}
            )
        case FeedbackGiven():
            return state._replace(feedback=record.text, seen=state.seen | {record.client_id})
        case Closed():
            return state._replace(closed=record.status)
        case Incident() | ItemEdited() | AnswerGiven() | OutputKept() | WritingKept() | QuizNotAsked():
            return state
    return _changed(state, record)


def _changed(state: State, record: ConversationChange) -> State:
    conversations = list(state.conversations)
    for place, conversation in enumerate(conversations):
        if conversation.plan.conversation == record.conversation:
            conversations[place] = changed(conversation, record)
            return state.with_conversations(tuple(conversations))
    raise KeyError(record.conversation)


def _planned(state: State, record: ConversationPlanned) -> State:
    conversations = [*state.conversations, Conversation(record)]
    conversations.sort(key=lambda c: (c.plan.position, c.plan.attempt))
    return state.with_conversations(tuple(conversations))
