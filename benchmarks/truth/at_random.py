"""Measure the bound of random workers among those who passed, and what the verdict makes of it.

Workers have one assignment or more (`tests/qc/support/designs.py`). Some of them rate at random, in one of
the three ways of `benchmarks/random_raters.py`. The others rate honestly, and see more or less of a
difference between the quality-control bot and the systems.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.random_raters import KINDS
from benchmarks.truth.part import Count, Counted, Part
from qc.method.sample import Sample, take_sample
from qc.method.scores import score
from qc.render.sentences import FEW_RANDOM
from qc.robustness.filter_check import check_filter
from tests.qc.support.designs import DESIGNS, MEAN_QC, run_of

COLUMNS = (
    "random workers who passed: no more than said (≥ 95)",
    "said at most, of those who passed",
    "estimated, of those who passed",
    "random, of those who passed",
    "few random workers said where there are many (≤ 5)",
    "random workers who pass",
)
WORKERS = (12, 20, 40, 90, 248)
# Of these also workers who see less of a difference.
DISCERNING = (12, 40, 248)
# Points that honest workers give the quality-control bot on average; they give the systems 43.
DISCERNMENT = {"strong": MEAN_QC, "middling": 15.0, "weak": 25.0}


@dataclass(frozen=True)
class Crowd:
    """A share of the workers rate at random, in the way of `kind`; the rest with this discernment."""

    workers: int
    share: float
    kind: str = "anywhere"
    discernment: str = "strong"

    @property
    def name(self) -> str:
        """The crowd in words."""
        honest = f"{self.workers} workers, {self.discernment} discernment"
        return (
            f"{honest}, {100 * self.share:.0f} % random: {self.kind}"
            if self.share
            else f"{honest}, none random"
        )


def _crowds(workers: int) -> tuple[Crowd, ...]:
    ways = tuple(
        Crowd(workers, share, kind) for kind in ("anywhere", "one impression") for share in (0.1, 0.35, 0.5)
    )
    discerning = tuple(
        Crowd(workers, 0.35, kind, how)
        for how in ("middling", "weak")
        for kind in ("anywhere", "one impression")
        if workers in DISCERNING
    )
    return Crowd(workers, 0.0), *ways, Crowd(workers, 0.35, "middling"), *discerning


def _drawn(crowd: Crowd, rng: np.random.Generator) -> tuple[Sample, NDArray[np.bool_]]:
    """Return a run, and which of its workers rate at random."""
    honest = replace(
        DESIGNS["published"], workers=crowd.workers, careless=0.0, mean_qc=DISCERNMENT[crowd.discernment]
    )
    run = run_of(honest, rng)
    random = rng.random(crowd.workers) < crowd.share
    rows, ratings = random[run.conversations["worker"].cat.codes.to_numpy()], run.ratings.copy()
    ratings[rows] = KINDS[crowd.kind](rng, (1, int(rows.sum()), ratings.shape[1]))[0]
    return take_sample(replace(run, ratings=ratings)), random


def _counting(key: str) -> Count:
    crowd = CROWDS[key]

    def count(number: int) -> Mapping[str, Counted]:
        sample, random = _drawn(crowd, np.random.default_rng([12, number, crowd.workers]))
        passed = sample.screening.workers["passed"].to_numpy(bool)
        if not passed.any():
            return {}
        found = check_filter(sample, score(sample), number)
        share, bound = float(random[passed].mean()), found.random_among_passed_bound
        counts: tuple[Counted, ...] = (
            (float(share <= bound), 1),
            (bound, 1),
            (found.random_among_passed, 1),
            (share, 1),
            (float(bound <= FEW_RANDOM < share), 1),
            (float(passed[random].sum()), int(random.sum())),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


CROWDS = {
    f"random-{crowd.workers}-{number}": crowd
    for workers in WORKERS
    for number, crowd in enumerate(_crowds(workers))
}
PARTS = {
    "random": Part(
        {"Random workers among those who passed": COLUMNS},
        {key: crowd.name for key, crowd in CROWDS.items()},
        _counting,
    )
}
