"""Read a run's rules from YAML, and explain mistakes in it."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from candor.common.files import YamlTexts
from server.errors import RulesInvalid
from server.run_rules.rules import RunRules
from server.settings_file import (
    EXPECTED,
    MOST_MISTAKES,
    in_own_words,
    line_of,
    listed,
    nearest,
    shown,
)

_LIMITS = {
    "greater_than_equal": ("ge", "{} or more"),
    "greater_than": ("gt", "more than {}"),
    "less_than_equal": ("le", "at most {}"),
}


def mistakes(error: ValidationError, model: type[BaseModel], root: yaml.Node | None) -> Iterator[str]:
    """Yield the mistakes that pydantic found in rules, each with its line and path.

    Args:
        error: Pydantic's error for `model`, validated with YAML values as texts.
        model: The model of the rules.
        root: The file as nodes, which know their lines; None for an empty file.
    """
    for each in error.errors(include_url=False):
        where = ".".join(map(str, each["loc"])) or "the whole"
        yield f"{line_of(root, each['loc'])}: {where}: {_reason(each, model)}"


def _reason(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown(error["loc"], model)
    own = in_own_words(error)
    expected = _expected(kind, error.get("ctx", {}))
    if own is not None or expected is None:
        return own or error["msg"]
    return f"expected {expected}, got {shown(error['input'])}"


def _expected(kind: str, context: dict[str, Any]) -> str | None:
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "`")
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return words.format(context[name])
    return EXPECTED.get(kind)


def _unknown(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    """Return that there is no such rule, with the most similar name, or else all names."""
    *parents, name = location
    names = _names_at(parents, model.model_json_schema())
    near = nearest(name, names)
    return f"there is no such rule; {f'did you mean `{near}`?' if near else f'there are {listed(names)}'}"


def _names_at(location: list[int | str], schema: dict[str, Any]) -> list[str]:
    part = schema
    for key in location:
        part = part["items"] if isinstance(key, int) else part["properties"][key]
        part = next((each for each in part.get("anyOf", []) if "$ref" in each), part)
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    return list(part["properties"])


def parse_rules(text: str, source: str) -> RunRules:
    """Return the rules in `text`, with every value read as it is written: 17:00 is no number, 0.3 is exact.

    Args:
        text: YAML.
        source: The file's name, for error messages.

    Raises:
        RulesInvalid: It is no YAML, or it has mistakes; the message has all of them with their lines.
    """
    try:
        content = yaml.load(text, Loader=YamlTexts)  # noqa: S506 - it only makes texts, lists and mappings
        return RunRules.model_validate({} if content in (None, "") else content)
    except ValidationError as error:
        found = mistakes(error, RunRules, yaml.compose(text, Loader=YamlTexts))
        told = [f"{source}:{mistake}" for mistake in islice(found, MOST_MISTAKES)]
        if error.error_count() > MOST_MISTAKES:
            told.append(f"{source}: there are more than {MOST_MISTAKES} mistakes; fix these first")
        raise RulesInvalid("\n".join(told)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise RulesInvalid(f"{source}: not valid YAML: {error}") from error
