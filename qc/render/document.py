"""`report.json`: all results for programs, described key by key by `json_schema`.

A key keeps its meaning within a version of the schema. Sections that were not computed are absent; a number
that does not exist is null.
"""

import json
import math
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from qc.render.sentences import verdict
from qc.run import source_name
from qc.sections import SECTIONS, schema
from qc.sections.analysis import Analysis
from qc.sections.section import fields_of

SCHEMA_VERSION = 2
INDENT = "  "
# A bundle is verified byte by byte (`qc.bundle`), so these keys stay in their places.
FIRST = (
    "workers",
    "hits",
    "assignments",
    "conversations",
    "minutes_per_conversation",
    "workload",
    "cost",
    "criteria",
    "systems",
)
LAST = ("preregistration", "left_out")

Json = dict[str, Any]


def document(analysis: Analysis) -> str:
    """Return the text of `report.json`; each record of a list and each row of a matrix is on one line."""
    return json_text(as_json(analysis))


def json_text(content: Json) -> str:
    """Return results as JSON; they may contain data frames, arrays and NaN."""
    return _layout(_plain(content)) + "\n"


def as_json(analysis: Analysis) -> Json:
    """Return the content of `report.json`."""
    run, options = analysis.run, analysis.options
    content: Json = {
        "schema_version": SCHEMA_VERSION,
        "signature": analysis.signature,
        "run": run.name,
        "source": source_name(run.source),
        "alpha": analysis.sample.screening.alpha,
        "seed": options.seed,
        "bootstrap": options.bootstrap,
        "include_partial": run.partial,
        "verdict": verdict(analysis).sentences,
        "notes": analysis.notes,
    }
    found = {key: value for section in SECTIONS for key, value in section.document(analysis).items()}
    parts = sorted(
        (part for section in SECTIONS for part in section.parts), key=lambda part: bool(part.option)
    )
    found |= {part.key: part.content_of(analysis) for part in parts if part.key is not None}
    order = [*FIRST, *(key for key in found if key not in {*FIRST, *LAST}), *LAST]
    content |= {key: found[key] for key in order if found.get(key) is not None}
    return {key: _plain(value) for key, value in content.items()}


def json_schema() -> Json:
    """Return the JSON Schema of `report.json`: of the keys of every report, and of those of each part."""
    required = {**_HEAD}
    optional: Json = {}
    for section in SECTIONS:
        required |= section.schema
        optional |= {part.key: part.schema for part in section.parts if part.key is not None}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json",
        "description": "Results of one run. Sections that were not computed are absent; a number that does "
        "not exist is null.",
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
        "$defs": schema.SHARED,
    }


def schema_text() -> str:
    """Return the text of `docs/report.schema.json`."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"


# The keys of every report that belong to no section.
_HEAD = {
    "schema_version": {
        "description": "Version of this schema. A key keeps its meaning within a version.",
        "const": SCHEMA_VERSION,
    },
    "signature": schema.text("What the numbers were made of and how; equal signatures, equal numbers."),
    "run": schema.text("Name of the run."),
    "source": schema.text("Name of the file or database that it was read from."),
    "alpha": schema.number("Level at which a worker passes: p below it."),
    "seed": schema.integer("Seed of everything that is drawn at random."),
    "bootstrap": schema.integer("Number of resamples of the workers."),
    "include_partial": schema.boolean("Whether assignments that were not completed take part."),
    "verdict": schema.array("The verdict in sentences.", schema.text()),
    "notes": schema.array("What a reader must know before quoting a number.", schema.text()),
}


def _plain(value: Any) -> Any:
    """Return `value` in JSON types, with numbers in full precision."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, pd.DataFrame):
        columns = [_plain(column.to_numpy()) for _, column in value.items()]
        return [dict(zip(value.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    return _plain(fields_of(value)) if is_dataclass(value) else value


def _layout(value: Any, margin: str = "\n") -> str:
    """Return JSON that is indented down to records and rows, each on one line."""
    inner = margin + INDENT
    if isinstance(value, dict) and any(isinstance(each, dict | list) for each in value.values()):
        items = [f"{_line(key)}: {_layout(each, inner)}" for key, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{margin}}}"
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        return f"[{inner}{f',{inner}'.join(map(_line, value))}{margin}]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
