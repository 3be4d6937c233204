"""Locate and explain mistakes in settings files (studies and run rules).

An explanation is a plain sentence without the setting's name. The command line and the desk's YAML tab add
the setting's path; the desk's form shows the explanation below the setting.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

import yaml
from pydantic_core import ErrorDetails

Location = tuple[int | str, ...]

MOST_MISTAKES = 100  # reported at once, because explaining one takes milliseconds

_SETTINGS = "settings, each as “name: value”"
# The expected value in words, by the type of pydantic's error.
EXPECTED: Final = {
    "string_type": "text",
    "string_unicode": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": _SETTINGS,
    "model_type": _SETTINGS,
    "model_attributes_type": _SETTINGS,
}


def child(node: yaml.Node | None, key: int | str) -> tuple[yaml.Node, int] | None:
    """Return the value of `key` within `node`, with the line on which it begins, from 1."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return value, name.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        item: yaml.Node = node.value[key]
        return item, item.start_mark.line + 1
    return None


def line_of(root: yaml.Node | None, location: Location) -> int:
    """Return the line of a setting, from 1; for a missing setting, the line of the part that lacks it."""
    node, line = root, 1
    for key in location:
        found = child(node, key)
        if found is None:
            break
        node, line = found
    return line


def nearest(given: object, names: Iterable[str]) -> str | None:
    """Return the most similar name; None if no name is similar."""
    return next(iter(get_close_matches(str(given), list(names), n=1, cutoff=0.6)), None)


def did_you_mean(given: object, names: Iterable[str]) -> str:
    """Return "; did you mean “name”?" for the most similar name, or an empty text."""
    # A builtin bot may be named without its "builtin:".
    short = {name.rpartition(":")[2]: name for name in names}
    near = nearest(given, [*short.values(), *short])
    return f"; did you mean “{short.get(near, near)}”?" if near else ""


def in_own_words(error: ErrorDetails) -> str | None:
    """Return the mistake in a setting if it needs no words about an expected value; else None."""
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "This is required"
        case "string_too_short":
            return "This must not be empty"
        case "too_short":
            return f"Give at least {context['min_length']}"
        case "too_long":
            return f"Give at most {context['max_length']}"
        case "value_error":
            return str(context["error"])
        case "union_tag_not_found":
            name = str(context["discriminator"]).strip("'")
            return f"Choose its {name}"
        case "union_tag_invalid":
            tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
            name = str(context["discriminator"]).strip("'")
            return f"Choose its {name}: {either(quoted(tags))}{did_you_mean(context['tag'], tags)}"
        case "recursion_loop":
            return "This refers to itself"
        case "invalid_key":
            return "The name of a setting must be text"
    return None


def either(parts: list[str]) -> str:
    """Return "a, b or c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def quoted(names: Iterable[str]) -> list[str]:
    """Return each name in quotation marks."""
    return [f"“{name}”" for name in names]
