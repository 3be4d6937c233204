"""The pages of a study as a worker will see them, one after the other. Nothing is stored, no bot is asked."""

from collections.abc import Iterator
from datetime import UTC, datetime

from bots import CorpusError, load_corpus
from server.bots.lineup import rules_of, study_card
from server.desk.study_responses import PreviewStep
from server.errors import StudyInvalid
from server.session.context import AssignmentContext
from server.session.conversation import Conversation, Turn
from server.session.item import ItemContent
from server.session.phase import Phase
from server.session.plan import plan_conversation, plan_item
from server.session.records import ConversationPlanned, PlannedItem, QuestionAnswered, QuizAsked, QuizLine
from server.session.rules import SessionRules
from server.session.state import State
from server.session.worker_view import snapshot
from server.study import Study

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_WHO = "preview"
_TOPIC = "What to cook this weekend"
# What is said in the preview is nobody's reply: no bot is asked while a study is being written.
_LINES = (
    ("worker", "Hello! I want to cook something new this weekend. Any ideas?"),
    ("bot", "(This is where the chatbot’s reply stands.)"),
    ("worker", "Nothing too spicy, please."),
    ("bot", "(And here is the next one.)"),
)
_TEXT = "(Here stands one of the texts, or one of the conversations, that workers rate.)"


def preview(study: Study) -> list[PreviewStep]:
    """Return the pages of a study without mistakes, in their order, each phase once.

    Raises:
        StudyInvalid: its corpus cannot be read, or has no personas where some are needed.
    """
    try:
        rules = rules_of(study, load_corpus(study.corpus, study.language))
    except CorpusError as error:
        raise StudyInvalid(f"corpus `{study.corpus}` cannot be opened: {error}") from error
    card = study_card(study)
    steps: dict[str, PreviewStep] = {}
    for state in _states(study, rules):
        if study.task == "transcripts" and state.phase is Phase.TOPIC:
            continue  # an item is rated as soon as it is shown
        shown = snapshot(state, card, _AT)
        steps.setdefault(shown.phase, PreviewStep(phase=shown.phase, snapshot=shown.model_dump(mode="json")))
    return list(steps.values())


def _states(study: Study, rules: SessionRules) -> Iterator[State]:
    """Yield a session at the pages that a worker comes to."""
    first = Conversation(_plan(study, rules))
    context = AssignmentContext(_WHO, 1, 1.0, "PREVIEW", study.completion_url)
    start = State(rules, context, conversations=(first,))
    yield start
    agreed = start._replace(agreed=True)
    yield agreed
    asked = agreed._replace(handed_in=frozenset({"before"}))
    yield asked
    taught = asked._replace(answers=_right_answers(rules))
    yield taught
    if study.task == "chat":
        yield taught._replace(conversations=(_chatting(first),))
    yield taught._replace(conversations=(_chatting(first)._replace(status="ended"),))
    held = _chatting(first)._replace(status="rated")
    if study.quiz is not None:
        yield taught._replace(conversations=(held._replace(quiz=_quiz(first, study.quiz.choices)),))
    rated = taught._replace(conversations=(held,))
    yield rated
    done = rated._replace(handed_in=frozenset({"before", "after"}))
    yield done
    yield done._replace(closed="completed")


def _plan(study: Study, rules: SessionRules) -> ConversationPlanned:
    if study.task == "chat":
        return plan_conversation(rules.lineup, _WHO, 1, 1, 1, study.systems[0].name)
    shown = PlannedItem("preview", "ordinary", None, ItemContent(text=_TEXT))
    return plan_item(_WHO, 1, 1, "preview", shown)


def _chatting(conversation: Conversation) -> Conversation:
    topic = conversation.plan.icebreaker or _TOPIC
    turns = tuple(Turn("bot" if author == "bot" else "worker", text, _AT, _AT) for author, text in _LINES)
    inputs = sum(turn.author == "worker" for turn in turns)
    return conversation._replace(status="active", topic=topic, topics=1, turns=turns, inputs=inputs)


def _quiz(conversation: Conversation, choices: int) -> QuizAsked:
    name = conversation.plan.conversation
    lines = (f"(Line {n}, of which the chat partner said one.)" for n in range(1, choices + 1))
    return QuizAsked(name, tuple(QuizLine(line, name, 1) for line in lines), _AT)


def _right_answers(rules: SessionRules) -> tuple[QuestionAnswered, ...]:
    questions = rules.tutorial.questions if rules.tutorial is not None else []
    return tuple(
        QuestionAnswered(number, question.right, True, _AT, f"answer-{number}")
        for number, question in enumerate(questions, start=1)
    )
