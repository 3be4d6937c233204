"""A session's state: a fold of its stored records, under its run's rules. Pure.

A session has no other memory than its records, so any process can rebuild it from the database.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from server.session.conversation import Conversation, Pair, changed
from server.session.instrument import Comparison, Consent, Part, PostEdit, Questionnaires, Quiz, Tutorial
from server.session.plan import LineupSpec
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
    QuestionnaireSubmitted,
    QuizNotAsked,
    Record,
    WorkerSaid,
    WritingKept,
)
from server.session.reply_time import ReplyTime


@dataclass(frozen=True)
class SessionRules:
    """A study's rules for every session of a run. `streaming`: replies are shown word by word.

    `criteria` are those that are rated; `points` has the number of points of those on a Likert scale.
    `correctness`: whether two of them are computed from the answers about paragraphs.
    `rate_share`: the share of a system's conversations that are rated. `post_edit`, `tutorial`, `consent`,
    `debriefing` and `comparison` are None if the study has none. `questionnaires`: those about a conversation
    end with the criteria that are not rated. `scenarios`: the texts for workers, by label. In comparisons,
    `conversations` counts pairs. `quiz`: asked after a conversation, or None. `records_writing`: whether it
    is stored how messages were written.
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
    correctness: bool = False
    tutorial: Tutorial | None = None
    comparison: Comparison | None = None
    streaming: bool = False
    consent: Consent | None = None
    debriefing: str | None = None
    points: Mapping[str, int] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)
    turn_points: int | None = None
    quiz: Quiz | None = None
    records_writing: bool = False
    questionnaires: Questionnaires = field(default_factory=Questionnaires)

    def scenario_text(self, label: str | None) -> str | None:
        """Return the text of a scenario for workers, by its label; None if there is no scenario."""
        return None if label is None else self.scenarios[label]


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The links for workers who end without submitting, by the reason; None means no link.

    `no_consent`: they have not agreed. `screened_out`: they have failed the test questions. `our_failure`: a
    chatbot failed. `reported`: they left with a report, which `reported_code` proves; without a link of its
    own, a report uses that of submitting. `returned`: any other reason.
    """

    no_consent: str | None = None
    screened_out: str | None = None
    our_failure: str | None = None
    reported: str | None = None
    reported_code: str | None = None
    returned: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """The fixed facts of one assignment.

    `seed` is that of its random draws. `reply_pace` scales reply times; it is 1 for people. `code` is the
    completion code, `return_to` the link after submitting, None if there is none. `ways_out` are the links
    for workers who do not submit.
    """

    assignment: str
    seed: int
    reply_pace: float
    code: str
    return_to: str | None
    ways_out: WaysOut = WaysOut()


class Phase(StrEnum):
    """The phase of an assignment."""

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

    `answers` are those to the tutorial's test questions. `submitted` has the questionnaires that are
    submitted. `seen` has the ids of the worker's messages that belong to no conversation.
    """

    rules: SessionRules
    context: AssignmentContext
    conversations: tuple[Conversation, ...] = ()
    agreed: bool = False
    answers: tuple[QuestionAnswered, ...] = ()
    feedback: str | None = None
    closed: Closing | None = None
    submitted: frozenset[Part] = frozenset()
    seen: frozenset[str] = frozenset()

    def with_conversations(self, conversations: tuple[Conversation, ...]) -> "State":
        """Return a copy with `conversations` in place of its own."""
        return tuple.__new__(State, (self.rules, self.context, conversations, *self[3:]))

    @property
    def phase(self) -> Phase:
        """The phase of the assignment."""
        return self.phase_in(self.current)

    def phase_in(self, current: Conversation | None) -> Phase:
        """Return the phase of the assignment, for callers that have looked up the `current` conversation."""
        if self.closed is not None:
            return _CLOSED_PHASE[self.closed]
        if current is not None and current.status == "active":  # all phases before a chat are done
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
        """The text for workers at the end, however it ends; None if they have not agreed."""
        return self.rules.debriefing if self.agreed else None

    @property
    def left_with_report(self) -> bool:
        """Whether the worker has left with a report of a message: paid as if they had submitted."""
        return any(report.leaves for conversation in self.conversations for report in conversation.reports)

    @property
    def code(self) -> str | None:
        """The worker's code for having submitted, or left with a report; None if there is none (yet)."""
        if self.closed == "completed":
            return self.context.code
        if self.closed is None or not self.left_with_report:
            return None
        return self.context.ways_out.reported_code or self.context.code

    @property
    def way_out(self) -> str | None:
        """The link for a worker whose assignment has ended without being submitted; None if there is none."""
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
        return part not in self.submitted and bool(self.rules.questionnaires.of(part))

    @property
    def current(self) -> Conversation | None:
        """The conversation that the worker is in or comes to next; None after the last."""
        for conversation in self.conversations:  # a generator would take twice as long, at every event
            if conversation.status in _OPEN_PHASE or conversation.is_quizzed:
                return conversation
        return None

    @property
    def pair(self) -> Pair | None:
        """The current pair of conversations; None if the current one stands alone, or there is none."""
        if self.rules.comparison is None:
            return None
        current = self.current
        return self.pair_of(current) if current is not None and current.plan.side is not None else None

    def pair_of(self, conversation: Conversation) -> Pair:
        """Return the pair that a conversation belongs to. Raises ValueError if it belongs to none."""
        number, attempt = conversation.plan.number, conversation.plan.attempt
        left, right = (c for c in self.conversations if c.plan.number == number and c.plan.attempt == attempt)
        return Pair(left, right)

    def held_with(self, conversation: Conversation) -> tuple[Conversation, ...]:
        """Return the conversations held at the same time as this one, including it; the left one first."""
        return (conversation,) if conversation.plan.side is None else self.pair_of(conversation)

    def _phase_of(self, current: Conversation) -> Phase:
        if current.is_quizzed:
            return Phase.QUIZ
        return Phase.CHOICE if self._chooses_now() else _OPEN_PHASE[current.status]

    def _chooses_now(self) -> bool:
        """Return whether a pair is over, and the worker has not chosen between its two sides."""
        comparison = self.rules.comparison
        if comparison is None or comparison.choose == "turn":
            return False
        pair = self.pair
        return pair is not None and pair.left.status == "ended" and not pair.left.choices

    @property
    def question(self) -> int | None:
        """The number of the test question that is due, from 1; None if none is left."""
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
        """Return the conversation of that id. Raises KeyError if there is none."""
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
        case WorkerSaid() | BotSaid():  # first, because most records are of these types
            return _changed(state, record)
        case CallKept():
            return state
        case ConversationPlanned():
            return _planned(state, record)
        case Agreed():
            return state._replace(agreed=True, seen=state.seen | {record.client_id})
        case QuestionAnswered():
            return state._replace(answers=(*state.answers, record), seen=state.seen | {record.client_id})
        case QuestionnaireSubmitted():
            return state._replace(
                submitted=state.submitted | {record.part}, seen=state.seen | {record.client_id}
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
