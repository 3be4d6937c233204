"""Judgments from a run of ours: a conversation is an output, judged once, by the worker who chatted.

In a run of transcripts each item is an output, judged by several workers; what a worker says of it is the
mean with its repeat, and what controls the workers is no judgment. An item that is a conversation is called
as that.

Those of workers who passed the filter take part, with scores that point the same way, as in the report; a
worker's z is over all their ratings, all criteria and the qc bot's among them. Beside the criteria there is
their mean, `overall`.
"""

import numpy as np
import pandas as pd

from qc.judgments.csv_table import ITEM, OUTPUT, SYSTEM, CsvTable
from qc.judgments.judgments import Judgments
from qc.judgments.metric_file import metric_outputs
from qc.method.sample import Sample
from qc.method.standardise import scale_maximum
from qc.run import Run

OVERALL = "overall"


def from_sample(sample: Sample, metrics: CsvTable | None) -> Judgments:
    """Return the conversations or items of a run that count, as judgments; a metric file's join the pool.

    Raises:
        DataError: the metric file does not fit the run.
    """
    counted = sample.counted
    judged = _judged(sample.run)[counted].reset_index(drop=True)
    labels = [OVERALL, *sample.run.criteria["label"]]
    once = judged.drop_duplicates("output", ignore_index=True)
    outputs = pd.DataFrame(
        {
            OUTPUT: once["output"].astype("str"),
            ITEM: once["output"].astype("str"),
            SYSTEM: once["system"].astype("str"),
        }
    )
    found = pd.DataFrame(index=outputs.index)
    if metrics is not None:
        outputs, found = metric_outputs(metrics, outputs, found)
    at = pd.Index(outputs[OUTPUT]).get_indexer(pd.Index(judged["output"]))
    values, z = (
        np.column_stack([sample.overall[scale], by_criterion])[counted]
        for scale, by_criterion in (("raw", sample.raw), ("z", sample.z))
    )
    each = len(labels)
    workers = judged["worker"].cat.remove_unused_categories()
    rows = pd.DataFrame(
        {
            "output": np.repeat(at, each),
            "worker": pd.Categorical.from_codes(
                np.repeat(workers.cat.codes.to_numpy(), each), categories=workers.cat.categories
            ),
            "criterion": pd.Categorical(np.tile(labels, len(at)), categories=labels),
            "value": values.ravel(),
            "z": z.ravel(),
            "position": np.repeat(judged["position"].to_numpy(np.float64), each),
        }
    )
    systems = sample.run.systems
    names = tuple(systems.loc[~systems["is_qc"], "system"])
    return Judgments(
        source=sample.run.source,
        systems=names,
        outputs=outputs.drop(columns=SYSTEM),
        belongs=outputs[SYSTEM].to_numpy()[:, None] == np.asarray(names),
        metrics=found,
        rows=rows,
        notes=sample.run.notes,
        ends=(0.0, scale_maximum(sample.run)),
    )


def _judged(run: Run) -> pd.DataFrame:
    """Return `output`, `system`, `worker`, `position` of each row that a sample of `run` has."""
    rows = run.conversations.rename(columns={"conversation": "output"})
    if run.items is not None:
        rows = rows.assign(output=run.items["output"])[run.items["kind"].eq("ordinary").to_numpy(bool)]
    return rows[["output", "system", "worker", "position"]]
