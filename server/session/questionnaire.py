"""Questions of a study's own: before and after an assignment, and after each conversation. Pure."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from server.errors import AnswersUnfit
from server.session.answer_kinds import AnswerForm, AnswerValue, single_answers

# `conversation`: after each rated conversation, together with its rating.
Part = Literal["before", "conversation", "after"]
PARTS: tuple[Part, ...] = get_args(Part)

_Label = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class AskedQuestion(AnswerForm):
    """A question of a questionnaire. A question that is not `required` may be left unanswered."""

    label: _Label
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    required: bool = True


_Asked = Annotated[tuple[AskedQuestion, ...], Field(max_length=50)]


class Questionnaires(BaseModel):
    """Questions `before` the first conversation, with each rating, and `after` the last conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
        values = single_answers(given.get(question.label))
        fault = question.type.fault(question, values) if values else None
        if not values and question.required:
            faults.append(f"`{question.label}` has no answer")
        if fault is not None:
            faults.append(f"`{question.label}`: {fault}")
        answers += [(question.label, value) for value in values]
    if faults:
        raise AnswersUnfit("; ".join(faults))
    return answers
