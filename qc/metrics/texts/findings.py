"""Findings of metrics of texts, for people."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.metrics.against_people import hold_systems, verdict
from qc.metrics.findings import (
    METHOD,
    agreement_table,
    criteria_table,
    prefilter_table,
    system_figures,
    systems_table,
    williams_table,
)
from qc.metrics.metric_table import MetricScores, mean_by_system
from qc.metrics.texts.outputs import TextSet
from qc.render.findings import Findings, FindingsTable
from qc.table import THREE, Column, Table


def text_findings(texts: TextSet, metrics: list[MetricScores], notes: list[str], signature: str) -> Findings:
    """Return the findings: metrics compared with people over systems, if there are people's scores.

    Raises:
        EmptyRunError: people scored fewer than 3 systems.
    """
    by_system = np.array([_of_systems(texts, metric) for metric in metrics]).reshape(-1, len(texts.systems))
    told = (*texts.notes, *notes)
    if texts.human is None:
        return Findings(
            command="metrics",
            title=f"Metrics of texts: {texts.name}",
            source=texts.source,
            verdict=("The file has no column `people`, so nothing is compared with people.",),
            notes=told,
            tables=(_systems_alone(texts, metrics, by_system), *_scores_of_texts(texts, metrics)),
            figures=(),
            method="",
            signature=signature,
        )
    found = hold_systems(texts.source, texts.human, metrics, texts.systems, by_system)
    tables = (agreement_table, criteria_table, williams_table, prefilter_table)
    return Findings(
        command="metrics",
        title=f"Metrics against people: {texts.name}",
        source=texts.source,
        verdict=tuple(verdict(found)),
        notes=(*told, *found.notes),
        tables=(
            *(table(found) for table in tables),
            systems_table(found, "people"),
            *_scores_of_texts(texts, metrics),
        ),
        figures=system_figures(found),
        method=texts.method + METHOD,
        signature=signature,
    )


def _of_systems(texts: TextSet, metric: MetricScores) -> NDArray[np.float64]:
    if metric.systems is not None:
        return metric.systems
    if metric.conversations is None:
        raise AssertionError("a metric scores texts or systems")
    return mean_by_system(metric.conversations, texts.codes, len(texts.systems), texts.counted)


def _systems_alone(
    texts: TextSet, metrics: list[MetricScores], by_system: NDArray[np.float64]
) -> FindingsTable:
    names = [metric.name for metric in metrics]
    frame = pd.DataFrame(by_system.T, columns=names)
    frame.insert(0, "system", texts.systems)
    columns = (Column("system", "system"), *(Column(name, name, THREE) for name in names))
    text = "Each metric as it was computed; higher is better unless the documents say otherwise."
    return FindingsTable("systems", "Scores of the systems", text, Table(frame, columns))


def _scores_of_texts(texts: TextSet, metrics: list[MetricScores]) -> list[FindingsTable]:
    scores = {metric.name: metric.conversations for metric in metrics if metric.conversations is not None}
    if not texts.outputs or not scores:
        return []
    frame = pd.DataFrame(
        {
            "output": [each.name for each in texts.outputs],
            "system": [each.system for each in texts.outputs],
            **scores,
        }
    )
    text = "A row for each text, also those that nobody rated; candor estimate --metrics takes this file."
    return [FindingsTable("for_estimate", "Scores of the texts", text, Table(frame), 0)]
