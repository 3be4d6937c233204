"""Read JSON lines, and validate values against models, with plain messages for every error."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from qc.errors import DataError, Problem, SourceError, quoted


def parsed_header(source: str, where: str, content: bytes, remedy: str) -> Any:
    """Return the JSON value in `content`; `where` is its location in `source`.

    Raises:
        DataError: it is not JSON.
    """
    try:
        return from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise DataError(source, [Problem(where, f"is not JSON ({error}).", remedy)]) from None


def require_readable(source: str, given: object, newest: int) -> None:
    """Refuse a header whose `version` is newer than this program reads.

    A missing or invalid version is left to the validation of the fields.

    Raises:
        SourceError: the version is newer than `newest`.
    """
    version = given.get("version") if isinstance(given, dict) else None
    if isinstance(version, int) and version > newest:
        raise SourceError(
            f"{source}: this export has version {version}, and this program reads up to version {newest}. "
            "Install a newer release of Candor."
        )


Model = TypeVar("Model", bound=BaseModel)

# Messages for pydantic's kinds of error; other kinds keep pydantic's own message.
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
    "greater_than_equal": "is below the lowest allowed value.",
    "less_than": "is above the highest allowed value.",
    "extra_forbidden": "is in an unknown field.",
}


def validated(
    model: type[Model], given: object, where: str, remedy: str, problems: list[Problem]
) -> Model | None:
    """Return `given` as a `model`; if it is invalid, add each error to `problems` and return None."""
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


def parsed_lines(
    lines: Iterable[bytes], model: type[Model], remedy: str, problems: list[Problem]
) -> Iterator[tuple[str, Model]]:
    """Yield each line after the first as a `model`, with its location.

    Empty lines are skipped; a line that is not a valid `model` becomes a problem.
    """
    for number, line in enumerate(lines, start=2):
        where = f"line {number}"
        if not line.strip():
            continue
        try:
            given = from_json(line)
        except ValueError as error:
            problems.append(Problem(where, f"is not JSON ({error}).", remedy))
            continue
        found = validated(model, given, where, remedy, problems)
        if found is not None:
            yield where, found
