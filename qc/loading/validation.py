"""Check a JSON value against the shape it must have, and tell every fault in our words."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from qc.errors import Problem, quoted

Model = TypeVar("Model", bound=BaseModel)

# pydantic's kinds of error, in our words; whatever is not here is told in pydantic's.
_REASONS = {
    "float_type": "is not a number.",
    "int_type": "is not a whole number.",
    "finite_number": "is not a finite number.",
    "string_type": "is not a text.",
    "string_too_short": "is empty.",
    "too_short": "is empty.",
    "bool_type": "is neither true nor false.",
    "list_type": "is not a list.",
    "dict_type": "is not an object.",
    "model_type": "is not an object.",
    "greater_than": "is not above 0.",
    "greater_than_equal": "is below what it can be.",
    "less_than": "is above what it can be.",
    "extra_forbidden": "stands in a field that is not known here.",
}


def validated(
    model: type[Model], given: object, where: str, remedy: str, problems: list[Problem]
) -> Model | None:
    """Return `given` as a `model`; if it is none, add each fault to `problems` and return None."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems += [_problem(where, detail, remedy) for detail in error.errors()]
        return None


def _problem(where: str, detail: ErrorDetails, remedy: str) -> Problem:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"])
    path = where + "".join(steps)
    if detail["type"] == "missing":
        return Problem(path, "the field is missing.", remedy)
    reason = _REASONS.get(detail["type"], f"cannot be used: {detail['msg']}.")
    return Problem(path, f"{quoted(detail['input'])} {reason}", remedy)
