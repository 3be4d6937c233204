"""Measure scores by the length of the reference, of equal systems, where the length does not matter.

The items and workers are those of the part of transcripts: a worker has a taste for each system, and items
differ. Every score is 0, and so is the effect of every length.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.truth.judgments import CROSSED, SHARE, SYSTEMS
from benchmarks.truth.part import Count, Counted, Part, held
from qc.method.scores import score
from qc.transcripts.reference_length import score_by_reference
from tests.qc.support.samples import sample_of_arrays

COLUMNS = (
    "effect of the reference's length: held (≥ 95)",
    "a system's score by the length of the reference: held (≥ 95)",
)


def _counting(key: str) -> Count:
    workers, items = CROSSED[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([25, number, workers, items])
        who, what = np.nonzero(rng.random((workers, SYSTEMS * items)) < SHARE)
        z = (
            rng.normal(0, 0.5, (workers, SYSTEMS))[who, what % SYSTEMS]
            + rng.normal(0, 0.7, SYSTEMS * items)[what]
            + rng.normal(size=len(who))
        )
        words = rng.integers(1, 40, SYSTEMS * items)[what]
        made = sample_of_arrays(who, what % SYSTEMS, z[:, None])
        shown = pd.DataFrame({"kind": pd.Series(["ordinary"] * len(who))})
        run = replace(made.run, items=shown, reference_words=pd.Series(words, dtype="float64"))
        sample = replace(made, run=run, items=what)
        found = score_by_reference(sample, score(sample))
        if found is None or found.why_not:
            return {}
        counts = [
            held(table["low"].to_numpy(np.float64), table["high"].to_numpy(np.float64), np.zeros(len(table)))
            for table in (found.groups, found.systems)
        ]
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {
    "references": Part(
        {"Scores by the length of the reference": COLUMNS},
        {
            key: f"{workers} workers, {items} items of each system"
            for key, (workers, items) in CROSSED.items()
        },
        _counting,
    )
}
