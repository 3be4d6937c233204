"""Follow a worker's page and its history from the server's messages, and answer its questions. Pure."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, assert_never

from bots.core.chat import Turn

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PageView:
    """The current state of the page.

    `conversation` is the conversation's number, `attempt` the number of the attempt at it. `turns` counts its
    lines. `typing`: a reply is due. `item` is what is read and rated instead. `question` is the number of the
    test question that is due. `correctness`: an answer is judged by paragraphs. `post_edit` says below which
    rating a text must be improved. `consent` holds the consent's version and its ticked boxes (all of them).
    `turn_points`: points of the scale for single replies; `unrated_turn`: the last reply, until it is rated
    or skipped. `points`: points of the criteria rated on a Likert scale. `questions`: the study's own
    questions, by their part; those about a conversation include the criteria that are not rated. `comparison`
    says how two bots are compared; `choice_due` is the line after which to choose between them, `side` the
    one to be rated. `quiz`: lines, one of which the partner said. `language`: the tag of the page's language.
    `records_writing`: the page also records how messages are written.
    """

    phase: str
    minimum_inputs: int
    icebreaker: str | None = None
    conversation: int = 0
    attempt: int = 0
    inputs: int = 0
    turns: int = 0
    typing: bool = False
    topic: str | None = None
    item: Message = field(default_factory=dict)
    question: int = 0
    post_edit: Message | None = None
    correctness: bool = False
    comparison: Message | None = None
    choice_due: int | None = None
    side: str | None = None
    quiz: Sequence[str] = ()
    consent: Message = field(default_factory=dict)
    turn_points: int | None = None
    unrated_turn: int | None = None
    points: Mapping[str, int] = field(default_factory=dict)
    questions: Mapping[str, Sequence[Message]] = field(default_factory=dict)
    language: str = "en"
    records_writing: bool = False

    @property
    def text(self) -> str | None:
        """The text to be rated, if it is a text."""
        return self.item.get("text")


def draw(snapshot: Message) -> PageView:
    """Return the page for a snapshot."""
    conversation, quiz = snapshot["conversation"] or {}, snapshot.get("quiz") or {}
    here = conversation or quiz
    question = snapshot["question"] or {}
    return PageView(
        phase=snapshot["phase"],
        minimum_inputs=snapshot["study"]["minimum_inputs"],
        icebreaker=conversation.get("icebreaker"),
        conversation=here.get("conversation", 0),
        attempt=here.get("attempt", 0),
        inputs=conversation.get("inputs", 0),
        turns=len(conversation.get("turns", ())),
        typing=conversation.get("typing", False),
        topic=conversation.get("topic"),
        item=conversation.get("item") or {},
        question=question.get("question", 0),
        post_edit=snapshot["study"]["post_edit"],
        correctness=snapshot["study"].get("correctness", False),
        comparison=snapshot["study"].get("comparison"),
        choice_due=conversation.get("choice_due"),
        side=conversation.get("side"),
        quiz=quiz.get("lines", ()),
        consent=_ticked(snapshot["study"].get("consent")),
        turn_points=snapshot["study"].get("turn_points"),
        points=_points(snapshot["study"].get("criteria", ())),
        questions=_questions(snapshot["study"]),
        language=(snapshot["study"].get("words") or {}).get("language", "en"),
        records_writing=snapshot["study"].get("records_writing", False),
    )


def _ticked(consent: Message | None) -> Message:
    if consent is None:
        return {}
    return {"consent": consent["version"], "ticked": [box["label"] for box in consent["boxes"]]}


def _points(criteria: Sequence[Message]) -> dict[str, int]:
    scales = {criterion["label"]: criterion["scale"] for criterion in criteria}
    return {
        label: scale["points"]
        for label, scale in scales.items()
        if scale is not None and scale["points"] is not None
    }


def _questions(study: Message) -> dict[str, list[Message]]:
    """Return the study's own questions by their part.

    Criteria that are answered rather than rated are added to the questions about a conversation.
    """
    asked = {part: list(questions) for part, questions in study.get("questionnaires", {}).items()}
    answered = [
        {**criterion["scale"], "label": criterion["label"], "required": True}
        for criterion in study.get("criteria", ())
        if criterion["scale"] is not None and not is_scored(criterion["scale"]["kind"])
    ]
    return {**asked, "conversation": [*asked.get("conversation", ()), *answered]}


def show(view: PageView, message: Message) -> PageView:
    """Return the page after a message from the server."""
    match message["type"]:
        case "snapshot":
            return draw(message)
        case "topic_due":
            return replace(
                view,
                phase="topic",
                conversation=message["conversation"],
                attempt=message["attempt"],
                icebreaker=message["icebreaker"],
                inputs=0,
                typing=False,
                choice_due=None,
            )
        case "question_due":
            return replace(view, phase="tutorial", question=message["question"]["question"])
        case "questionnaire_due":
            return replace(view, phase=f"questions_{message['part']}")
        case "item_due":
            return replace(
                view,
                phase="rating",
                conversation=message["conversation"],
                attempt=message["attempt"],
                item=message["item"],
            )
        case "conversation_started":
            return replace(view, phase="chat", topic=message["topic"], inputs=0, turns=0, unrated_turn=None)
        case "typing":
            return replace(view, typing=True, inputs=view.inputs + 1, turns=view.turns + 1, unrated_turn=None)
        case "said":
            return replace(view, typing=False, turns=message["turn"] + 1, unrated_turn=message["turn"])
        case "said_by_both":
            return _with_both(view, message["turn"])
        case "choice_due" | "rating_due" | "quiz_due":
            return _after_chat(view, message)
        case "feedback_due" | "completed" | "ended":
            phase = {"feedback_due": "feedback", "completed": "done"}
            return replace(view, phase=phase.get(message["type"]) or message["phase"])
    return view


def _after_chat(view: PageView, message: Message) -> PageView:
    match message["type"]:
        case "choice_due":
            return replace(view, phase="choice", typing=False, choice_due=message["turn"])
        case "quiz_due":
            return replace(view, phase="quiz", quiz=message["quiz"]["lines"])
    return replace(view, phase="rating", typing=False, choice_due=None, side=message.get("side"))


def _with_both(view: PageView, turn: int) -> PageView:
    each_turn = view.comparison is not None and view.comparison["choose"] == "turn"
    return replace(view, typing=False, turns=turn + 1, choice_due=turn if each_turn else None)


class History:
    """The lines of one conversation, by their number. Side by side, it is that with the left bot."""

    def __init__(self) -> None:
        self._lines: dict[int, Turn] = {}
        self._right: dict[int, str] = {}

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The lines so far, oldest first."""
        return tuple(self._lines[index] for index in sorted(self._lines))

    def shown(self, view: PageView) -> "ShownTexts":
        """Return the texts that `view` asks about."""
        item = view.item
        if item:
            lines = enumerate(item.get("lines", ()))
            said = {i: line["text"] for i, line in lines if line["author"] == "bot"}
            context = item.get("paragraphs") or [text for text in (item.get("context"),) if text]
            return {
                "output": said if view.text is None else {0: view.text},
                "context": dict(enumerate(context)),
            }
        replies = {i: turn.text for i, turn in self._lines.items() if turn.author == "bot"}
        return {"output": {**replies, **self._right} if view.side == "right" else replies}

    def hear(self, message: Message) -> None:
        """Apply a message from the server."""
        match message["type"]:
            case "conversation_started":
                self._lines, self._right = {}, {}
            case "said":
                self._lines[message["turn"]] = Turn("bot", message["text"])
            case "said_by_both":
                self._lines[message["turn"]] = Turn("bot", message["left"])
                self._right[message["turn"]] = message["right"]
            case "snapshot" if message["conversation"] is not None:
                turns = message["conversation"].get("turns", ())
                self._right = {index: turn["right"] for index, turn in enumerate(turns) if turn.get("right")}
                self._lines = {index: Turn(turn["author"], turn["text"]) for index, turn in enumerate(turns)}

    def speak(self, say: Message) -> None:
        """Add a line of the worker that the server has accepted."""
        self._lines[say["turn"]] = Turn("worker", say["text"])


# The kinds of the protocol; a test compares them with the server's.
AnswerKind = Literal["slider", "likert", "choice", "choices", "number", "text", "span"]
Answer = str | float | list[str] | list[Message]
# The texts that questions are about, by line: `output` of the system, and `context` of an item.
ShownTexts = Mapping[str, Mapping[int, str]]
_COMMENTS = ("It went well.", "Nothing to add.", "A little slow at times.", "Hard to say.")
_SKIPPED = 0.3  # share of the optional questions that are left without an answer
_DECIDES = 0.5  # share of paragraphs that show something of an answer
_SPREAD = 100.0  # of numbers, where no bound says how large they may be


def draw_answers(
    asked: Sequence[Mapping[str, Any]], rng: random.Random, shown: ShownTexts | None = None
) -> dict[str, Answer]:
    """Return an answer to each required question, and to most of the others, by their labels.

    Args:
        asked: the questions as the server sends them.
        rng: draws the answers.
        shown: the texts that the questions are about.
    """
    answered = [question for question in asked if question["required"] or rng.random() >= _SKIPPED]
    return {question["label"]: _draw(question["kind"], question, rng, shown or {}) for question in answered}


def judge_paragraphs(paragraphs: Mapping[int, str], correct: float, rng: random.Random) -> dict[str, Answer]:
    """Return whether an answer is plausible, and a mark in each paragraph that decides.

    Args:
        paragraphs: by number.
        correct: probability that a paragraph that decides shows that the answer is correct.
        rng: draws the answers.
    """
    asked = {"categories": (), "severities": ()}
    marks = [
        {**mark, "category": "correct" if rng.random() < correct else "incorrect"}
        for line, text in paragraphs.items()
        if rng.random() < _DECIDES
        for mark in _marks(asked, {line: text}, rng)
    ]
    if not marks:
        return {"plausible": "yes" if rng.random() < correct else "no"}
    return {"plausible": "yes", "evidence": marks, "confirmed": "yes"}


def is_scored(kind: AnswerKind) -> bool:
    """Return whether answers are numbers on a scale, so that a criterion of this kind is rated."""
    match kind:
        case "slider" | "likert":
            return True
        case "choice" | "choices" | "number" | "text" | "span":
            return False
        case _:
            assert_never(kind)


def nearest_point(rating: int, points: int) -> int:
    """Return the point of a Likert scale, from 1, that lies nearest to a rating from 0 to 100."""
    return 1 + round(rating * (points - 1) / 100)


def _draw(kind: AnswerKind, question: Mapping[str, Any], rng: random.Random, shown: ShownTexts) -> Answer:
    match kind:
        case "choice":
            return str(rng.choice(question["choices"]))
        case "choices":
            number = rng.randint(1, len(question["choices"]))
            return [str(choice) for choice in rng.sample(question["choices"], number)]
        case "likert":
            return rng.randint(1, question["points"])
        case "number":
            return _number(question["least"], question["most"], rng)
        case "slider":
            return rng.randint(0, 100)
        case "text":
            return rng.choice(_COMMENTS)
        case "span":
            return _marks(question, shown.get(question["text"], {0: question["text"]}), rng)
        case _:
            assert_never(kind)


def _marks(question: Mapping[str, Any], texts: Mapping[int, str], rng: random.Random) -> list[Message]:
    """Return a mark of one to three words of one of the texts; none if there are no words."""
    words = [(line, [*re.finditer(r"\S+", text)]) for line, text in texts.items()]
    marked = [(line, found) for line, found in words if found]
    if not marked:
        return []
    line, found = rng.choice(marked)
    first = rng.randrange(len(found))
    last = min(first + rng.randrange(3), len(found) - 1)
    kinds = {"category": question["categories"], "severity": question["severities"]}
    chosen = {name: rng.choice(listed) for name, listed in kinds.items() if listed}
    return [{"line": line, "start": found[first].start(), "end": found[last].end(), **chosen}]


def _number(least: float | None, most: float | None, rng: random.Random) -> float:
    low = least if least is not None else (0.0 if most is None else most - _SPREAD)
    high = most if most is not None else low + _SPREAD
    number = float(round(rng.uniform(low, high)))
    return min(max(number, low), high)
