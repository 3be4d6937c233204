"""Preview the pages of a study as workers will see them. Nothing is stored, and no bot is called."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import assert_never

from bots import load_corpus
from bots.serving import CorpusError
from server.bots.lineup import session_rules, study_card
from server.desk.studies.study_responses import PreviewStep
from server.errors import StudyInvalid
from server.session.conversation import Conversation, TimedTurn
from server.session.instrument import Quiz
from server.session.item import ItemContent, ItemLine
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
from server.study.texts import ENGLISH, PreviewTexts, instrument_of

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_WHO = "preview"
_FIRST_REPLY = 1  # its line


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
    words = (instrument_of(study.language) or ENGLISH).preview
    planned = tuple(Conversation(plan) for plan in _plans(study, rules, words))
    context = AssignmentContext(_WHO, 1, 1.0, "PREVIEW", study.completion_url)
    start = State(rules, context, conversations=planned)
    yield start
    agreed = start._replace(agreed=True)
    yield agreed
    asked = agreed._replace(submitted=frozenset({"before"}))
    yield asked
    taught = asked._replace(answers=_right_answers(rules))
    yield taught
    for held in _held(study, planned, words):
        yield taught.with_conversations(held)
    rated = taught.with_conversations(tuple(each._replace(status="rated") for each in planned))
    if study.quiz is not None:
        quiz = _quiz(planned[0], study.quiz, words)
        yield rated.with_conversations((rated.conversations[0]._replace(quiz=quiz),))
    yield rated
    done = rated._replace(submitted=frozenset({"before", "after"}))
    yield done
    yield done._replace(closed="completed")


def _plans(study: Study, rules: SessionRules, words: PreviewTexts) -> tuple[ConversationPlanned, ...]:
    """Return the first conversation of an assignment, or the two of its first side-by-side pair."""
    match study.task:
        case "chat":
            return (plan_conversation(rules.lineup, _WHO, 1, 1, 1, study.systems[0].name),)
        case "transcripts":
            shown = PlannedItem("preview", "ordinary", None, _item(study, words))
            return (plan_item(_WHO, 1, 1, "preview", shown),)
        case "side_by_side":
            left, right, *_ = (spec.name for spec in study.systems)
            return plan_pair(rules.lineup, _WHO, 1, 1, 1, (left, right))
        case _:
            assert_never(study.task)


def _item(study: Study, words: PreviewTexts) -> ItemContent:
    """Return a sample item: an answer with paragraphs, a conversation, or a text with its source."""
    if study.correctness:
        return ItemContent(context=words.question, paragraphs=words.paragraphs, text=words.answer)
    if study.items is not None and study.items.run is not None:
        lines = [
            (ItemLine(author="worker", text=text), ItemLine(author="bot", text=words.reply))
            for text in words.messages
        ]
        return ItemContent(lines=tuple(line for pair in lines for line in pair))
    return ItemContent(context=words.paragraphs[0], text=words.text)


def _held(
    study: Study, planned: tuple[Conversation, ...], words: PreviewTexts
) -> Iterator[tuple[Conversation, ...]]:
    """Yield the first conversation or pair in its states: during the chat, at the choice, at the rating."""
    comparison = study.comparison
    held = tuple(_chatting(each, words) for each in planned)
    if comparison is not None and comparison.choose == "turn":
        held = _chosen(held, _FIRST_REPLY)  # the page asks about the last ones
    if study.task_type.chats:
        yield held
    ended = tuple(each._replace(status="ended") for each in held)
    if comparison is not None and comparison.choose == "end":
        yield ended
        ended = _chosen(ended, len(held[0].turns) - 1)
    if study.task_type.needs_ratings or study.criteria or study.asked.conversation:
        yield ended


def _chosen(pair: tuple[Conversation, ...], line: int) -> tuple[Conversation, ...]:
    """Return a pair of which the worker prefers the left conversation after turn `line`."""
    left, right = pair
    choice = SideChosen(left.plan.conversation, line, "left", _AT, f"choice-{line}")
    return left._replace(choices=(*left.choices, choice)), right


def _chatting(conversation: Conversation, words: PreviewTexts) -> Conversation:
    topic = conversation.plan.icebreaker or words.topic
    is_other = conversation.plan.side == "right"
    reply = TimedTurn("bot", words.other_reply if is_other else words.reply, _AT, _AT)
    turns = tuple(turn for text in words.messages for turn in (TimedTurn("worker", text, _AT, _AT), reply))
    inputs = len(words.messages)
    return conversation._replace(status="active", topic=topic, topics=1, turns=turns, inputs=inputs)


def _quiz(conversation: Conversation, quiz: Quiz, words: PreviewTexts) -> QuizAsked:
    name = conversation.plan.conversation
    text = words.line if quiz.about == "lines" else words.persona
    lines = (QuizLine(text.format(n=n), name, 1) for n in range(1, quiz.choices + 1))
    return QuizAsked(name, tuple(lines), _AT, quiz.about)


def _right_answers(rules: SessionRules) -> tuple[QuestionAnswered, ...]:
    questions = rules.tutorial.questions if rules.tutorial is not None else []
    return tuple(
        QuestionAnswered(number, question.right, True, _AT, f"answer-{number}")
        for number, question in enumerate(questions, start=1)
    )
