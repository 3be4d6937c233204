"""Measure intervals and told-apart systems where few workers rated.

First of equal systems, rated once by each worker, with normal errors. Then of workers of the published runs,
who are drawn anew with all their conversations: their errors are skewed and heaped, and they met some of the
systems. The true scores are those of all workers of the run who passed.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

import candor
from benchmarks.truth.part import Count, Counted, Part, held
from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.robustness.intervals import intervals
from tests.qc.support.samples import sample_of_arrays

DRAWS = 999
WORKERS, SYSTEMS = (5, 6, 8, 13), (2, 3, 6, 10)
# A worker's own taste for a system, in standard deviations of a rating.
TASTE = 0.5
COLUMNS = ("score held (≥ 95)", "difference held (≥ 95)", "any wrongly told apart (≤ 5)")
REAL = (
    "score, named beforehand, held (95)",
    "raw score held (95)",
    "z by criterion held (95)",
    "raw score by criterion held (95)",
    "difference held (95)",
)
DESIGNS = {f"few-{workers}-{systems}": (workers, systems) for workers, systems in product(WORKERS, SYSTEMS)}


PUBLISHED = Path(__file__).parents[2] / "tests" / "data" / "published"
DRAWN = {f"real-{run}-{workers}": (run, workers) for run, workers in product((1, 2), (9, 12, 18, 30))}


@cache
def _published(run: int) -> Sample:
    return take_sample(candor.load(PUBLISHED / f"free_run{run}" / "hits_data.json"))


def _real(key: str) -> Count:
    run, workers = DRAWN[key]
    whole = _published(run)
    scores = score(whole)
    names = whole.run.systems["system"].to_numpy()
    z, raw = (
        table.set_index("system")[["overall", *whole.run.criteria["label"]]]
        for table in (scores.z, scores.raw)
    )
    passed = np.flatnonzero(whole.screening.workers["passed"])
    of_worker = {worker: np.flatnonzero(whole.counted & (whole.workers == worker)) for worker in passed}

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([18, number, run, workers])
        taken = [of_worker[worker] for worker in rng.choice(passed, workers)]
        rows, who = np.concatenate(taken), np.repeat(np.arange(workers), list(map(len, taken)))
        met, systems = np.unique(whole.systems[rows], return_inverse=True)
        sample = replace(sample_of_arrays(who, systems, whole.z[rows]), raw=whole.raw[rows])
        own = score(sample)
        found = intervals(sample, own, DRAWS, number)
        order = [names[met[int(name.removeprefix("s"))]] for name in own.z["system"]]
        true_z, true_raw = (table.loc[order].to_numpy(np.float64) for table in (z, raw))
        # The leader's interval reaches further down, for having been picked; no other does.
        middle = own.z["overall"].to_numpy(np.float64)
        pairs = np.triu_indices(len(order), 1)
        differences = (true_z[:, :1] - true_z[:, 0])[pairs]
        counts = (
            held(2 * middle - found.z_high[:, 0], found.z_high[:, 0], true_z[:, 0]),
            held(found.raw_low[:, 0], found.raw_high[:, 0], true_raw[:, 0]),
            held(found.z_low[:, 1:], found.z_high[:, 1:], true_z[:, 1:]),
            held(found.raw_low[:, 1:], found.raw_high[:, 1:], true_raw[:, 1:]),
            held(found.difference_low[pairs], found.difference_high[pairs], differences),
        )
        return dict(zip(REAL, counts, strict=True))

    return count


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
    ),
    "few-drawn": Part(
        {"Published workers, of whom few are drawn": REAL},
        {key: f"{workers} workers of published run {run}" for key, (run, workers) in DRAWN.items()},
        _real,
    ),
}
