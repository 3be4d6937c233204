"""Measure the coverage of intervals where few workers did most of the work, and all systems are equally good.

Each run has some workers with many assignments, and 34 workers with one; three in ten of these 34 rate at
random. The first columns show the coverage and the errors if intervals and tests were made as for runs in
which all workers do the same number of assignments. The other columns show those of the report.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part, held
from qc.method.sample import Sample, take_sample
from qc.method.scores import Scores, score
from qc.robustness.intervals import intervals, worker_sums
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import Influences, influences, upper_quantile, wild_draws
from tests.qc.support.designs import DESIGNS, Design, run_of, with_equal_systems

DRAWS = 999
OTHERS = 34
COLUMNS = (
    "effective number of raters (a number)",
    "raters (a number)",
    "difference would be held (95)",
    "any would be wrongly told apart (≤ 5)",
    "differences with an interval",
    "difference held (95)",
    "any wrongly told apart (≤ 5)",
)
LEADING = {
    "none": (),
    "one-6": (6,),
    "one-10": (10,),
    "one-15": (15,),
    "one-30": (30,),
    "one-60": (60,),
    "two-8": (8, 8),
    "two-30": (30, 30),
    "three-10": (10,) * 3,
    "three-20": (20, 20, 20),
    "five-10": (10,) * 5,
}
TASTES = {"": 8.0, "-tastes": 20.0}


def _design(leading: tuple[int, ...], taste: float) -> Design:
    workers = OTHERS + len(leading)
    plain = replace(DESIGNS["forty"], workers=workers, assignments=1, taste=taste, leading=leading)
    whose = f"{len(leading)} with {leading[0]} assignments" if leading else "none with more"
    strong = ", strong tastes" if taste > TASTES[""] else ""
    return replace(with_equal_systems(plain), name=f"{whose}{strong}")


def _without_refusing(found: Influences, number: int) -> tuple[Counted, Counted]:
    """Count differences of the first means that would be held, and whether any would be told apart."""
    drawn = wild_draws(found, DRAWS, np.random.default_rng([8, number]))
    pairs = np.triu_indices(len(found.raters), 1)
    means: NDArray[np.float64] = found.mean[:, 0]
    t = np.abs(means[pairs[0]] - means[pairs[1]]) / found.standard_errors_of_differences()[pairs]
    alone, together = upper_quantile(drawn.pairs, LEVEL), upper_quantile(drawn.pairs.max(axis=1), LEVEL)
    known = np.isfinite(alone) & np.isfinite(t)
    return (float((t <= alone)[known].sum()), int(known.sum())), (float((t > together)[known].any()), 1)


def _counting(key: str) -> Count:
    design = DESIGNS_OF_PART[key]

    def count(number: int) -> Mapping[str, Counted]:
        sample: Sample = take_sample(run_of(design, np.random.default_rng([6, number])))
        scores: Scores = score(sample)
        found = influences(worker_sums(sample, scores, sample.overall["z"][:, None]))
        given, pairs = intervals(sample, scores, DRAWS, number), np.triu_indices(len(found.raters), 1)
        low, high = given.difference_low[pairs], given.difference_high[pairs]
        would_hold, would_be_apart = _without_refusing(found, number)
        counts = (
            (float(found.effective().mean()) / 100, 1),
            (float(found.raters.mean()) / 100, 1),
            would_hold,
            would_be_apart,
            (float(np.isfinite(low).sum()), len(low)),
            held(low, high, np.zeros(len(low))),
            (float((given.simultaneous_low > 0).any()), 1),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


DESIGNS_OF_PART = {
    f"{key}{strong}": _design(leading, taste)
    for strong, taste in TASTES.items()
    for key, leading in LEADING.items()
}
PARTS = {
    "uneven": Part(
        {"What intervals hold where few workers did most of the work": COLUMNS},
        {key: design.name for key, design in DESIGNS_OF_PART.items()},
        _counting,
    )
}
