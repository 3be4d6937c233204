"""`report.json`: all results for programs, described key by key in `report.schema.json`.

A key keeps its meaning within a version of the schema. Sections that were not computed are absent; a number
that does not exist is null.
"""

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from qc.analysis import Analysis
from qc.groups import WhoseOpinion
from qc.method.agreement import Agreement
from qc.method.pass_rate import Count
from qc.method.quiz import QuizResults
from qc.method.scores import raters_of
from qc.render.sentences import verdict
from qc.render.table import Table
from qc.render.tables import groups
from qc.robustness.adjusted import Adjusted
from qc.robustness.filter_check import FilterCheck
from qc.robustness.intervals import Intervals
from qc.robustness.random_shares import Share
from qc.run import source_name

SCHEMA_VERSION = 2
INDENT = "  "

Json = dict[str, Any]


def document(analysis: Analysis) -> str:
    """Return the text of `report.json`; each record of a list and each row of a matrix is on one line."""
    return json_text(as_json(analysis))


def json_text(content: Json) -> str:
    """Return results as JSON; they may contain data frames, arrays and NaN."""
    return _layout(_plain(content)) + "\n"


def as_json(analysis: Analysis) -> Json:
    """Return the content of `report.json`."""
    run, rates, options = analysis.run, analysis.rates, analysis.options
    content = {
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
        "workers": {**_count(rates.workers), "failed": _failed(analysis)},
        "hits": _count(rates.hits),
        "assignments": _count(rates.assignments),
        "conversations": _count(rates.conversations),
        "minutes_per_conversation": analysis.minutes,
        "workload": analysis.workload,
        "cost": analysis.cost,
        "criteria": run.criteria[["label", "negative", "counts_for_qc", "maximum"]],
        "systems": _systems(analysis),
        **{name: part for name, part in _sections(analysis).items() if part is not None},
        "left_out": run.left_out,
    }
    return {key: _plain(value) for key, value in content.items()}


def _count(count: Count) -> Json:
    return {"total": count.total, "passed": count.passed}


def _failed(analysis: Analysis) -> pd.DataFrame:
    workers = analysis.sample.screening.workers
    return workers.loc[~workers["passed"], ["worker", "p", "reason"]]


def _systems(analysis: Analysis) -> list[Json]:
    labels = analysis.run.criteria["label"].to_list()
    raters = raters_of(analysis.sample, analysis.scores)
    pairs = zip(analysis.scores.z.to_dict("records"), analysis.scores.raw.to_dict("records"), strict=True)
    return [
        {
            "system": z["system"],
            "n": z["n"],
            "conversations": z["n"] // len(labels),
            "raters": raters[row],
            "z": z["overall"],
            "raw": raw["overall"],
            **_certainty(analysis.intervals, row),
            "criteria": {
                label: {"z": z[label], "raw": raw[label], **_bounds(analysis.intervals, row, column)}
                for column, label in enumerate(labels, start=1)
            },
        }
        for row, (z, raw) in enumerate(pairs)
    ]


def _certainty(found: Intervals | None, row: int) -> Json:
    """Return the uncertainty of the overall score and the rank of the system at `row`."""
    if found is None:
        return {}
    overall = _bounds(found, row, 0)
    return {
        "interval": overall["z_interval"],
        "raw_interval": overall["raw_interval"],
        "effective_raters": found.effective_raters[row],
        "rank": {"low": found.rank_low[row], "high": found.rank_high[row]},
        "best_chance": found.best_chance[row],
    }


def _bounds(found: Intervals | None, row: int, column: int) -> Json:
    if found is None:
        return {}
    return {
        "z_interval": {"low": found.z_low[row, column], "high": found.z_high[row, column]},
        "raw_interval": {"low": found.raw_low[row, column], "high": found.raw_high[row, column]},
    }


def _sections(analysis: Analysis) -> Json:
    """Return the sections by key; None for one that was not computed."""
    return {
        "incidents": analysis.incidents and analysis.incidents.table,
        "served": analysis.served and analysis.served.table,
        "answers": analysis.answers,
        "quiz": analysis.quiz and _quiz(analysis.quiz),
        "writing": analysis.writing,
        "turn_ratings": analysis.turn_ratings,
        "scenarios": analysis.scenarios and analysis.scenarios.table,
        "intervals": analysis.intervals and _differences(analysis.intervals),
        "significance": analysis.significance,
        "clusters": analysis.clusters,
        "criteria_correlation": analysis.criteria,
        "replication": analysis.replication,
        "forecast": analysis.forecast,
        "filter": analysis.filter_check and _filter(analysis.filter_check),
        "agreement": analysis.agreement and _agreement(analysis.agreement),
        "topics": analysis.topics,
        "effort": analysis.effort,
        "alpha_influence": analysis.alpha,
        "persona": analysis.persona,
        "context": analysis.context,
        "adjusted": analysis.adjusted and _adjusted(analysis.adjusted),
        "groups": analysis.groups and _groups(analysis.groups),
        "transcripts": analysis.transcripts,
        "preregistration": analysis.preregistration,
    }


def _quiz(found: QuizResults) -> Json:
    return {
        "groups": found.groups,
        "workers": found.workers,
        "agreement": found.agreement,
        "not_asked": found.not_asked,
    }


def _differences(found: Intervals) -> Json:
    return {
        "level": found.level,
        "systems": found.systems,
        "difference_low": found.difference_low,
        "difference_high": found.difference_high,
        "simultaneous_low": found.simultaneous_low,
        "simultaneous_high": found.simultaneous_high,
        "indistinct": found.indistinct,
        "groups": found.groups,
    }


def _groups(found: WhoseOpinion) -> Json:
    """Return the content of the tables, which exclude groups that are withheld."""
    weighted = found.population
    return {
        "people": found.people,
        "standings": _rows(groups.standings(found)),
        "places": _rows(groups.places(found)),
        "population": None
        if weighted is None
        else {
            "people": weighted.people,
            "effective_people": weighted.effective,
            "largest_weight": float(weighted.weights.max()),
            "gap": weighted.raked.gap,
            "model_sd": weighted.model_sd,
            "margins": _rows(groups.margins(found)),
            "systems": _rows(groups.population(found)),
        },
    }


def _rows(table: Table | None) -> pd.DataFrame | list[Json]:
    return [] if table is None else table.frame


def _agreement(found: Agreement) -> Json:
    groups = {
        name: {"pairs": group.pairs, "median_r": group.median_r, "sampled": group.sampled, "r": group.r}
        for name, group in (("passed", found.passed), ("failed", found.failed))
    }
    return {**groups, "seed": found.seed, "limit": found.limit}


def _filter(found: FilterCheck) -> Json:
    """Return everything except the table of workers, which has its own file, and simulated p-values."""
    content: Json = {}
    for name, value in _record(found).items():
        if isinstance(value, Share):
            content |= {name: value.value, f"{name}_interval": {"low": value.low, "high": value.high}}
        elif name not in {"workers", "random_p"}:
            content[name] = value
    return content


def _adjusted(found: Adjusted) -> Json:
    names = ("plain", "adjusted", "low", "high")
    systems = pd.DataFrame({"system": list(found.systems), **{name: getattr(found, name) for name in names}})
    rest = {name: value for name, value in _record(found).items() if name not in {*names, "systems"}}
    return {"systems": systems, **rest}


def _record(part: Any) -> Json:
    """Return the fields of a result by name, unchanged."""
    return {field.name: getattr(part, field.name) for field in fields(part)}


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
    return _plain(_record(value)) if is_dataclass(value) else value


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
