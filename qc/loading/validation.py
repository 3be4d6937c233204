"""Read JSON lines, and validate values against models, with plain messages for every error."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from qc.errors import DataError, Problem, SourceError, quoted


class _Members(list[tuple[str, object]]):
    """The members of an object, also those with the same key."""


def repeated_keys(content: bytes | str, where: str, keys: int | None = None) -> list[Problem]:
    """Return a problem for each key that an object in `content` has twice: parsers keep the last in silence.

    The scan takes about as long as parsing. It is left out where counting shows that no key is repeated.

    Args:
        content: JSON that was parsed already.
        where: its location.
        keys: number of its keys after parsing, if it is an object of texts and numbers; else None.
    """
    mark = b'":' if isinstance(content, bytes) else '":'
    if keys is not None and content.count(mark) == keys:  # type: ignore[arg-type]  # both are of one type
        return []
    repeated = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal repeated
        repeated = repeated or len(dict(pairs)) != len(pairs)

    _scanned(content, look)
    if not repeated:
        return []
    return [
        Problem(place, f"the key {quoted(key)} is there twice.", "Keep the right one of the two.")
        for place, key in _repeats(_scanned(content, _Members), where)
    ]


def _scanned(content: bytes | str, hook: Callable[[list[tuple[str, object]]], object]) -> object:
    # Numbers stay texts: nobody needs them, and a very long one would be refused.
    try:
        return json.loads(content, object_pairs_hook=hook, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):  # what only the other parser reads
        return None


def _repeats(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield location and key for each repeated key in a value with `_Members` for objects."""
    if isinstance(value, _Members):
        for key, times in Counter(key for key, _ in value).items():
            if times > 1:
                yield where or "the file", key
        for key, held in value:
            yield from _repeats(held, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for index, held in enumerate(value):
            yield from _repeats(held, f"{where}[{index}]")


def parsed_header(source: str, where: str, content: bytes, remedy: str) -> Any:
    """Return the JSON value in `content`; `where` is its location in `source`.

    Raises:
        DataError: it is not JSON, or repeats a key.
    """
    try:
        given = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise DataError(source, [Problem(where, f"is not JSON ({error}).", remedy)]) from None
    if repeated := repeated_keys(content, where):
        raise DataError(source, repeated)
    return given


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
    lines: Iterable[bytes], model: type[Model], remedy: str, problems: list[Problem], first: int = 2
) -> Iterator[tuple[str, Model]]:
    """Yield each of `lines` as a `model`, with its location; `first` is the number of the first of them.

    Empty lines are skipped; a line that is not a valid `model`, or repeats a key, becomes a problem.
    """
    for number, line in enumerate(lines, start=first):
        where = f"line {number}"
        if not line.strip():
            continue
        try:
            given = from_json(line)
        except ValueError as error:
            problems.append(Problem(where, f"is not JSON ({error}).", remedy))
            continue
        problems += repeated_keys(line, where)
        found = validated(model, given, where, remedy, problems)
        if found is not None:
            yield where, found
