"""What is wrong with a study, in plain words: where, what was expected, what was perhaps meant."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from server.study.document import Document, Location
from server.study.settings import is_within, names_at, schemas_at, sections_with, value_of

_LONGEST = 40  # characters of what was given that are repeated
_SETTINGS = "settings, each as `name: value`"
_EXPECTED = {
    "string_type": "a text",
    "string_unicode": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "`true` or `false`",
    "bool_parsing": "`true` or `false`",
    "list_type": "a list",
    "dict_type": _SETTINGS,
    "model_type": _SETTINGS,
    "model_attributes_type": _SETTINGS,
}
_PATTERNS = {
    "^[a-z][a-z0-9_]*$": "small letters, digits and _, the first one a letter",
    "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$": "a language's tag, such as `de` or `pt-BR`",
    "^[A-Z_][A-Z0-9_]*$": "capital letters, digits and _, as in the name of an environment variable",
}
_NUMBERS = {"minimum": "{} or more", "exclusiveMinimum": "more than {}", "maximum": "at most {}"}


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something that is wrong. `line`: from 1, None where it is not known; `path`: of the setting."""

    line: int | None
    path: Location
    reason: str

    def at(self, source: str) -> str:
        """Return the mistake with its place in the file `source`."""
        where = source if self.line is None else f"{source}:{self.line}"
        return f"{where}: {'.'.join(map(str, self.path))}{': ' if self.path else ''}{self.reason}"


def on_their_lines(document: Document, problems: Iterable[tuple[Location, str]]) -> list[Mistake]:
    """Return problems and what is given twice as mistakes, in the order of their lines, each once."""
    twice = [Mistake(line, where, "is given twice") for line, where in document.given_twice()]
    found = [Mistake(document.line_of(where), where, reason) for where, reason in problems]
    return sorted(dict.fromkeys([*twice, *found]), key=lambda mistake: mistake.line or 0)


def wrong_values(error: ValidationError, document: Document) -> Iterator[tuple[Location, str]]:
    """Yield what pydantic found wrong with the settings of a study, in the words of a study."""
    at: dict[Location, list[ErrorDetails]] = {}
    for each in error.errors(include_url=False):
        at.setdefault(_path(each["loc"], each["type"], document.content), []).append(each)
    deeper = {path[:n] for path in at for n in range(len(path))}
    meant: set[Location] = set()  # what is missing because it is misspelt
    for path, errors in at.items():
        if errors[0]["type"] == "extra_forbidden":
            reason, name = _unknown_setting(path, document.content)
            meant |= {(*path[:-1], name)} if name else set()
            yield path, reason
    for path, errors in at.items():
        first = errors[0]["type"]
        # Of alternatives, such as a word or a list, the one that was tried is the one that went deeper.
        if first != "extra_forbidden" and path not in deeper and not (first == "missing" and path in meant):
            yield path, _reason(path, errors, document.content)


def did_you_mean(given: object, names: Iterable[str]) -> str:
    """Return "; did you mean `name`?" for the name that is most like what was given, or nothing."""
    # A builtin bot may be called without its "builtin:".
    short = {name.rpartition(":")[2]: name for name in names}
    near = get_close_matches(str(given), [*short.values(), *short], n=1, cutoff=0.6)
    return f"; did you mean `{short.get(near[0], near[0])}`?" if near else ""


def shown(given: object) -> str:
    """Return what was given as a reader of the file would call it; what is long is cut."""
    match given:
        case None:
            return "nothing"
        case bool():
            return f"`{str(given).lower()}`"
        case list():
            return "a list"
        case dict():
            return _SETTINGS
        case _:
            text = "".join(c if c.isprintable() else "�" for c in str(given))
            return f"`{text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}`"


def _path(location: tuple[int | str, ...], kind: str, content: object) -> Location:
    """Return where the setting stands in the file: pydantic names the alternatives that it tried as well."""
    path: list[int | str] = []
    for i, key in enumerate(location):
        if is_within(content, key):
            content = value_of(content, key)
        elif kind != "missing" or i < len(location) - 1:
            continue
        path.append(key)
    return tuple(path)


def _unknown_setting(path: Location, content: object) -> tuple[str, str | None]:
    """Return why there is no such setting, and the name that was perhaps meant."""
    *parents, name = path
    near = get_close_matches(str(name), names_at(tuple(parents), content), n=1, cutoff=0.6)
    if near:
        return f"there is no such setting; did you mean `{near[0]}`?", near[0]
    others = [each for each in sections_with(str(name)) if each not in parents]
    if others:
        return f"there is no such setting here; `{others[0]}` has one", None
    if not parents:
        return "there is no such setting", None
    return f"there is no such setting here; there are {_listed(names_at(tuple(parents), content))}", None


def _reason(path: Location, errors: list[ErrorDetails], content: object) -> str:
    """Return what is wrong with one setting, which may be that it is none of several alternatives."""
    own = [each for each in (_in_own_words(error) for error in errors) if each]
    if own:
        return own[0]
    given = errors[0]["input"]
    choices = [str(each) for schema in schemas_at(path, content) for each in _choices(schema)]
    expected = dict.fromkeys(part for error in errors for part in _expected(error, path, content))
    near = did_you_mean(given, choices) if isinstance(given, str) else ""
    return f"expected {_either(list(expected))}, got {shown(given)}{near}"


def _in_own_words(error: ErrorDetails) -> str | None:
    """Return the whole reason, where it is no matter of what was expected instead."""
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "string_too_short":
            return "must not be empty"
        case "too_short":
            return f"give {context['min_length']} or more"
        case "too_long":
            return f"give at most {context['max_length']}"
        case "value_error":
            return str(context["error"])
        case "union_tag_not_found":
            name = str(context["discriminator"]).strip("'")
            return f"say its `{name}`"
        case "union_tag_invalid":
            tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
            name = str(context["discriminator"]).strip("'")
            given = f"`{name}` is {_either([f'`{tag}`' for tag in tags])}, not {shown(context['tag'])}"
            return given + did_you_mean(context["tag"], tags)
        case "recursion_loop":
            return "it refers to itself"
        case "invalid_key":
            return "the name of a setting is a text"
    return None


def _expected(error: ErrorDetails, path: Location, content: object) -> Iterator[str]:
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            choices = [each for schema in schemas_at(path, content) for each in _choices(schema)]
            yield from (f"`{choice}`" for choice in choices)
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            yield _range(path, content)
        case "string_too_long":
            yield f"at most {context['max_length']:,} characters"
        case "string_pattern_mismatch":
            yield _PATTERNS.get(context["pattern"], f"a text like {context['pattern']}")
        case kind:
            yield _EXPECTED.get(kind) or error["msg"]


def _range(path: Location, content: object) -> str:
    """Return which numbers may stand at `path`."""
    for schema in schemas_at(path, content):
        if "minimum" in schema and "maximum" in schema:
            return f"a number from {schema['minimum']:g} to {schema['maximum']:g}"
        limits = [words.format(f"{schema[key]:g}") for key, words in _NUMBERS.items() if key in schema]
        if limits:
            return f"a number, {' and '.join(limits)}"
    return "another number"


def _choices(schema: dict[str, Any]) -> list[Any]:
    return schema.get("enum") or ([schema["const"]] if "const" in schema else [])


def _either(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
