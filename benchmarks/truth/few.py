"""Measure intervals and told-apart systems where few workers rated equal systems, once each."""

from collections.abc import Mapping
from itertools import product

import numpy as np

from benchmarks.truth.part import Count, Counted, Part
from qc.method.scores import score
from qc.robustness.intervals import intervals
from tests.qc.support.samples import sample_of_arrays

DRAWS = 999
WORKERS, SYSTEMS = (5, 6, 8, 13), (2, 3, 6, 10)
# A worker's own taste for a system, in standard deviations of a rating.
TASTE = 0.5
COLUMNS = ("score held (95)", "difference held (95)", "any wrongly told apart (≤ 5)")
DESIGNS = {f"few-{workers}-{systems}": (workers, systems) for workers, systems in product(WORKERS, SYSTEMS)}


def _counting(key: str) -> Count:
    workers, systems = DESIGNS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([11, number, workers, systems])
        z = rng.normal(0, np.hypot(1, TASTE), (workers, systems))
        z -= z.mean(axis=1, keepdims=True)
        sample = sample_of_arrays(
            np.repeat(np.arange(workers), systems), np.tile(np.arange(systems), workers), z.reshape(-1, 1)
        )
        found = intervals(sample, score(sample), DRAWS, number)
        apart = ~np.eye(systems, dtype=bool)
        held = (found.z_low[:, 0] <= 0) & (found.z_high[:, 0] >= 0)
        differences = ((found.difference_low <= 0) & (found.difference_high >= 0))[apart]
        counts = (
            (float(held.sum()), systems),
            (float(differences.sum()), len(differences)),
            (float((found.simultaneous_low > 0).any()), 1),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {
    "few": Part(
        {"Equal systems, rated by few": COLUMNS},
        {key: f"{workers} workers, {systems} systems" for key, (workers, systems) in DESIGNS.items()},
        _counting,
    )
}
