"""Read a study file: return the study, or its mistakes in plain words: place, expected value, suggestion."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from candor.common.files import read_text
from server.errors import StudyInvalid
from server.settings_file import (
    EXPECTED,
    MOST_MISTAKES,
    Location,
    did_you_mean,
    either,
    in_own_words,
    nearest,
    quoted,
)
from server.study.document import Document, Unreadable, read_document
from server.study.problems import contradictions
from server.study.settings import is_within, names_at, schemas_at, sections_with, value_of
from server.study.study import VERSION, Study

T = TypeVar("T")
# Reading a text of 60 kB takes most of a second. With threads of their own, any number of texts delays
# nothing else that needs a thread, such as signing in.
_THREADS = ThreadPoolExecutor(2, "study-texts")
_PATTERNS = {
    "^[a-z][a-z0-9_]*$": "a name: lowercase letters, digits or _, starting with a letter",
    r"^\S+$": "a name without spaces",
    "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$": "the code of a language, such as “de” or “pt-BR”",
    "^[A-Za-z0-9_-]{1,64}$": "a code of up to 64 letters, digits, - and _",
    "^[A-Za-z0-9]{1,64}$": "a token of up to 64 letters and digits",
    r"^[a-zA-Z0-9-]{1,63}\.sona-systems\.com$": "your school's address, such as “example.sona-systems.com”",
    r"^data:image/(png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$": (
        "an image (PNG, JPEG, WebP or SVG) as a data URL, such as “data:image/png;base64,…”"
    ),
    "^[ -~]*$": "plain letters, digits and signs without accents, on one line",
    "^[a-z]{1,20}$": "a word in lowercase letters, such as “low”",
    "[A-Za-z0-9-]{1,100}": "the name of an HTTP header, such as “api-key”",
    "^[A-Z_][A-Z0-9_]*$": "the name of an environment variable: capital letters, digits or _",
}
_NUMBERS = {"minimum": "at least {}", "exclusiveMinimum": "more than {}", "maximum": "at most {}"}

_FIX_BOTS = "Fix these settings, then try again."


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake. `line`: from 1, None if unknown; `path`: the path of the setting."""

    line: int | None
    path: Location
    reason: str

    def at(self, source: str) -> str:
        """Return the mistake with its place in the file `source`."""
        where = source if self.line is None else f"{source}:{self.line}"
        return f"{where}: {'.'.join(map(str, self.path))}{': ' if self.path else ''}{self.reason}"


def load_study(path: Path) -> tuple[Study, str]:
    """Read a study file; return the study and the file's text.

    Raises:
        StudyInvalid: It has mistakes; the message has all of them, with their lines.
    """
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    return parse_study(text, str(path)), text


def parse_study(text: str, source: str = "study") -> Study:
    """Return the study in `text`. Raises StudyInvalid as `load_study` does."""
    study, mistakes = _read(text)
    if study is None or mistakes:
        raise StudyInvalid("\n".join(dict.fromkeys(mistake.at(source) for mistake in mistakes)))
    return study


def read_study(text: str) -> tuple[Study | None, list[Mistake]]:
    """Return the study in `text`, and its mistakes, by line; the study is None if a setting is invalid."""
    study, mistakes = _read(text)
    return study, list(mistakes)


@lru_cache(maxsize=128)
def _read(text: str) -> tuple[Study | None, tuple[Mistake, ...]]:
    """Return the study in `text`, and its mistakes.

    The result is cached: the texts of runs do not change, and everything about a run needs its study.
    """
    try:
        document = read_document(text)
    except Unreadable as error:
        return None, (Mistake(error.line, (), error.reason),)
    study, problems = _validated(document)
    return study, tuple(on_their_lines(document, problems))


# The settings that decide how a study's bots answer, and stand-ins for others that a study must have.
_OF_BOTS = frozenset(
    {"language", "corpus", "personas", "bots", "systems", "scenarios", "qc", "people", "topic_mode"}
    | {"minimum_inputs", "timeouts", "display"}
)
_OTHERS = {"name": "draft", "title": "-", "payment": "-"}


def study_of_bots(text: str) -> Study:
    """Return the study in `text` with the settings that decide how its bots answer; others may have mistakes.

    Raises StudyInvalid: the settings of its bots have mistakes.
    """
    try:
        document = read_document(text)
    except Unreadable as error:
        raise StudyInvalid(f"The study cannot be read: {error.reason}", _FIX_BOTS) from error
    kept = {name: value for name, value in document.content.items() if name in _OF_BOTS}
    study, problems = _validated(replace(document, content={**_OTHERS, **kept}))
    if study is None:
        mistakes = on_their_lines(document, problems)
        said = "; ".join(f"{'.'.join(map(str, each.path))}: {each.reason}" for each in mistakes)
        raise StudyInvalid(f"The settings of the study’s bots have problems ({said})", _FIX_BOTS)
    return study


async def in_thread(read: Callable[[], T]) -> T:
    """Run `read` in a thread while the event loop goes on, and return its result. Raises what it raises."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, read)


def located(text: str, problems: Iterable[tuple[Location, str]]) -> list[Mistake]:
    """Return further problems of a study that has been read as mistakes, with the lines of its `text`."""
    found = list(problems)
    return on_their_lines(read_document(text), found) if found else []


def study_hash(text: str) -> str:
    """Return a short fingerprint of a study file's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _validated(document: Document) -> tuple[Study | None, Iterable[tuple[Location, str]]]:
    later = _of_later_version(document)
    try:
        study = Study.model_validate({**document.content, "version": VERSION} if later else document.content)
    except ValidationError as error:
        return None, chain(later, wrong_values(error, document))
    return study, [*later, *contradictions(study)]


def _of_later_version(document: Document) -> list[tuple[Location, str]]:
    """Return a problem if the file was written for a later version of Candor."""
    version = document.content.get("version")
    if not isinstance(version, int) or version <= VERSION:
        return []
    reason = (
        f"This study is written for a later version of Candor (settings {version}; this server reads up to "
        f"{VERSION}), so settings called unknown below may be new. Update Candor"
    )
    return [(("version",), reason)]


def on_their_lines(document: Document, problems: Iterable[tuple[Location, str]]) -> list[Mistake]:
    """Return problems and duplicate settings as mistakes, in the order of their lines, each once.

    Beyond `MOST_MISTAKES`, the last one says that there are more.
    """
    twice = (
        Mistake(line, where, "This setting is given twice: remove one")
        for line, where in document.given_twice()
    )
    others = (Mistake(document.line_of(where), where, reason) for where, reason in problems)
    some = list(islice(chain(twice, others), MOST_MISTAKES + 1))
    found = sorted(dict.fromkeys(some[:MOST_MISTAKES]), key=lambda mistake: mistake.line or 0)
    if len(some) > MOST_MISTAKES:
        found.append(Mistake(None, (), f"There are more than {MOST_MISTAKES} problems; fix these first"))
    return found


def wrong_values(error: ValidationError, document: Document) -> Iterator[tuple[Location, str]]:
    """Yield the mistakes that pydantic found in a study's settings, in words for researchers."""
    at: dict[Location, list[ErrorDetails]] = {}
    for each in error.errors(include_url=False):
        at.setdefault(_path(each["loc"], each["type"], document.content), []).append(each)
    deeper = {path[:n] for path in at for n in range(len(path))}
    meant: set[Location] = set()  # settings that are missing because they are misspelt
    for path, errors in at.items():
        if errors[0]["type"] == "extra_forbidden":
            reason, name = _unknown_setting(path, document.content)
            meant |= {(*path[:-1], name)} if name else set()
            yield path, reason
    for path, errors in at.items():
        first = errors[0]["type"]
        # Of alternatives, such as a word or a list, the one that was meant is the one with deeper errors.
        if first != "extra_forbidden" and path not in deeper and not (first == "missing" and path in meant):
            yield path, _reason(path, errors, document.content)


def _path(location: tuple[int | str, ...], kind: str, content: object) -> Location:
    """Return a setting's path in the file, without the alternatives that pydantic's location contains."""
    path: list[int | str] = []
    for i, key in enumerate(location):
        if is_within(content, key):
            content = value_of(content, key)
        elif kind != "missing" or i < len(location) - 1:
            continue
        path.append(key)
    return tuple(path)


def _unknown_setting(path: Location, content: object) -> tuple[str, str | None]:
    """Return a message about an unknown setting, and the name that was probably meant."""
    *parents, name = path
    near = nearest(name, names_at(tuple(parents), content))
    if near:
        return f"There is no such setting; did you mean “{near}”?", near
    others = [each for each in sections_with(str(name)) if each not in parents]
    if others:
        return f"There is no such setting here, but in “{others[0]}”", None
    if not parents:
        return "There is no such setting", None
    known = ", ".join(quoted(names_at(tuple(parents), content)))
    return f"There is no such setting here. Use {known or 'none'}", None


def _reason(path: Location, errors: list[ErrorDetails], content: object) -> str:
    """Return the mistake in one setting, which may fit none of several alternatives."""
    own = [each for each in (in_own_words(error) for error in errors) if each]
    if own:
        return own[0]
    given = errors[0]["input"]
    choices = [str(each) for schema in schemas_at(path, content) for each in _choices(schema)]
    expected = dict.fromkeys(part for error in errors for part in _expected(error, path, content))
    near = did_you_mean(given, choices) if isinstance(given, str) else ""
    verb = "Choose" if choices and all(part.startswith("“") for part in expected) else "Enter"
    return f"{verb} {either(list(expected))}{near}"


def _expected(error: ErrorDetails, path: Location, content: object) -> Iterator[str]:
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            choices = [str(each) for schema in schemas_at(path, content) for each in _choices(schema)]
            # The schema does not list the allowed names of a mapping, such as the forms of a text.
            yield from quoted(choices or re.findall("'(.*?)'", context["expected"]))
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            yield _number(path, content)
        case "string_too_long":
            yield f"at most {context['max_length']:,} characters"
        case "string_pattern_mismatch":
            yield _PATTERNS.get(context["pattern"], "text in another form")
        case kind:
            expected = EXPECTED.get(kind, "another value")
            yield _number(path, content) if expected.endswith("number") else expected


def _number(path: Location, content: object) -> str:
    """Return which numbers are allowed at `path`."""
    for schema in schemas_at(path, content):
        number = {"integer": "a whole number", "number": "a number"}.get(schema.get("type", ""))
        if number is None:
            continue
        if "minimum" in schema and "maximum" in schema:
            return f"{number} from {_plain(schema['minimum'])} to {_plain(schema['maximum'])}"
        limits = [words.format(_plain(schema[key])) for key, words in _NUMBERS.items() if key in schema]
        return f"{number}, {' and '.join(limits)}" if limits else number
    return "another number"


def _plain(number: float) -> str:
    """Return a number with commas for thousands, and without an exponent."""
    return f"{number:,.10g}"


def _choices(schema: dict[str, Any]) -> list[Any]:
    return schema.get("enum") or ([schema["const"]] if "const" in schema else [])
