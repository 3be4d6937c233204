"""Records of Every Eval Ever: the scores of each system as one JSON file, in that project's folders.

Its schema (version 0.3.0) describes evaluations by programs: it has fields for intervals and for judges that
are language models, none for human raters. Their numbers stand in the free-text details of each record.
"""

import hashlib
import json
import math
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from qc.convert import Loss
from qc.errors import OutputError
from qc.method.sample import COMMON_MAXIMUM, has_one_scale
from qc.method.scores import raters_of
from qc.run import SIMULATED_NOTE
from qc.sections.analysis import Analysis

FOLDER = "every_eval_ever"
SCHEMA_VERSION = "0.3.0"
UNKNOWN = "unknown"  # the word that the project's validation expects

Json = dict[str, Any]


def write_records(analysis: Analysis, directory: Path, made: float) -> list[Path]:
    """Write a record for each system that has a score into FOLDER of `directory`; return the files.

    The folder of an earlier call is replaced. The same analysis gives the same names of files.

    Args:
        analysis: the results.
        directory: the directory of the report.
        made: time of the records, in seconds since 1970.

    Raises:
        OutputError: a file cannot be written.
    """
    folder, files = directory / FOLDER, list[Path]()
    try:
        if folder.exists():
            shutil.rmtree(folder)
        for place, content in records(analysis, made):
            file = folder / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", "utf-8", "replace")
            files.append(file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"{folder}: the records cannot be written ({reason}). Name another --out."
        ) from None
    return files


def losses(analysis: Analysis) -> list[Loss]:
    """Return the results for which a record has no field."""
    workers, systems = analysis.rates.workers, len(analysis.scores.z)
    compared = analysis.significance is not None or analysis.intervals is not None
    lost = [
        Loss("workers, for whom there is no field (their number is a text)", workers.total),
        Loss("comparisons of two systems", systems * (systems - 1) // 2 if compared else 0),
        Loss("systems without a score", int((analysis.scores.z["n"] == 0).sum())),
        Loss("systems that are people", len(analysis.run.people)),
    ]
    return [loss for loss in lost if loss.count]


def records(analysis: Analysis, made: float) -> Iterator[tuple[str, Json]]:
    """Yield the path inside FOLDER and the content of each record."""
    collection = _part(analysis.run.name)
    for row, (name, count) in enumerate(analysis.scores.z[["system", "n"]].itertuples(index=False)):
        if not count:
            continue
        model = _model(analysis, str(name))
        digest = hashlib.sha256(f"{analysis.signature} {name}".encode(errors="replace")).digest()
        content = {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": f"{collection}/{model['id']}/{made:.0f}",
            "retrieved_timestamp": f"{made:.0f}",
            **_ended(analysis),
            "source_metadata": _source(analysis),
            "eval_library": {
                "name": "candor-eval",
                "version": version("candor-eval"),
                "additional_details": {"signature": analysis.signature},
            },
            "model_info": model,
            "evaluation_results": list(_results(analysis, row)),
        }
        yield f"data/{collection}/{model['id']}/{UUID(bytes=digest[:16], version=4)}.json", content


def _part(name: str) -> str:
    """Return a name as one part of a path."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] or UNKNOWN


def _model(analysis: Analysis, system: str) -> Json:
    developer, _, name = system.rpartition("/")
    served = analysis.run.served
    answered = [] if served is None else served.loc[served["system"] == system, "model"].tolist()
    models = ", ".join(dict.fromkeys(filter(None, answered)))
    details = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
    return {
        "name": system,
        "id": f"{_part(developer) if developer else UNKNOWN}/{_part(name)}",
        "additional_details": details | ({"answered_by": models} if models else {}),
    }


def _ended(analysis: Analysis) -> Json:
    ended = analysis.run.ended
    if ended is None or not ended.notna().any():
        return {}
    return {"evaluation_timestamp": ended.max().isoformat()}


def _source(analysis: Analysis) -> Json:
    workers = analysis.rates.workers
    details = {
        "raters": "programs in place of people" if SIMULATED_NOTE in analysis.run.notes else "people",
        "workers": str(workers.total),
        "workers_who_passed_quality_control": str(workers.passed),
        "quality_control": "rank-sum test of each worker's ratings of a known bad system, "
        f"p < {analysis.sample.screening.alpha:g}",
    }
    return {
        "source_name": analysis.run.name,
        "source_type": "evaluation_run",
        "source_organization_name": UNKNOWN,
        "evaluator_relationship": "other",
        "additional_details": details,
    }


def _results(analysis: Analysis, row: int) -> Iterator[Json]:
    """Yield the results of the system in this row of the scores: standardised, then as given."""
    run, scores, found = analysis.run, analysis.scores, analysis.intervals
    raters = int(raters_of(analysis.sample, scores)[row])
    top = float(run.criteria["maximum"].iloc[0]) if has_one_scale(run) else COMMON_MAXIMUM
    reversed_ones = set(run.criteria.loc[run.criteria["negative"], "label"])
    for kind, table in (("z", scores.z), ("raw", scores.raw)):
        for column, label in enumerate(table.columns[2:]):
            score = float(table[label].iloc[row])
            if not math.isfinite(score):
                continue
            details: Json = {
                "score": score,
                "details": {
                    "workers": str(raters),
                    "judged": str(int(table["n"].iloc[row]) // len(run.criteria)),
                },
            }
            if found is not None:
                low, high = (
                    float(bounds[row, column])
                    for bounds in (
                        (found.z_low, found.z_high) if kind == "z" else (found.raw_low, found.raw_high)
                    )
                )
                if math.isfinite(low) and math.isfinite(high):
                    details["uncertainty"] = {
                        "confidence_interval": {
                            "lower": low,
                            "upper": high,
                            "confidence_level": found.level,
                            "method": "wild bootstrap of workers",
                        },
                        "num_samples": raters,
                        "num_bootstrap_samples": found.count,
                    }
            yield {
                "evaluation_result_id": f"{kind}::{label}",
                "evaluation_name": f"{run.name}: {label}",
                "source_data": {"dataset_name": run.name, "source_type": "other"},
                "metric_config": _metric(kind, label, top, is_reversed=label in reversed_ones),
                "score_details": details,
            }


def _metric(kind: str, label: str, top: float, *, is_reversed: bool) -> Json:
    standardised = kind == "z"
    described = (
        "ratings standardised by worker (mean 0, standard deviation 1)"
        if standardised
        else f"ratings from 0 to {top:g}"
    )
    return {
        "evaluation_description": f"Mean of {described} on {label}{' (reversed)' if is_reversed else ''}.",
        "metric_id": f"candor.{kind}.{_part(label)}",
        "metric_name": f"{label} ({kind})",
        "metric_kind": "z_score" if standardised else "mean_rating",
        "metric_unit": "standard deviations" if standardised else "points",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": "-Infinity" if standardised else 0,
        "max_score": "Infinity" if standardised else top,
    }
