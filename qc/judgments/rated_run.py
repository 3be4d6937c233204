"""Build judgments from a run of Candor: a conversation is an output, judged once, by the worker who chatted.

Conversations of the same workers that the server left unrated are unjudged outputs: with their metrics they
extend the pool. Judgments are in order of submission if the source has the times, else by assignment.

In a run of transcripts each item is an output, judged by several workers. A worker's judgment is the mean of
the item and its repeat; control items are not judgments. An item that is a conversation has the
conversation's name.

As in the report, only workers who passed the filter count, and higher is better for all scores. A worker's z
is over all their ratings, on all criteria and including the QC bot. There is also the mean of the criteria,
`overall`.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.judgments.assembly import ITEM, OUTPUT, SYSTEM, CsvTable
from qc.judgments.judgments import Judgments
from qc.judgments.metric_file import metric_outputs
from qc.method.filter import nobody_passed
from qc.method.sample import Sample, require_competing
from qc.method.standardise import scale_maximum
from qc.run import Run, codes
from qc.table import whole

OVERALL = "overall"


def from_sample(sample: Sample, metrics: CsvTable | None) -> Judgments:
    """Return the counted conversations or items of a run as judgments; unrated ones join the pool.

    Raises:
        DataError: the metric file does not match the run.
        EmptyRunError: no worker passed, or no system competes, so no conversation or item counts.
    """
    require_competing(sample.run)
    if (why := nobody_passed(sample.run, sample.screening)) is not None:
        raise EmptyRunError(f"{sample.run.source}: {why} There is nothing to estimate from yet.")
    counted = _in_order(sample)
    judged = _judged(sample.run).iloc[counted].reset_index(drop=True)
    labels = [OVERALL, *sample.run.criteria["label"]]
    rated = judged.drop_duplicates("output", ignore_index=True)[["output", "system"]]
    unrated = _unrated(sample)
    once = pd.concat([rated, unrated], ignore_index=True)
    outputs = pd.DataFrame(
        {
            OUTPUT: once["output"].astype("str"),
            ITEM: once["output"].astype("str"),
            SYSTEM: once["system"].astype("str"),
        }
    )
    found = pd.DataFrame(index=outputs.index)
    if metrics is not None:
        outputs, found = metric_outputs(metrics, outputs, found, np.arange(len(once)) < len(rated))
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
    names = tuple(systems.loc[sample.run.competing, "system"])
    return Judgments(
        source=sample.run.source,
        systems=names,
        outputs=outputs.drop(columns=SYSTEM),
        belongs=outputs[SYSTEM].to_numpy()[:, None] == np.asarray(names),
        metrics=found,
        rows=rows,
        notes=(*sample.run.notes, *_pool_notes(len(unrated), known=metrics is not None)),
        ends=(0.0, scale_maximum(sample.run)),
        in_order=sample.run.ended is not None,
    )


def _in_order(sample: Sample) -> NDArray[np.intp]:
    """Return the counted rows, in order of submission of their assignments."""
    rows = np.flatnonzero(sample.counted)
    if sample.run.ended is None:
        return rows
    ended = sample.run.ended.to_numpy("datetime64[ns]")
    assignments = codes(_judged(sample.run)["assignment"])
    return rows[np.argsort(ended[assignments[rows]], kind="stable")]


def _unrated(sample: Sample) -> pd.DataFrame:
    """Return `output`, `system` of the unrated conversations of workers who passed."""
    if sample.run.unrated is None:
        return pd.DataFrame({"output": [], "system": []}, dtype="str")
    rows = sample.run.unrated.conversations.rename(columns={"conversation": "output"})
    passed = sample.screening.keeps(codes(rows["worker"])) & ~rows["system"].isin(sample.run.people)
    return rows.loc[passed, ["output", "system"]]


def _pool_notes(unrated: int, *, known: bool) -> list[str]:
    if not unrated:
        return []
    remedy = "" if known else " Score them by `candor metrics`, and give what it writes to --metrics."
    return [
        f"{whole(unrated)} conversations of the workers who passed were left unrated, drawn at random. "
        f"Nobody judged them; with a metric they are the pool.{remedy}"
    ]


def _judged(run: Run) -> pd.DataFrame:
    """Return the rows of a sample of `run`: `output`, `system`, `worker`, `position`, `assignment`."""
    rows = run.conversations.rename(columns={"conversation": "output"})
    if run.items is not None:
        rows = rows.assign(output=run.items["output"])[run.items["kind"].eq("ordinary").to_numpy(bool)]
    return rows[["output", "system", "worker", "position", "assignment"]]
