"""Results as a person reads them and as files.

The tables have the columns and the order of the authors' own, numbers in full precision. `report.json`
has `schema_version`; a key keeps its meaning within a version.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from qc.analysis import Analysis
from qc.errors import OutputError
from qc.method.duration import Minutes
from qc.method.pass_rate import Count
from qc.run import LeftOut

SCHEMA_VERSION = 1
SHOWN_WORKERS = 25
SHOWN_IDS = 10


def write(analysis: Analysis, directory: Path) -> list[Path]:
    """Write `report.json` and the tables into `directory`, made if it is not there; return the files.

    Raises:
        OutputError: the directory or a file cannot be written.
    """
    texts = {name: _csv(table) for name, table in tables(analysis).items()}
    texts["report.json"] = json.dumps(as_json(analysis), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(
            f"{directory}: the results cannot be written ({reason}). Name another --out."
        ) from None
    return [directory / name for name in texts]


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def tables(analysis: Analysis) -> dict[str, pd.DataFrame]:
    """Return the tables by file name."""
    minutes = analysis.minutes
    return {
        "passrate.csv": _pass_rate_table(analysis),
        "duration.csv": pd.DataFrame(
            [(minutes.passed, minutes.failed, minutes.all)], columns=["passed", "failed", "all"]
        ),
        "system_scores.csv": _authors_columns(analysis.scores.z, "z"),
        "system_raw_scores.csv": _authors_columns(analysis.scores.raw, "raw"),
        "worker_pvalues.csv": analysis.sample.screening.workers[["worker", "p"]],
    }


def _pass_rate_table(analysis: Analysis) -> pd.DataFrame:
    rows = [("HIT", analysis.rates.hits), ("Worker", analysis.rates.workers)]
    return pd.DataFrame(
        [(name, count.passed, count.total, count.rate) for name, count in rows],
        columns=["", "passed", "total", "passrate"],
    )


def _authors_columns(scores: pd.DataFrame, overall: str) -> pd.DataFrame:
    return scores.rename(columns={"system": "model", "n": "N", "overall": overall})


def as_json(analysis: Analysis) -> dict[str, object]:
    """Return the content of `report.json`; a number that does not exist is None."""
    run, rates = analysis.run, analysis.rates
    return {
        "schema_version": SCHEMA_VERSION,
        "signature": analysis.signature,
        "run": run.name,
        "source": run.source,
        "alpha": analysis.sample.screening.alpha,
        "include_partial": run.partial,
        "workers": {**_count(rates.workers), "failed": _failed(analysis)},
        "hits": _count(rates.hits),
        "assignments": _count(rates.assignments),
        "conversations": _count(rates.conversations),
        "minutes_per_conversation": _minutes(analysis.minutes),
        "criteria": run.criteria[["label", "negative", "counts_for_qc"]].to_dict("records"),
        "systems": _systems(analysis),
        "left_out": [
            {"assignment": out.assignment, "worker": out.worker, "reason": out.reason} for out in run.left_out
        ],
        "notes": list(analysis.notes),
    }


def _count(count: Count) -> dict[str, object]:
    return {"total": count.total, "passed": count.passed}


def _minutes(minutes: Minutes) -> dict[str, object]:
    return {"passed": _known(minutes.passed), "failed": _known(minutes.failed), "all": _known(minutes.all)}


def _failed(analysis: Analysis) -> list[dict[str, object]]:
    workers = analysis.sample.screening.workers
    return [
        {"worker": row["worker"], "p": _known(row["p"]), "reason": row["reason"]}
        for row in workers[~workers["passed"]].to_dict("records")
    ]


def _systems(analysis: Analysis) -> list[dict[str, object]]:
    labels = analysis.run.criteria["label"].to_list()
    pairs = zip(analysis.scores.z.to_dict("records"), analysis.scores.raw.to_dict("records"), strict=True)
    return [
        {
            "system": z["system"],
            "n": z["n"],
            "z": _known(z["overall"]),
            "raw": _known(raw["overall"]),
            "criteria": {label: {"z": _known(z[label]), "raw": _known(raw[label])} for label in labels},
        }
        for z, raw in pairs
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def show(analysis: Analysis, console: Console) -> None:
    """Print a summary of `analysis`: notes first, then what was kept, then the systems."""
    console.print(f"Run {analysis.run.name}  ({analysis.run.source})", style="bold")
    for note in analysis.notes:
        console.print(f"! {note}", style="yellow")
    for line in _left_out_lines(analysis.run.left_out):
        console.print(f"! {line}", style="yellow")
    console.print(_kept_table(analysis))
    if not analysis.sample.screening.workers["passed"].all():
        console.print(_failed_table(analysis))
    console.print(_system_table(analysis))
    console.print(f"Signature: {analysis.signature}", soft_wrap=True)


def _left_out_lines(left_out: Sequence[LeftOut]) -> list[str]:
    ids: dict[str, list[str]] = {}
    for out in left_out:
        ids.setdefault(out.reason, []).append(out.assignment)
    return [
        f"Left out, {reason}: {len(names)} assignment{'s' if len(names) > 1 else ''} ({_shown(names)})"
        for reason, names in ids.items()
    ]


def _shown(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN_IDS])
    return (
        shown if len(names) <= SHOWN_IDS else f"{shown} and {len(names) - SHOWN_IDS} more, all in report.json"
    )


def _kept_table(analysis: Analysis) -> Table:
    rates, minutes = analysis.rates, analysis.minutes
    table = Table(title=f"Kept at α = {analysis.sample.screening.alpha:g}", title_justify="left")
    table.add_column("")
    for heading in ("passed", "failed", "all", "pass rate"):
        table.add_column(heading, justify="right")
    for name, count in (
        ("workers", rates.workers),
        ("assignments", rates.assignments),
        ("HIT ids", rates.hits),
        ("conversations with systems", rates.conversations),
    ):
        failed = count.total - count.passed
        table.add_row(name, str(count.passed), str(failed), str(count.total), f"{count.rate:.1%}")
    minutes_row = [_decimal(value, 2) for value in (minutes.passed, minutes.failed, minutes.all)]
    table.add_row("minutes per conversation", *minutes_row, "")
    return table


def _failed_table(analysis: Analysis) -> Table:
    workers = analysis.sample.screening.workers
    failed = workers[~workers["passed"]]
    more = len(failed) - SHOWN_WORKERS
    table = Table(
        title="Workers who failed",
        title_justify="left",
        caption=f"… and {more} more, all in report.json" if more > 0 else None,
        caption_justify="left",
    )
    table.add_column("worker", overflow="fold")
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("reason")
    for row in failed.head(SHOWN_WORKERS).to_dict("records"):
        table.add_row(str(row["worker"]), _decimal(row["p"], 4), str(row["reason"]))
    return table


def _system_table(analysis: Analysis) -> Table:
    labels = analysis.run.criteria["label"].to_list()
    table = Table(
        title="Systems, best first (criteria: z; higher is better for all of them)", title_justify="left"
    )
    table.add_column("system", overflow="fold")
    for heading in ("n", "z", "raw", *labels):
        table.add_column(heading, justify="right")
    raw = analysis.scores.raw["overall"]
    for position, row in enumerate(analysis.scores.z.to_dict("records")):
        criteria = (_decimal(row[label], 3) for label in labels)
        overall = (str(row["n"]), _decimal(row["overall"], 3), _decimal(float(raw[position]), 2))
        table.add_row(str(row["system"]), *overall, *criteria)
    return table


def _decimal(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"
