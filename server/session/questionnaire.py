"""Questions of a study's own: before and after an assignment, and after each conversation. Pure.

The same answer forms serve criteria that are not rated on the published slider.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from candor.common.text_length import is_too_long
from server.errors import AnswersUnfit

MAX_ANSWER = 2_000
MAX_POINTS = 11
# `conversation`: after each rated conversation, together with its rating.
Part = Literal["before", "conversation", "after"]
PARTS: tuple[Part, ...] = get_args(Part)
AnswerKind = Literal["slider", "likert", "choice", "choices", "number", "text"]
# An answer as the page sends it: a number, a text, or several of the choices.
AnswerValue = float | str | Sequence[str]

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Label = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
_Bound = Annotated[float, Field(ge=-1e15, le=1e15, strict=True)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerForm(_Given):
    """The form of an answer.

    `slider`: 0 to 100. `likert`: one of `points`, from 1. Both have words at their `ends`. `choice` and
    `choices`: one, or any number, of the texts in `choices`. `number`: from `least` to `most`, if given.
    `text`: free text.
    """

    kind: AnswerKind
    points: Annotated[int, Field(ge=2, le=MAX_POINTS, strict=True)] | None = None
    ends: Annotated[tuple[Words, ...], Field(min_length=2, max_length=2)] | None = None
    choices: Annotated[tuple[Words, ...], Field(max_length=50)] = ()
    least: _Bound | None = None
    most: _Bound | None = None

    @property
    def is_scored(self) -> bool:
        """Whether answers are numbers on a scale, so that a criterion in this form has scores."""
        return self.kind in {"slider", "likert"}


# The settings of an answer that belong to some kinds only, with these kinds.
BELONGS: dict[str, frozenset[AnswerKind]] = {
    "points": frozenset({"likert"}),
    "ends": frozenset({"slider", "likert"}),
    "choices": frozenset({"choice", "choices"}),
    "least": frozenset({"number"}),
    "most": frozenset({"number"}),
}
# The setting that each of these kinds needs.
NEEDED: dict[AnswerKind, str] = {"likert": "points", "choice": "choices", "choices": "choices"}


class AskedQuestion(AnswerForm):
    """A question of a questionnaire. A question that is not `required` may be left unanswered."""

    label: _Label
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    required: bool = True


_Asked = Annotated[tuple[AskedQuestion, ...], Field(max_length=50)]


class Questionnaires(_Given):
    """Questions `before` the first conversation, with each rating, and `after` the last conversation."""

    before: _Asked = ()
    conversation: _Asked = ()
    after: _Asked = ()

    def of(self, part: Part) -> tuple[AskedQuestion, ...]:
        """Return the questions of a part."""
        asked: dict[Part, tuple[AskedQuestion, ...]] = {
            "before": self.before,
            "conversation": self.conversation,
            "after": self.after,
        }
        return asked[part]


def misfits(form: AnswerForm) -> Iterator[tuple[str, str]]:
    """Yield the settings of an answer that do not fit its kind, each with the reason."""
    for name, kinds_of in BELONGS.items():
        if name in form.model_fields_set and form.kind not in kinds_of:
            kinds = " or ".join(f"`{kind}`" for kind in sorted(kinds_of))
            yield name, f"belongs to an answer of kind {kinds}, and this is a `{form.kind}`: leave it out"
    needed = NEEDED.get(form.kind)
    if needed is not None and needed not in form.model_fields_set:
        example = "points: 7" if needed == "points" else "choices: [Yes, No]"
        yield "kind", f"a `{form.kind}` needs `{needed}`: write for example `{example}`"
    if needed == "choices" and needed in form.model_fields_set and len(form.choices) < 2:
        yield "choices", "give at least two to choose from"
    for i, choice in enumerate(form.choices):
        if choice in form.choices[:i]:
            yield "choices", f"`{choice}` is there twice: give each choice a text of its own"
    if form.least is not None and form.most is not None and form.least > form.most:
        yield "most", f"no number is from {form.least:g} to {form.most:g}: exchange `least` and `most`"


def checked_answers(
    asked: Sequence[AskedQuestion], given: Mapping[str, AnswerValue]
) -> list[tuple[str, float | str]]:
    """Return the answers in the questions' order, each with its label; several choices are several answers.

    Raises:
        AnswersUnfit: A required question has no answer, or an answer does not fit its question; the message
            names all of them.
    """
    faults = [f"`{label}` is not asked here" for label in given if label not in {one.label for one in asked}]
    answers: list[tuple[str, float | str]] = []
    for question in asked:
        values = _values(given.get(question.label))
        if not values and question.required:
            faults.append(f"`{question.label}` has no answer")
        fault = next((why for value in values if (why := _unfit(question, value)) is not None), None)
        if fault is None and len(values) > 1 and question.kind != "choices":
            fault = "give one answer"
        if fault is None and len(set(values)) < len(values):
            fault = "choose each answer once"
        if fault is not None:
            faults.append(f"`{question.label}`: {fault}")
        answers += [(question.label, value) for value in values]
    if faults:
        raise AnswersUnfit("; ".join(faults))
    return answers


def _values(given: AnswerValue | None) -> list[float | str]:
    """Return the single answers in `given`; a blank text is none."""
    if given is None:
        return []
    if isinstance(given, str | float | int):
        return [] if isinstance(given, str) and not given.strip() else [given]
    return list(given)


def _unfit(question: AnswerForm, value: float | str) -> str | None:
    """Return why a value is no valid answer to a question; None if it is one."""
    match question.kind:
        case "choice" | "choices":
            return None if value in question.choices else "choose one of the answers"
        case "text":
            fits = isinstance(value, str) and not is_too_long(value, MAX_ANSWER)
            return None if fits else f"write a text of at most {MAX_ANSWER} characters"
        case "number":
            least = -math.inf if question.least is None else question.least
            most = math.inf if question.most is None else question.most
            fits = not isinstance(value, str) and least <= value <= most
            return None if fits else f"give a number from {least:g} to {most:g}"
    low, high = (1, question.points or 2) if question.kind == "likert" else (0, 100)
    fits = not isinstance(value, str) and low <= value <= high and value == int(value)
    return None if fits else f"give a whole number from {low} to {high}"


def point_to_rating(point: int, points: int) -> int:
    """Return the rating from 0 to 100, a whole number, for a point of a Likert scale, counted from 1.

    On seven points the ratings are 0, 17, 33, 50, 67, 83, 100: each is off its exact place by half a unit at
    most. On up to MAX_POINTS points no two are the same, so that the point can be recovered.
    """
    return round(100 * (point - 1) / (points - 1))


def rating_to_point(rating: int, points: int) -> int:
    """Return the point, from 1, from which `point_to_rating` made a rating."""
    return 1 + round(rating * (points - 1) / 100)
