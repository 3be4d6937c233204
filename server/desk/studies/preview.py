"""Preview the pages of a study as workers will see them. Nothing is stored, and no bot is called."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import assert_never

from bots import CorpusError, load_corpus
from server.bots.lineup import session_rules, study_card
from server.desk.studies.study_responses import PreviewStep
from server.errors import StudyInvalid
from server.session.conversation import Conversation, TimedTurn
from server.session.instrument import Quiz, Side
from server.session.item import ItemContent
from server.session.plan import plan_conversation, plan_item, plan_pair
from server.session.records import (
    ConversationPlanned,
    PlannedItem,
    QuestionAnswered,
    QuizAsked,
    QuizLine,
    SideChosen,
)
from server.session.state import AssignmentContext, Phase, SessionRules, State
from server.session.steps.worker_view import snapshot
from server.study import Study

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_WHO = "preview"
_TOPIC = "What to cook this weekend"
# The preview's chat has placeholders for replies, because no bot is called.
_LINES = (
    "Hello! I want to cook something new this weekend. Any ideas?",
    None,  # a chatbot's reply
    "Nothing too spicy, please.",
    None,
)
_FIRST_REPLY = 1  # its line
_REPLIES: dict[Side | None, tuple[str, str]] = {
    None: ("(This is where the chatbot’s reply stands.)", "(And here is the next one.)"),
    "left": ("(This is where one chatbot’s reply stands.)", "(And here is its next one.)"),
    "right": ("(And this is where the other one’s stands.)", "(Here is the other one’s next.)"),
}
_TEXT = "(Here stands one of the texts, or one of the conversations, that workers rate.)"


def preview(study: Study) -> list[PreviewStep]:
    """Return the pages of a valid study, in order, each phase once.

    Raises:
        StudyInvalid: its corpus cannot be read, or lacks personas that the study needs.
    """
    try:
        rules = session_rules(study, load_corpus(study.corpus, study.language))
    except CorpusError as error:
        raise StudyInvalid(f"Corpus “{study.corpus}” cannot be opened: {error}") from error
    card = study_card(study)
    steps: dict[str, PreviewStep] = {}
    for state in _states(study, rules):
        if not study.task_type.chats and state.phase is Phase.TOPIC:
            continue  # an item is rated as soon as it is shown
        shown = snapshot(state, card, _AT)
        steps.setdefault(shown.phase, PreviewStep(phase=shown.phase, snapshot=shown.model_dump(mode="json")))
    return list(steps.values())


def _states(study: Study, rules: SessionRules) -> Iterator[State]:
    """Yield the states of a session at each page that a worker sees."""
    planned = tuple(Conversation(plan) for plan in _plans(study, rules))
    context = AssignmentContext(_WHO, 1, 1.0, "PREVIEW", study.completion_url)
    start = State(rules, context, conversations=planned)
    yield start
    agreed = start._replace(agreed=True)
    yield agreed
    asked = agreed._replace(submitted=frozenset({"before"}))
    yield asked
    taught = asked._replace(answers=_right_answers(rules))
    yield taught
    for held in _held(study, planned):
        yield taught.with_conversations(held)
    rated = taught.with_conversations(tuple(each._replace(status="rated") for each in planned))
    if study.quiz is not None:
        quiz = _quiz(planned[0], study.quiz)
        yield rated.with_conversations((rated.conversations[0]._replace(quiz=quiz),))
    yield rated
    done = rated._replace(submitted=frozenset({"before", "after"}))
    yield done
    yield done._replace(closed="completed")


def _plans(study: Study, rules: SessionRules) -> tuple[ConversationPlanned, ...]:
    """Return the first conversation of an assignment, or the two of its first side-by-side pair."""
    match study.task:
        case "chat":
            return (plan_conversation(rules.lineup, _WHO, 1, 1, 1, study.systems[0].name),)
        case "transcripts":
            shown = PlannedItem("preview", "ordinary", None, ItemContent(text=_TEXT))
            return (plan_item(_WHO, 1, 1, "preview", shown),)
        case "side_by_side":
            left, right, *_ = (spec.name for spec in study.systems)
            return plan_pair(rules.lineup, _WHO, 1, 1, 1, (left, right))
        case _:
            assert_never(study.task)


def _held(study: Study, planned: tuple[Conversation, ...]) -> Iterator[tuple[Conversation, ...]]:
    """Yield the first conversation or pair in its states: during the chat, at the choice, at the rating."""
    comparison = study.comparison
    held = tuple(_chatting(each) for each in planned)
    if comparison is not None and comparison.choose == "turn":
        held = _chosen(held, _FIRST_REPLY)  # the page asks about the last ones
    if study.task_type.chats:
        yield held
    ended = tuple(each._replace(status="ended") for each in held)
    if comparison is not None and comparison.choose == "end":
        yield ended
        ended = _chosen(ended, len(_LINES) - 1)
    if study.task_type.needs_ratings or study.criteria or study.asked.conversation:
        yield ended


def _chosen(pair: tuple[Conversation, ...], line: int) -> tuple[Conversation, ...]:
    """Return a pair of which the worker prefers the left conversation after turn `line`."""
    left, right = pair
    choice = SideChosen(left.plan.conversation, line, "left", _AT, f"choice-{line}")
    return left._replace(choices=(*left.choices, choice)), right


def _chatting(conversation: Conversation) -> Conversation:
    topic = conversation.plan.icebreaker or _TOPIC
    replies = iter(_REPLIES[conversation.plan.side])
    turns = tuple(
        TimedTurn("worker", text, _AT, _AT) if text else TimedTurn("bot", next(replies), _AT, _AT)
        for text in _LINES
    )
    inputs = sum(turn.author == "worker" for turn in turns)
    return conversation._replace(status="active", topic=topic, topics=1, turns=turns, inputs=inputs)


def _quiz(conversation: Conversation, quiz: Quiz) -> QuizAsked:
    name = conversation.plan.conversation
    match quiz.about:
        case "lines":
            text = "(Line {n}, of which the chat partner said one.)"
        case "personas":
            text = "(Persona {n}, of which the chat partner has one.)\n(Here is its next sentence.)"
        case _:
            assert_never(quiz.about)
    lines = (QuizLine(text.format(n=n), name, 1) for n in range(1, quiz.choices + 1))
    return QuizAsked(name, tuple(lines), _AT, quiz.about)


def _right_answers(rules: SessionRules) -> tuple[QuestionAnswered, ...]:
    questions = rules.tutorial.questions if rules.tutorial is not None else []
    return tuple(
        QuestionAnswered(number, question.right, True, _AT, f"answer-{number}")
        for number, question in enumerate(questions, start=1)
    )
