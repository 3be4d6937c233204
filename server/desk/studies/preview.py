"""Preview the pages of a study as workers will see them. Nothing is stored, and no bot is called."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple, assert_never

from bots import CorpusError, load_corpus
from candor.common.segmentation import base_language
from server.bots.lineup import session_rules, study_card
from server.desk.studies.study_responses import PreviewStep
from server.errors import StudyInvalid
from server.session.conversation import Conversation, TimedTurn
from server.session.instrument import Quiz
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
_FIRST_REPLY = 1  # its line


class _Words(NamedTuple):
    """What the preview's worker writes, and placeholders, because no bot is called and no item is read."""

    topic: str
    messages: tuple[str, str]
    reply: str
    other_reply: str
    text: str
    line: str
    persona: str


_ENGLISH = _Words(
    "What to cook this weekend",
    ("Hello! I want to cook something new this weekend. Any ideas?", "Nothing too spicy, please."),
    "(The chatbot’s reply appears here.)",
    "(The other chatbot’s reply appears here.)",
    "(The text or conversation that workers rate appears here.)",
    "(Line {n}, which a chatbot may have said.)",
    "(Persona {n}, which the chatbot may have.)\n(Its next sentence.)",
)
_WORDS = {
    "de": _Words(
        "Was ich am Wochenende koche",
        ("Hallo! Ich möchte am Wochenende etwas Neues kochen. Hast du Ideen?", "Bitte nichts Scharfes."),
        "(Hier erscheint die Antwort des Chatbots.)",
        "(Hier erscheint die Antwort des anderen Chatbots.)",
        "(Hier erscheint der Text oder das Gespräch, das bewertet wird.)",
        "(Zeile {n}, die vielleicht von einem Chatbot stammt.)",
        "(Persona {n}, die der Chatbot vielleicht hat.)\n(Ihr nächster Satz.)",
    ),
    "es": _Words(
        "Qué cocinar este fin de semana",
        (
            "¡Hola! Este finde quiero cocinar algo nuevo. ¿Alguna idea?",
            "Nada muy picante, por favor.",
        ),
        "(Aquí aparece la respuesta del chatbot.)",
        "(Aquí aparece la respuesta del otro chatbot.)",
        "(Aquí aparece el texto o la conversación que se valora.)",
        "(Frase {n}, que quizá haya dicho un chatbot.)",
        "(Persona {n}, que quizá tenga el chatbot.)\n(Su siguiente frase.)",
    ),
    "fr": _Words(
        "Quoi cuisiner ce week-end",
        (
            "Bonjour ! J’ai envie de cuisiner autre chose. Une idée ?",
            "Rien de trop épicé, merci.",
        ),
        "(La réponse du chatbot apparaît ici.)",
        "(La réponse de l’autre chatbot apparaît ici.)",
        "(Le texte ou la conversation à évaluer apparaît ici.)",
        "(Phrase {n}, qu’un chatbot a peut-être écrite.)",
        "(Persona {n}, que le chatbot a peut-être.)\n(Sa phrase suivante.)",
    ),
    "ja": _Words(
        "週末に作る料理",
        (
            "こんにちは！週末に新しい料理を作りたいです。いい案はありますか？",
            "辛すぎないものがいいです。",
        ),
        "（ここにチャットボットの返答が表示されます。）",
        "（ここにもう一方のチャットボットの返答が表示されます。）",
        "（ここに評価する文章または会話が表示されます。）",
        "（文{n}：チャットボットの発言かもしれません。）",
        "（人物像{n}：チャットボットの設定かもしれません。）\n（次の文。）",
    ),
    "zh": _Words(
        "周末做什么菜",
        ("你好！周末我想做点新菜，有什么建议吗？", "不要太辣的。"),
        "（聊天机器人的回复会显示在这里。）",
        "（另一个聊天机器人的回复会显示在这里。）",
        "（要评分的文本或对话会显示在这里。）",
        "（第{n}句，可能是聊天机器人说的。）",
        "（人设{n}，可能属于聊天机器人。）\n（它的下一句。）",
    ),
}


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
    words = _WORDS.get(base_language(study.language), _ENGLISH)
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


def _plans(study: Study, rules: SessionRules, words: _Words) -> tuple[ConversationPlanned, ...]:
    """Return the first conversation of an assignment, or the two of its first side-by-side pair."""
    match study.task:
        case "chat":
            return (plan_conversation(rules.lineup, _WHO, 1, 1, 1, study.systems[0].name),)
        case "transcripts":
            shown = PlannedItem("preview", "ordinary", None, ItemContent(text=words.text))
            return (plan_item(_WHO, 1, 1, "preview", shown),)
        case "side_by_side":
            left, right, *_ = (spec.name for spec in study.systems)
            return plan_pair(rules.lineup, _WHO, 1, 1, 1, (left, right))
        case _:
            assert_never(study.task)


def _held(
    study: Study, planned: tuple[Conversation, ...], words: _Words
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


def _chatting(conversation: Conversation, words: _Words) -> Conversation:
    topic = conversation.plan.icebreaker or words.topic
    is_other = conversation.plan.side == "right"
    reply = TimedTurn("bot", words.other_reply if is_other else words.reply, _AT, _AT)
    turns = tuple(turn for text in words.messages for turn in (TimedTurn("worker", text, _AT, _AT), reply))
    inputs = len(words.messages)
    return conversation._replace(status="active", topic=topic, topics=1, turns=turns, inputs=inputs)


def _quiz(conversation: Conversation, quiz: Quiz, words: _Words) -> QuizAsked:
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
