"""Measure workers' edits of texts, where a study asks for improvements.

Source: Chaganty, Mussmann, Liang, *The price of debiasing automatic metrics in natural language evaluation*,
ACL 2018, section 4 and appendix A: the value is edited words over length, lower is better. A text that was
left as it was counts as 0.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.run import Run
from qc.transcripts.judgments import judged
from qc.transcripts.twins import items_of


@dataclass(frozen=True)
class Edits:
    """Edited words over length.

    Attributes:
        table: `system` (str), `judgments` (int: of workers who passed), `edited` (float: share of them in
            which something was changed), `edit_share` (float: mean over the items of the system, each the
            mean over its workers; lower is better); in the order of the scores.
    """

    table: pd.DataFrame


def describe_edits(run: Run, sample: Sample, scores: Scores) -> Edits | None:
    """Return what workers who passed changed; None if nobody was asked to."""
    given = items_of(run)["edit_share"].to_numpy(np.float64)
    if not np.isfinite(given).any():
        return None
    share = judged(run, np.nan_to_num(given)[:, None])[:, 0]
    counted = sample.counted
    rows = pd.DataFrame(
        {
            "system": run.systems["system"].to_numpy()[sample.systems[counted]],
            "weight": sample.weights[counted],
            "share": share[counted],
        }
    )
    by_system = rows.assign(value=rows["share"] * rows["weight"], edited=rows["share"] > 0).groupby("system")
    sums = by_system[["value", "weight"]].sum()
    table = pd.DataFrame(
        {
            "judgments": by_system.size(),
            "edited": by_system["edited"].mean(),
            "edit_share": sums["value"] / sums["weight"],
        }
    ).reindex(scores.z["system"].to_list())
    return Edits(table.fillna({"judgments": 0}).astype({"judgments": np.int64}).reset_index(names="system"))
