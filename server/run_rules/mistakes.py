"""What is wrong with a file of rules, in plain words: on which line, and what was perhaps meant."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_LONGEST = 40  # characters of what was given that are repeated
_EXPECTED = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "decimal_parsing": "a number",
    "decimal_type": "a number",
    "string_type": "a text",
    "tuple_type": "a list",
    "model_type": "settings, each as `name: value`",
}
_LIMITS = {
    "greater_than_equal": ("ge", "{} or more"),
    "greater_than": ("gt", "more than {}"),
    "less_than_equal": ("le", "at most {}"),
}


def mistakes(error: ValidationError, model: type[BaseModel], root: yaml.Node | None) -> Iterator[str]:
    """Yield what pydantic found wrong with rules, each with its line and its place.

    Args:
        error: of `model`, validated with texts as YAML has them.
        model: the rules.
        root: the file as nodes, which know their lines; None of an empty one.
    """
    for each in error.errors(include_url=False):
        where = ".".join(map(str, each["loc"])) or "the whole"
        yield f"{_line(root, each['loc'])}: {where}: {_reason(each, model)}"


def _line(root: yaml.Node | None, location: tuple[int | str, ...]) -> int:
    """Return the line of a setting, from 1; of one that is missing, that of what it is missing in."""
    node, line = root, 1
    for key in location:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == key), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            found = (node.value[key], node.value[key])
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def _reason(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(error["loc"], model)
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return f"expected {context['expected'].replace(chr(39), '`')}, got {_shown(error['input'])}"
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"expected {words.format(context[name])}, got {_shown(error['input'])}"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, got {_shown(error['input'])}"
    return error["msg"]


def _unknown(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    """Return that there is no such rule, and which was perhaps meant, or which there are."""
    *parents, name = location
    names = _names_at(parents, model.model_json_schema())
    near = get_close_matches(str(name), names, n=1, cutoff=0.6)
    if near:
        return f"there is no such rule; did you mean `{near[0]}`?"
    return f"there is no such rule; there are {', '.join(f'`{each}`' for each in names)}"


def _names_at(location: list[int | str], schema: dict[str, Any]) -> list[str]:
    part = schema
    for key in location:
        part = part["items"] if isinstance(key, int) else part["properties"][key]
        part = next((each for each in part.get("anyOf", []) if "$ref" in each), part)
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    return list(part["properties"])


def _shown(given: object) -> str:
    if isinstance(given, list):
        return "a list"
    if isinstance(given, dict):
        return "settings"
    text = str(given)
    if not text:
        return "nothing"
    return f"`{text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}`"
