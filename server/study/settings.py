"""Look up settings of a study in its JSON schema."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from bots.serving import shipped_corpora
from server.recruiters.recruiter import PAYING
from server.session.answer_kinds import KINDS, KINDS_OF_SETTINGS, AnswerForm, answer_type
from server.session.instrument import AskedQuestion
from server.settings_file import Location
from server.study.sections import QcSpec
from server.study.study import Study
from server.study.tasks import TASKS, task_type
from server.study.texts import language_names

Schema = dict[str, Any]


@cache
def study_schema() -> Schema:
    """Return the JSON Schema of a study. It is shared: do not change it.

    `x-kinds` of a setting: the kinds of answers that it belongs to. `x-words` of a kind of answer, of the
    language, and of the QC bot's corpus: the name of each. `x-unused` of the task: the settings that each
    task does not use. `x-code`: any new code may be used.
    """
    schema = Study.model_json_schema()
    for form in (AnswerForm, AskedQuestion):
        properties = schema["$defs"][form.__name__]["properties"]
        for name, kinds in KINDS_OF_SETTINGS.items():
            properties[name]["x-kinds"] = list(kinds)
        properties["kind"]["x-words"] = {kind: answer_type(kind).words for kind in KINDS}
    schema["properties"]["language"]["x-words"] = names = language_names()
    corpora = {corpus: f"Small talk in {names[tag]}" for corpus, tag in shipped_corpora().items()}
    schema["$defs"][QcSpec.__name__]["properties"]["corpus"]["x-words"] = corpora
    unused = {task: sorted(task_type(task).unused) for task in TASKS}
    schema["properties"]["task"]["x-unused"] = unused
    for recruiter in PAYING.values():
        schema["$defs"][recruiter.__name__]["properties"]["completion_code"]["x-code"] = True
    return schema


def schemas_at(location: Location, content: object) -> list[Schema]:
    """Return the schemas of all alternatives for `location`, in a study with `content`."""
    found = list(_alternatives(study_schema(), content))
    for key in location:
        content = value_of(content, key)
        found = [
            each for schema in found for part in _parts(schema, key) for each in _alternatives(part, content)
        ]
    return found


def names_at(location: Location, content: object) -> list[str]:
    """Return the names of the settings allowed in the mapping at `location`."""
    found = schemas_at(location, content)
    return list(dict.fromkeys(name for schema in found for name in schema.get("properties", {})))


def sections_with(name: str) -> list[str]:
    """Return the sections of a study, such as `qc`, that have a setting of that name."""
    sections = study_schema()["properties"]
    return [each for each in sections if name in names_at((each,), {}) or name in names_at((each, 0), {})]


def is_within(content: object, key: int | str) -> bool:
    """Return whether a mapping has the key, or a list an item of that number."""
    if isinstance(content, dict):
        return key in content
    return isinstance(content, list) and isinstance(key, int) and key < len(content)


def value_of(content: object, key: int | str) -> object:
    """Return a mapping's value for the key, or a list's item of that number; None if there is none."""
    return content[key] if is_within(content, key) else None  # type: ignore[index]


def _alternatives(schema: Schema, content: object) -> Iterator[Schema]:
    """Yield the schema, or its alternatives, without those of another kind than `content`."""
    if "$ref" in schema:
        schema = study_schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        for choice in choices:
            yield from _alternatives(choice, content)
    elif not _is_of_another_kind(schema, content):
        yield schema


def _is_of_another_kind(schema: Schema, content: object) -> bool:
    """Return whether a setting that tells alternatives apart, such as `kind`, has another value."""
    if not isinstance(content, dict):
        return False
    fixed = {name: each["const"] for name, each in schema.get("properties", {}).items() if "const" in each}
    return any(name in content and content[name] != value for name, value in fixed.items())


def _parts(schema: Schema, key: int | str) -> Iterator[Schema]:
    if isinstance(key, int):
        if "items" in schema:
            yield schema["items"]
    elif key in schema.get("properties", {}):
        yield schema["properties"][key]
    else:  # free names, such as those of systems
        yield from schema.get("patternProperties", {}).values()
        if isinstance(schema.get("additionalProperties"), dict):
            yield schema["additionalProperties"]
