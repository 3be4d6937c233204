"""The instrument: the questions that workers answer (METHOD, section 1), and how they compare systems."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from server.errors import AnswersUnfit
from server.session.answer_kinds import NOTHING_SHOWN, AnswerForm, AnswerValue, ShownTexts, single_answers

# Workers chat and rate; or rate items; or chat with two systems at once, and choose one of them.
Task = Literal["chat", "transcripts", "side_by_side"]
# A conversation's side on the worker's page, and the worker's possible answers about the two.
Side = Literal["left", "right"]
Preference = Literal["left", "right", "tie"]
Asked = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


def number_on_page(position: int, side: Side | None) -> int:
    """Return a conversation's number as workers see it, from 1; both of a pair have the same number."""
    return position if side is None else (position + 1) // 2


class Comparison(BaseModel):
    """The comparison of systems by workers.

    With `history: chosen`, both systems continue from the chosen reply, so that there is one conversation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: Annotated[int, Field(ge=1, le=20, strict=True)] = Field(
        3, title="Pairs per worker", description="Pairs with the quality-control bot are added to these."
    )
    choose: Literal["end", "turn"] = Field(
        "end",
        title="When they choose",
        json_schema_extra={
            "x-words": {"end": "At the end of both conversations", "turn": "After each pair of replies"}
        },
    )
    history: Literal["own", "chosen"] = Field(
        "own",
        title="Which replies the systems remember",
        json_schema_extra={"x-words": {"own": "Their own replies", "chosen": "The chosen replies"}},
    )
    ties: bool = Field(default=True, title="Allow “About the same”")
    question: Asked | None = None


# Who chooses the opening topic of a conversation: the worker, or the study (METHOD section 1.3).
TopicMode = Literal["free", "icebreaker"]
Label = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


ScenarioTopic = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Opinion(StrEnum):
    """An opinion of a topic."""

    LIKE = "like"
    AMBIVALENT = "ambivalent"
    DISLIKE = "dislike"


class TopicChangeKind(StrEnum):
    """The way a topic changed: the five kinds of the instrument (METHOD section 1.4)."""

    BOT_CHANGE = "bot change"
    USER_CHANGE_LAST = "user change last"
    USER_CHANGE_NEXT = "user change next"
    USER_WANTS_BOT_CHANGE = "user wants bot change"
    NO_CHANGE = "no change"


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Criterion(_Given):
    """A statement that workers rate from 0 to 100 (METHOD section 1).

    `scale`: the form of the answer; null: the published slider. Choices and free text are answers, not
    ratings.
    """

    label: Label = Field(description="Its name in the data. Workers never see it.")
    statement: Statement
    negative: bool = Field(
        default=False, title="Reverse-scored", description="Agreement speaks against the system."
    )
    qc: bool = Field(
        default=True, title="Counts for quality control", description="The worker filter uses it."
    )
    scale: AnswerForm | None = None

    @property
    def is_scored(self) -> bool:
        """Whether it is rated, and therefore has scores."""
        return self.scale is None or self.scale.type.is_scored


class Display(_Given):
    """The display of replies, the same for all systems."""

    markdown: bool = Field(default=False, description="Show emphasis, lists and tables in replies.")
    streaming: bool = Field(
        default=False, title="Word by word", description="At the same pace for every bot."
    )


# An image within the study: the browser of a worker asks no other host for it. 40,000 characters hold 30 kB.
Image = Annotated[
    str,
    StringConstraints(
        pattern=r"^data:image/(png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$", max_length=40_000
    ),
]


class Lab(_Given):
    """The lab whose name, and logo if any, workers see at the top of the page in place of the program's."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
    logo: Image | None = Field(None, description="PNG, JPEG, WebP or SVG, up to 30 kB.")


class PostEdit(_Given):
    """A worker who rates a text below `top` on this criterion must improve it (Chaganty et al. 2018).

    `top` is the lowest rating, from 0 to 100 with 100 the best, for which nothing has to be improved.
    """

    criterion: Label = Field(description="The label of the criterion that decides.")
    top: Annotated[int, Field(ge=1, le=100, strict=True)] = Field(
        90, title="Top of the scale", description="Texts rated below this must be improved."
    )


QuizAbout = Literal["lines", "personas"]


class Quiz(_Given):
    """The quiz after a conversation: which of several lines, or personas, was the chat partner's?

    Lines come from other workers' conversations of the run; personas are the study's.
    """

    choices: Annotated[int, Field(ge=2, le=6, strict=True)] = Field(4, title="Number of choices")
    about: QuizAbout = Field(
        "lines",
        title="What it asks",
        description=(
            "Lines check the worker’s attention. Personas show whether a system’s persona comes across."
        ),
        json_schema_extra={
            "x-words": {
                "lines": "Which of these lines the chat partner said",
                "personas": "Which of these personas the chat partner had",
            }
        },
    )


class Scenario(_Given):
    """A situation or a task for a conversation, drawn from the study's list.

    `text` is shown to the worker, and to the bot if `tell_bot` is true. `topic`: the conversation's opening
    topic, in place of the worker's. `prompt` is for bots that take instructions; workers never see it.
    """

    label: Label = Field(description="Its name in the data. Workers never see it.")
    text: Statement = Field(title="What the worker reads")
    topic: ScenarioTopic | None = Field(
        None, description="The first topic. If empty, as the study’s topics are chosen."
    )
    tell_bot: bool = Field(default=False, title="The bot reads it too")
    prompt: Statement | None = Field(None, title="Additional instructions for the bot")


class Question(_Given):
    """A test question: a text, a question about it, and the answers to choose from, numbered from 1."""

    text: Statement
    question: Statement
    answers: Annotated[list[Statement], Field(min_length=2, max_length=6)]
    right: Annotated[int, Field(ge=1, le=6, strict=True)] = Field(title="Number of the right answer")
    why: Statement = Field(title="Explanation", description="Workers read it after they answer.")


class Tutorial(_Given):
    """Test questions that a worker answers first. More wrong answers than `mistakes` end the assignment."""

    questions: Annotated[list[Question], Field(min_length=1, max_length=30)] = Field(title="Test questions")
    mistakes: Annotated[int, Field(ge=0, le=100, strict=True)] = Field(
        3, title="Wrong answers at most", description="With more, the assignment ends."
    )


class ConsentBox(_Given):
    """A box that a worker may tick, or must."""

    label: Label = Field(description="Its name in the data, made from the text.")
    text: Statement = Field(title="What a worker agrees to")
    required: bool = Field(default=True, title="Workers must tick it")


class Consent(_Given):
    """The consent form. A blank line in `text` begins a new paragraph."""

    version: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)] = Field(
        title="Version of the consent form",
        description="Stored with every agreement. Change it whenever you change the text.",
    )
    board: Statement | None = Field(
        None, title="Ethics board", description="The number of its approval. Leave empty if there is none."
    )
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)] = Field(
        title="Consent text"
    )
    boxes: Annotated[list[ConsentBox], Field(max_length=20)] = Field([], title="Boxes to tick")

    def are_ticked(self, ticked: Iterable[str]) -> bool:
        """Return whether `ticked` has all required boxes, and nothing that is not a box."""
        given = set(ticked)
        required = {box.label for box in self.boxes if box.required}
        return required <= given <= {box.label for box in self.boxes}


# `conversation`: after each rated conversation, together with its rating.
Part = Literal["before", "conversation", "after"]
PARTS: tuple[Part, ...] = get_args(Part)


class AskedQuestion(AnswerForm):
    """A question of a questionnaire. A question that is not `required` may be left unanswered."""

    label: Label = Field(description="Its name in the data, made from the question.")
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    required: bool = True


_Questions = Annotated[tuple[AskedQuestion, ...], Field(max_length=50)]


class Questionnaires(BaseModel):
    """Questions `before` the first conversation, with each rating, and `after` the last conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    before: _Questions = Field((), title="Questions before the first conversation")
    conversation: _Questions = Field((), title="Questions after each conversation")
    after: _Questions = Field((), title="Questions at the end")

    def of(self, part: Part) -> tuple[AskedQuestion, ...]:
        """Return the questions of a part."""
        asked: dict[Part, tuple[AskedQuestion, ...]] = {
            "before": self.before,
            "conversation": self.conversation,
            "after": self.after,
        }
        return asked[part]


def checked_answers(
    asked: Sequence[AskedQuestion], given: Mapping[str, AnswerValue], shown: ShownTexts = NOTHING_SHOWN
) -> list[tuple[str, float | str]]:
    """Return the answers in the questions' order, each with its label; several choices are several answers.

    Args:
        asked: The questions.
        given: Their answers, by label.
        shown: The texts of the conversation that the questions are about.

    Raises:
        AnswersUnfit: A required question has no answer, or an answer does not fit its question; the message
            names all of them.
    """
    faults = [f"“{label}” is not asked here" for label in given if label not in {one.label for one in asked}]
    answers: list[tuple[str, float | str]] = []
    for question in asked:
        values = single_answers(given.get(question.label))
        fault = question.type.fault(question, values, shown) if values else None
        if not values and question.required and question.type.is_asked(question, shown):
            faults.append(f"“{question.label}” has no answer")
        if fault is not None:
            faults.append(f"“{question.label}”: {fault}")
        answers += [(question.label, value) for value in values]
    if faults:
        raise AnswersUnfit("; ".join(faults))
    return answers
