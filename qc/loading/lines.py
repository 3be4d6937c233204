"""Lines of JSON, each of which is an object of the same kind."""

from collections.abc import Iterable, Iterator

from pydantic_core import from_json

from qc.errors import Problem
from qc.loading.validation import Model, validated


def parsed_lines(
    lines: Iterable[bytes], model: type[Model], remedy: str, problems: list[Problem]
) -> Iterator[tuple[str, Model]]:
    """Yield each of the lines after the first of a file as a `model`, with where it stands.

    Empty lines are passed over; each that is no `model` becomes a problem.
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
