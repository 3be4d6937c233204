"""Kinds of answers to questions and criteria: one class each, found by `answer_type`. Pure.

A new kind is a name in `AnswerKind` and a class here. CONTRIBUTING.md lists the other files.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Literal,
    NotRequired,  # pydantic needs this one before Python 3.12
    assert_never,
    get_args,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from candor.common.segmentation import is_too_long

MAX_ANSWER = 2_000
MAX_POINTS = 11
AnswerKind = Literal["slider", "likert", "choice", "choices", "number", "text", "span"]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
_Index = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]


@with_config(ConfigDict(extra="forbid"))
class Mark(TypedDict):
    """A marked span of a text: its characters from `start` to before `end`, counted from 0.

    Characters are Unicode code points. `line`: the line of the conversation, counted from 0; 0 in any other
    text.
    """

    line: _Index
    start: _Index
    end: _Index
    category: NotRequired[str]
    severity: NotRequired[str]


_MARK = TypeAdapter(Mark)
# An answer as the page sends it: a number, a text, several of the choices, or marks.
AnswerValue = float | str | Sequence[str] | Sequence[Mark]

_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Bound = Annotated[float, Field(ge=-1e15, le=1e15, strict=True)]
_Passage = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]


class AnswerForm(BaseModel):
    """The form of an answer.

    `slider`: 0 to 100. `likert`: one of `points`, from 1. Both have words at their `ends`, or the points have
    `labels`, one each. `choice` and `choices`: one, or any number, of the texts in `choices`. `number`: from
    `least` to `most`, if given. `text`: free text. `span`: marks in a `text`, each of one of the `categories`
    and `severities` if there are any. The text is the `output` of the system (its text, or its lines of a
    conversation), the `context` of an item, or the words that are given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: AnswerKind = Field(title="Kind of answer")
    points: Annotated[int, Field(ge=2, le=MAX_POINTS, strict=True)] | None = Field(
        None, description="From 2 to 11."
    )
    ends: Annotated[tuple[_Words, ...], Field(min_length=2, max_length=2)] | None = Field(
        None, title="Labels of the ends", description="Two lines: first the low end, then the high end."
    )
    labels: Annotated[tuple[_Words, ...], Field(max_length=MAX_POINTS)] = Field(
        (),
        title="Labels of the points",
        description="One line for each point, from the lowest, instead of the labels of the ends.",
    )
    choices: Annotated[tuple[_Words, ...], Field(max_length=50)] = Field((), title="Answers to choose from")
    least: _Bound | None = Field(None, title="Smallest number")
    most: _Bound | None = Field(None, title="Largest number")
    text: Literal["output", "context"] | _Passage | None = Field(
        None,
        title="Text to mark",
        json_schema_extra={
            "x-words": {"output": "What the system said or wrote", "context": "The context of an item"}
        },
    )
    categories: Annotated[tuple[_Words, ...], Field(max_length=50)] = Field(
        (), title="Categories of marks", description="Each mark has one of them; empty: none."
    )
    severities: Annotated[tuple[_Words, ...], Field(max_length=11)] = Field(
        (), title="Severities of marks", description="Each mark has one of them; empty: none."
    )

    @property
    def type(self) -> "AnswerType":
        """The rules of its kind."""
        return answer_type(self.kind)


@dataclass(frozen=True, slots=True)
class ShownTexts:
    """The texts that a worker judges, by line: the system's `output`, and the `context` of an item."""

    output: Mapping[int, str] = field(default_factory=dict)
    context: Mapping[int, str] = field(default_factory=dict)

    def marked_by(self, form: AnswerForm) -> Mapping[int, str]:
        """Return the texts that an answer of the kind `span` marks, by line."""
        match form.text:
            case None:
                return {}
            case "output":
                return self.output
            case "context":
                return self.context
            case own:
                return {0: own}


NOTHING_SHOWN = ShownTexts()


class AnswerType(ABC):
    """A kind of answer: its settings, its check, and how readers and exports get its answers.

    `words`: its name for researchers. `settings`: the settings of `AnswerForm` that belong to it. `example`:
    the one that it needs, as an example for a study file. `is_scored`: answers are numbers on a scale, so
    that a criterion of this kind has scores. `for_criteria`: criteria may be of this kind.
    """

    words: str
    settings: frozenset[str] = frozenset()
    example: str | None = None
    is_scored: bool = False
    for_criteria: bool = False

    def is_asked(self, _form: AnswerForm, _shown: ShownTexts) -> bool:
        """Return whether the question can be answered about the texts shown; it is not asked otherwise."""
        return True

    @abstractmethod
    def fault(self, form: AnswerForm, values: Sequence[float | str], shown: ShownTexts) -> str | None:
        """Return why `values`, at least one, are no valid answer; None if they are."""

    @abstractmethod
    def exported(self, values: Sequence[float | str]) -> object:
        """Return the answer as a JSON value of the published form, from its stored `values`."""

    def in_words(self, _form: AnswerForm, value: float | str, _shown: ShownTexts) -> str:
        """Return a stored value as researchers read it."""
        return value if isinstance(value, str) else f"{value:g}"


class _OneAnswer(AnswerType):
    def fault(self, form: AnswerForm, values: Sequence[float | str], _shown: ShownTexts) -> str | None:
        unfit = (why for value in values if (why := self._unfit(form, value)) is not None)
        return next(unfit, None if len(values) == 1 else "give one answer")

    def exported(self, values: Sequence[float | str]) -> object:
        return values[-1]

    @abstractmethod
    def _unfit(self, form: AnswerForm, value: float | str) -> str | None:
        """Return why a value is no valid answer; None if it is one."""


class _Scale(_OneAnswer):
    """Whole numbers up to a highest one, with words at both ends."""

    is_scored = True
    for_criteria = True
    lowest = 0

    def highest(self, _form: AnswerForm) -> int:
        """Return the upper end of the scale."""
        return 100

    def _unfit(self, form: AnswerForm, value: float | str) -> str | None:
        low, high = self.lowest, self.highest(form)
        fits = not isinstance(value, str) and low <= value <= high and value == int(value)
        return None if fits else f"give a whole number from {low} to {high}"

    def in_words(self, form: AnswerForm, value: float | str, shown: ShownTexts) -> str:
        return f"{super().in_words(form, value, shown)} of {self.highest(form)}"


class _Slider(_Scale):
    words = "a slider from 0 to 100"
    settings = frozenset({"ends"})


class _Likert(_Scale):
    words = "one of several points"
    settings = frozenset({"points", "ends", "labels"})
    example = "points: 7"
    lowest = 1

    def highest(self, form: AnswerForm) -> int:
        return form.points or 2

    def in_words(self, form: AnswerForm, value: float | str, shown: ShownTexts) -> str:
        point = super().in_words(form, value, shown)
        return f"{form.labels[int(value) - 1]} ({point})" if form.labels else point


class _Choice(_OneAnswer):
    words = "one of several answers"
    settings = frozenset({"choices"})
    example = "choices: [Often, Never]"
    for_criteria = True

    def _unfit(self, form: AnswerForm, value: float | str) -> str | None:
        return None if value in form.choices else "choose one of the answers"


class _Choices(AnswerType):
    words = "any number of several answers"
    settings = frozenset({"choices"})
    example = "choices: [Often, Never]"

    def fault(self, form: AnswerForm, values: Sequence[float | str], _shown: ShownTexts) -> str | None:
        if not set(values) <= set(form.choices):
            return "choose one of the answers"
        return "choose each answer once" if len(set(values)) < len(values) else None

    def exported(self, values: Sequence[float | str]) -> object:
        return list(values)


class _Number(_OneAnswer):
    words = "a number"
    settings = frozenset({"least", "most"})

    def _unfit(self, form: AnswerForm, value: float | str) -> str | None:
        least = -math.inf if form.least is None else form.least
        most = math.inf if form.most is None else form.most
        fits = not isinstance(value, str) and least <= value <= most
        return None if fits else f"give a number from {least:g} to {most:g}"


class _Text(_OneAnswer):
    words = "text"
    for_criteria = True

    def _unfit(self, _form: AnswerForm, value: float | str) -> str | None:
        fits = isinstance(value, str) and not is_too_long(value, MAX_ANSWER)
        return None if fits else f"write a text of at most {MAX_ANSWER} characters"


class _Span(AnswerType):
    words = "marks in a text"
    settings = frozenset({"text", "categories", "severities"})
    example = "text: The cat sat on the mat."

    def is_asked(self, form: AnswerForm, shown: ShownTexts) -> bool:
        return any(text.strip() for text in shown.marked_by(form).values())

    def fault(self, form: AnswerForm, values: Sequence[float | str], shown: ShownTexts) -> str | None:
        unfit = (why for value in values if (why := self._unfit(form, value, shown)) is not None)
        return next(unfit, "mark each span once" if len(set(values)) < len(values) else None)

    def _unfit(self, form: AnswerForm, value: float | str, shown: ShownTexts) -> str | None:
        mark = stored_mark(value)
        text = "" if mark is None else shown.marked_by(form).get(mark["line"], "")
        if mark is None or not mark["start"] < mark["end"] <= len(text):
            return "mark words of the text"
        for name, given, known in (
            ("category", mark.get("category"), form.categories),
            ("severity", mark.get("severity"), form.severities),
        ):
            if (given not in known) if known else (given is not None):
                return f"give each mark a {name} of the list" if known else f"marks have no {name} here"
        return None

    def exported(self, values: Sequence[float | str]) -> object:
        return [stored_mark(value) for value in values]

    def in_words(self, form: AnswerForm, value: float | str, shown: ShownTexts) -> str:
        mark = stored_mark(value)
        if mark is None:
            return str(value)
        start, end = mark["start"], mark["end"]
        text = shown.marked_by(form).get(mark["line"], "")
        # Texts can be removed; their marks stay.
        words = f"“{text[start:end]}”" if end <= len(text) else f"characters {start + 1} to {end}"
        kinds = ", ".join(given for given in (mark.get("category"), mark.get("severity")) if given)
        return f"{words} ({kinds})" if kinds else words


def stored_mark(value: float | str) -> Mark | None:
    """Return the mark that a stored value is; None if it is none."""
    try:
        return _MARK.validate_json(str(value))
    except ValidationError:
        return None


def answer_type(kind: AnswerKind) -> AnswerType:
    """Return the rules of a kind of answer."""
    match kind:
        case "slider":
            return _Slider()
        case "likert":
            return _Likert()
        case "choice":
            return _Choice()
        case "choices":
            return _Choices()
        case "number":
            return _Number()
        case "text":
            return _Text()
        case "span":
            return _Span()
        case _:
            assert_never(kind)


# Settings that belong to some kinds only, with these kinds, in the order of the form.
KINDS_OF_SETTINGS: dict[str, tuple[AnswerKind, ...]] = {
    name: kinds
    for name in AnswerForm.model_fields
    if (kinds := tuple(sorted(kind for kind in KINDS if name in answer_type(kind).settings)))
}


def misfits(form: AnswerForm) -> Iterator[tuple[str, str]]:
    """Yield the settings of an answer that do not fit its kind, each with the reason."""
    for name, kinds_of in KINDS_OF_SETTINGS.items():
        if name in form.model_fields_set and form.kind not in kinds_of:
            words = " or ".join(answer_type(kind).words for kind in kinds_of)
            yield name, f"This belongs to answers by {words}: remove it, or change the kind of answer"
    needed = None if form.type.example is None else form.type.example.partition(":")[0]
    if needed is not None and needed not in form.model_fields_set:
        yield needed, "This is required"
    if needed == "choices" and needed in form.model_fields_set and len(form.choices) < 2:
        yield "choices", "Give at least two answers to choose from"
    if form.labels and form.ends is not None:
        yield "ends", "The points have labels: remove these, or the labels"
    if form.labels and form.points is not None and len(form.labels) != form.points:
        yield "labels", f"Give a label for each of the {form.points} points"
    for name, listed in (
        ("choices", form.choices),
        ("categories", form.categories),
        ("severities", form.severities),
    ):
        for i, choice in enumerate(listed):
            if choice in listed[:i]:
                yield name, f"“{choice}” is there twice: remove one"
    if form.least is not None and form.most is not None and form.least > form.most:
        yield "most", f"The largest number must be at least the smallest ({form.least:g})"


def single_answers(given: AnswerValue | None) -> list[float | str]:
    """Return the single answers in `given`, as they are stored; a blank text is none."""
    if given is None:
        return []
    if isinstance(given, str | float | int):
        return [] if isinstance(given, str) and not given.strip() else [given]
    return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in given]


def point_to_rating(point: int, points: int) -> int:
    """Return the rating from 0 to 100, a whole number, for a point of a Likert scale, counted from 1.

    On seven points the ratings are 0, 17, 33, 50, 67, 83, 100: each is off its exact place by half a unit at
    most. On up to MAX_POINTS points no two are the same, so that the point can be recovered.
    """
    return round(100 * (point - 1) / (points - 1))


def rating_to_point(rating: int, points: int) -> int:
    """Return the point, from 1, from which `point_to_rating` made a rating."""
    return 1 + round(rating * (points - 1) / 100)
