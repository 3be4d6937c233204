"""Pages of the reference on reports: the files, and the keys of the JSON files."""

from collections.abc import Iterator
from typing import Any

from qc.render.document import json_schema
from qc.render.findings.several_runs import RUNS_SCHEMA
from qc.render.manifest import FIGURES, REPORTS, TABLES
from scripts.markdown import in_code, table

Schema = dict[str, Any]
KEY_COLUMNS = ("key", "value", "meaning")


def files_of_reports() -> str:
    """Return the page of the files of a report."""
    rows = [
        (in_code(file.name), file.holds, in_code(file.option) if file.option else "")
        for file in (*REPORTS, *TABLES, *FIGURES)
    ]
    return (
        "# Files of a report\n\n"
        "`candor report SOURCE --out DIR` writes these files. A file is missing if its section was not asked "
        "for (`--only`) or the run holds nothing for it. Writing into a directory with an earlier report "
        "removes that report's files first. Numbers have full precision and do not depend on the order of "
        "rows; an unknown value is empty.\n\n" + table(("file", "content", "section"), rows)
    )


def keys_of_reports() -> str:
    """Return the page of the keys of `report.json` and `runs.json`."""
    report = json_schema()
    parts = [
        "# Keys of `report.json`\n",
        "For programs that read a report. [`report.schema.json`](../report.schema.json) says the same as a "
        "JSON Schema; a key keeps its meaning within a `schema_version`. Parts that were not "
        "computed are absent; a number that does not exist is null. Capital letters stand for names from the "
        "data.\n",
        *tables_of_keys(report),
        "## Shapes that several keys have\n",
    ]
    for name, shape in report["$defs"].items():
        rows = list(rows_of_keys(shape, ""))
        listed = table(KEY_COLUMNS, rows) if rows else ""
        parts.append(f"### {name}\n\n{shape['description']}\n\n{listed}")
    parts += ["## Keys of `runs.json`\n", f"`--with` writes it. {RUNS_SCHEMA['description']}\n"]
    parts.append(table(KEY_COLUMNS, rows_of_keys(RUNS_SCHEMA, "")))
    return "\n".join(parts)


def tables_of_keys(schema: Schema) -> Iterator[str]:
    """Yield a table of the keys without keys of their own, then a section for each of the others."""
    simple, parts = [], []
    for key, value in schema["properties"].items():
        inner = list(rows_of_keys(value, key))
        if inner:
            parts.append(f"## {key}\n\n{value['description']}\n\n{table(KEY_COLUMNS, inner)}")
        else:
            simple.append(row_of_key(key, value))
    yield table(KEY_COLUMNS, simple)
    yield from parts


def rows_of_keys(schema: Schema, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield a row for every key below a value of `report.json`, whose path is given."""
    for choice in schema.get("anyOf", [schema]):
        below = f"{path}." if path else ""
        named = {f"{below}{key}": value for key, value in choice.get("properties", {}).items()}
        for pattern, value in choice.get("patternProperties", {}).items():
            named[f"{below}{pattern.strip('^.')}RUN"] = value
        if isinstance(choice.get("additionalProperties"), dict):
            yield from rows_of_keys(choice["additionalProperties"], f"{below}NAME")
        if "items" in choice:
            yield from rows_of_keys(choice["items"], f"{path}[]")
        for key, value in named.items():
            yield row_of_key(key, value)
            yield from rows_of_keys(value, key)


def row_of_key(key: str, schema: Schema) -> tuple[str, str, str]:
    """Return the row of one key: its path, its values and its meaning."""
    return f"`{key}`", " or ".join(types_of(schema)), schema["description"]


def types_of(schema: Schema) -> list[str]:
    """Return in words the values that a schema of `report.json` allows."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return [f"[{name}](#{name})"]
    if "const" in schema or "enum" in schema:
        return [in_code(each) for each in schema.get("enum", [schema.get("const")])]
    if "anyOf" in schema:
        return [each for choice in schema["anyOf"] for each in types_of(choice)]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    inner = schema.get("items") or schema.get("additionalProperties")
    of = f" of {' or '.join(types_of(inner))}" if isinstance(inner, dict) and kinds != ["null"] else ""
    words = {"string": "text", "boolean": "`true` or `false`", "array": "list", "integer": "whole number"}
    return [f"{words.get(kind, kind)}{'' if kind == 'null' else of}" for kind in kinds]
