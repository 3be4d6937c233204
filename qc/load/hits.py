"""Read a `hits_data.json`: the normative format of Ji et al. (ACL 2022), one file for one run.

`metadata` declares the criteria and the systems, `data` holds one object per assignment. What concerns
only the words that were exchanged (`dialogue`, `topic`, `persona`, …) may stand there and is not read.
"""

from pathlib import Path
from typing import Annotated, TypeVar

import pandas as pd
from pydantic import BaseModel, Field, Strict, ValidationError
from pydantic_core import ErrorDetails, from_json

from qc.errors import DataError, Problem, quoted
from qc.load.draft import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    SIMULATED_NOTE,
    SYSTEM_COLUMNS,
    Draft,
    finish,
    report_order,
)
from qc.run import LeftOut, Run

Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Text = Annotated[str, Strict(), Field(min_length=1)]
Flag = Annotated[bool, Strict()]

PERSONA_SUFFIX = "_p"


class _Criterion(BaseModel):
    positive: Flag
    qc: Flag
    max: Annotated[Number, Field(gt=0)] = 100.0


class _Metadata(BaseModel):
    score: Annotated[dict[Text, _Criterion], Field(min_length=1)]
    model: Annotated[list[Text], Field(min_length=1)]
    qc_model: Text = Field(alias="qc-model")
    sorted_scores: list[Text] | None = None
    simulated: Flag = False


class _Conversation(BaseModel):
    model: Text
    score: dict[Text, Number]


class _Assignment(BaseModel):
    hit: Text
    assignment: Text
    worker: Text
    seconds: Number = Field(alias="duration in seconds")
    result: list[_Conversation]


_Part = TypeVar("_Part", _Metadata, _Assignment)

# pydantic's kinds of error, in our words; whatever is not here is told in pydantic's.
_REASONS = {
    "float_type": "is not a number.",
    "finite_number": "is not a finite number.",
    "string_type": "is not a text.",
    "string_too_short": "is empty.",
    "too_short": "is empty.",
    "bool_type": "is neither true nor false.",
    "list_type": "is not a list.",
    "dict_type": "is not an object.",
    "model_type": "is not an object.",
    "greater_than": "is not above 0.",
}
_SHAPE = "Give it as in the published hits_data.json."


def read(path: Path, content: bytes) -> Run:
    """Return the run in `content`, the bytes of the file at `path`.

    Raises:
        DataError: it is not JSON, a field is missing or of the wrong type, a rating is out of range, a
            system or criterion is not declared, an assignment is given twice.
        EmptyRunError: it holds no conversation.
    """
    problems: list[Problem] = []
    metadata, data = _parts(str(path), content)
    declared = _checked(_Metadata, metadata, "metadata", problems)
    held = [
        (f"data[{index}]", _checked(_Assignment, given, f"data[{index}]", problems)) for index, given in data
    ]
    if declared is None:
        raise DataError(str(path), problems)
    valid = [(where, assignment) for where, assignment in held if assignment is not None]
    return finish(_draft(path, declared, valid), problems)


def _parts(source: str, content: bytes) -> tuple[object, list[tuple[int, object]]]:
    try:
        match from_json(content, allow_inf_nan=False):
            case {"metadata": metadata, "data": [*data]}:
                return metadata, list(enumerate(data))
    except ValueError as error:
        fault = Problem("the file", f"is not JSON ({error}).", "Save it again as UTF-8 JSON.")
        raise DataError(source, [fault]) from None
    raise DataError(
        source, [Problem("the file", "is not an object with 'metadata' and a list 'data'.", _SHAPE)]
    )


def _checked(model: type[_Part], given: object, where: str, problems: list[Problem]) -> _Part | None:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems += [_problem(where, detail) for detail in error.errors()]
        return None


def _problem(where: str, detail: ErrorDetails) -> Problem:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"])
    place = where + "".join(steps)
    if detail["type"] == "missing":
        return Problem(place, "the field is missing.", _SHAPE)
    reason = _REASONS.get(detail["type"], f"cannot be used: {detail['msg']}.")
    return Problem(place, f"{quoted(detail['input'])} {reason}", _SHAPE)


def _draft(path: Path, metadata: _Metadata, given: list[tuple[str, _Assignment]]) -> Draft:
    answered = [(where, assignment) for where, assignment in given if assignment.result]
    held = [
        (f"{where}.result[{index}]", assignment.assignment, index + 1, conversation)
        for where, assignment in answered
        for index, conversation in enumerate(assignment.result)
    ]
    return Draft(
        name=path.stem,
        source=str(path),
        criteria=_criteria(path, metadata),
        systems=_systems(metadata),
        assignments=pd.DataFrame(
            [(where, one.assignment, one.hit, one.worker, one.seconds) for where, one in answered],
            columns=ASSIGNMENT_COLUMNS,
        ),
        conversations=pd.DataFrame(
            [(where, f"{name}/{position}", name, position, one.model) for where, name, position, one in held],
            columns=CONVERSATION_COLUMNS,
        ),
        ratings=pd.DataFrame([one.score for *_, one in held]),
        left_out=tuple(
            LeftOut(one.assignment, one.worker, "no answers") for _, one in given if not one.result
        ),
        notes=(SIMULATED_NOTE,) if metadata.simulated else (),
    )


def _criteria(path: Path, metadata: _Metadata) -> pd.DataFrame:
    criteria = pd.DataFrame(
        [(label, not given.positive, given.qc, given.max) for label, given in metadata.score.items()],
        columns=CRITERION_COLUMNS,
    )
    if metadata.sorted_scores is None:
        return report_order(criteria)
    if sorted(metadata.sorted_scores) != sorted(metadata.score):
        raise DataError(
            str(path),
            [
                Problem(
                    "metadata.sorted_scores",
                    "does not name each criterion of metadata.score once.",
                    "Name each once, or leave it out.",
                )
            ],
        )
    return criteria.set_index("label").loc[metadata.sorted_scores].reset_index()


def _systems(metadata: _Metadata) -> pd.DataFrame:
    rows = [(name, name.removesuffix(PERSONA_SUFFIX), False) for name in metadata.model]
    return pd.DataFrame([*rows, (metadata.qc_model, metadata.qc_model, True)], columns=SYSTEM_COLUMNS)
