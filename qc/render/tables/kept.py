"""What was collected, what is kept of it, and what it took."""

import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.named import GROUPS, Named


def kept(analysis: Analysis) -> Named:
    """Yield counts, minutes, workload and cost."""
    rates, minutes, load, cost = analysis.rates, analysis.minutes, analysis.workload, analysis.cost
    yield (
        "passrate.csv",
        pd.DataFrame(
            [
                (name, count.passed, count.total, count.rate)
                for name, count in (("HIT", rates.hits), ("Worker", rates.workers))
            ],
            columns=["", "passed", "total", "passrate"],
        ),
    )
    yield (
        "duration.csv",
        pd.DataFrame([(minutes.passed, minutes.failed, minutes.all)], columns=["passed", "failed", "all"]),
    )
    yield (
        "kept.csv",
        pd.DataFrame(
            [
                (name, count.passed, count.total - count.passed, count.total, count.rate)
                for name, count in (
                    ("workers", rates.workers),
                    ("assignments", rates.assignments),
                    ("HIT ids", rates.hits),
                    ("conversations with systems", rates.conversations),
                )
            ],
            columns=["unit", "passed", "failed", "total", "rate"],
        ),
    )
    spreads = [(group, getattr(load, group)) for group in GROUPS]
    yield (
        "workload.csv",
        pd.DataFrame(
            [(group, spread.count, spread.mean, spread.median, spread.maximum) for group, spread in spreads],
            columns=["group", "workers", "mean", "median", "maximum"],
        ),
    )
    yield (
        "cost.csv",
        pd.DataFrame(
            {
                "reward": [cost.reward],
                "paid_assignments": [cost.paid_assignments],
                "total": [cost.total],
                "per_kept_assignment": [cost.per_kept_assignment],
                "per_kept_conversation": [cost.per_kept_conversation],
            }
        ),
    )


def incidents(analysis: Analysis) -> Named:
    """Yield what went wrong with each system, if the source says."""
    if analysis.incidents is not None:
        yield "incidents.csv", analysis.incidents.table


def left_out(analysis: Analysis) -> Named:
    """Yield the assignments that take no part."""
    yield (
        "left_out.csv",
        pd.DataFrame(
            [(out.assignment, out.worker, out.reason) for out in analysis.run.left_out],
            columns=["assignment", "worker", "reason"],
        ),
    )
