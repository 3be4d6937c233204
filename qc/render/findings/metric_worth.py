"""Findings of `qc.power` on the worth of metrics in place of people."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.planning.comparison import BOOTSTRAP, MetricError, PairedComparison
from qc.render.findings.findings import FindingsTable
from qc.table import SHARE, Column, Form, Table, whole


def _judgments(number: float) -> str:
    """Return a number of judgments in words; it may be 0 or infinite."""
    if np.isnan(number):
        return "–"
    if np.isinf(number):
        return "over any number"
    return "under 1" if number < 1 else whole(number)


WORTH = Form(_judgments, "#,##0.0")


def metric_tables(comparison: PairedComparison, metrics: Sequence[MetricError]) -> list[FindingsTable]:
    """Return the errors of metrics, on average and pair by pair; no tables without metrics."""
    if not metrics:
        return []
    ratio = comparison.annotator.ratio
    frame = pd.DataFrame(
        [
            {
                "metric": each.metric,
                "labels": unit,
                "error": float(found.error.mean()),
                "noise_part": float(found.noise_part.mean()),
                "bias": float(found.bias.mean()),
                "variance_part": float(found.variance_part.mean()),
                "worth": each.worth,
                "worth_perfect": each.worth / ratio,
                "r": each.r,
            }
            for each in metrics
            for unit, found in each.errors.items()
        ]
    )
    of_record = frame[frame["labels"] == comparison.unit_of_record].sort_values("error", kind="stable")
    columns = (
        Column("metric", "Metric"),
        Column("error", "Error", SHARE),
        Column("noise_part", "= c0 × noise", SHARE),
        Column("bias", "+ bias", SHARE),
        Column("variance_part", "+ c1 × variance", SHARE),
        Column("worth", "Worth", WORTH),
        Column("worth_perfect", "Worth, perfect", WORTH),
    )
    text = (
        "Error is how often the metric puts two systems in the other order than people; people’s labels "
        f"vary with {comparison.unit_of_record} drawn anew. Worth is the number of independent judgments "
        "of each system at which people err as often as the metric is biased, that is, on an endless test "
        "set; then the same in judgments of the perfect annotator. The file also has what other ways of "
        f"drawing give, among them “{BOOTSTRAP}”."
    )
    on_average = FindingsTable(
        "metrics", "Metrics in the place of people", text, Table(frame, columns, of_record)
    )
    return [on_average, _metric_pairs(comparison, metrics)]


def _metric_pairs(comparison: PairedComparison, metrics: Sequence[MetricError]) -> FindingsTable:
    names, (first, second) = comparison.opinion.systems, comparison.means.pairs
    unit = comparison.unit_of_record
    frame = pd.concat(
        [
            pd.DataFrame(
                {
                    "metric": each.metric,
                    "system": [names[i] for i in first],
                    "other": [names[i] for i in second],
                    "error": each.errors[unit].error,
                    "noise_part": each.errors[unit].noise_part,
                    "bias": each.errors[unit].bias,
                    "variance_part": each.errors[unit].variance_part,
                    "noise": each.errors[unit].noise,
                    "variance": each.errors[unit].variance,
                }
            )
            for each in metrics
        ],
        ignore_index=True,
    )
    columns = (
        Column("metric", "Metric"),
        Column("system", "System"),
        Column("other", "Other"),
        Column("error", "Error", SHARE),
        Column("noise_part", "= c0 × noise", SHARE),
        Column("bias", "+ bias", SHARE),
        Column("variance_part", "+ c1 × variance", SHARE),
    )
    rows = frame.sort_values("error", ascending=False, kind="stable")
    text = f"The largest errors first; people’s labels vary with {unit} drawn anew."
    return FindingsTable("metric_pairs", "Metrics, pair by pair", text, Table(frame, columns, rows), 0)


def metric_sentence(metrics: Sequence[MetricError]) -> str:
    """Return a sentence on the metric with the highest worth; "" without metrics."""
    if not metrics:
        return ""
    best = max(metrics, key=lambda each: each.worth)
    if best.worth < 1:
        return "No metric is worth a single judgment of each system."
    if np.isinf(best.worth):
        return (
            f"{best.metric} orders every pair as people do on average; no number of judgments errs as little."
        )
    return (
        f"The metric that is worth most is {best.metric}: {_judgments(best.worth)} judgments of each system."
    )
