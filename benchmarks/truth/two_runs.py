"""Measure the estimates about a second run: its correlation with the first, and the predicted correlation.

The systems of every experiment are drawn anew, from a normal distribution; both runs have workers of their
own. The true r is estimated from many experiments: the covariance of the scores of two runs within an
experiment over their variance, averaged. The true ρ and τ are those of a normal distribution with this r.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part
from qc.method.sample import Sample, take_sample
from qc.method.scores import Scores, score
from qc.robustness.forecast import forecast
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import (
    CorrelationInterval,
    interval_of_r,
    interval_of_rank_correlation,
    kendall,
    pearson,
    spearman,
)
from tests.qc.support.designs import DESIGNS, Design, run_of

COLUMNS = (
    "r held (95)",
    "ρ held (95)",
    "τ held (95)",
    "r of the second run foretold (95)",
)
# Standard deviation of the systems' qualities, in points.
SPREADS = {"": 9.0, "-close": 3.0}
TRUTH_EXPERIMENTS = 100


def _run(design: Design, rng: np.random.Generator) -> tuple[Sample, Scores]:
    sample = take_sample(run_of(design, rng))
    return sample, score(sample)


def _overall(scores: Scores) -> NDArray[np.float64]:
    return scores.z.sort_values("system")["overall"].to_numpy(np.float64)


def _drawn(design: Design, spread: float, rng: np.random.Generator) -> Design:
    return replace(design, quality=tuple(rng.normal(0, spread, len(design.quality))))


def correlation_of(design: Design, spread: float) -> float:
    """Return what the scores of two runs correlate at, of all systems."""
    sums = np.zeros(3)
    for number in range(TRUTH_EXPERIMENTS):
        rng = np.random.default_rng([3, number])
        drawn = _drawn(design, spread, rng)
        x, y = (_overall(_run(drawn, rng)[1]) for _ in range(2))
        known = np.isfinite(x) & np.isfinite(y)
        x, y = x[known] - x[known].mean(), y[known] - y[known].mean()
        sums += [(x * y).sum(), (x * x).sum(), (y * y).sum()]
    return float(sums[0] / np.sqrt(sums[1] * sums[2]))


def _counting(key: str) -> Count:
    design, spread = EXPERIMENTS[key]
    r = correlation_of(design, spread)
    truth = r, 6 / np.pi * np.arcsin(r / 2), 2 / np.pi * np.arcsin(r)

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([1, number])
        drawn = _drawn(design, spread, rng)
        (sample, first), (_, second) = (_run(drawn, rng) for _ in range(2))
        x, y = _overall(first), _overall(second)
        seen = pearson(x, y)
        of_r = interval_of_r(seen, int((np.isfinite(x) & np.isfinite(y)).sum()), LEVEL)
        rank = (
            interval_of_rank_correlation("spearman", spearman(x, y), of_r),
            interval_of_rank_correlation("kendall", kendall(x, y), of_r),
        )
        told = forecast(sample, first, number)
        within = CorrelationInterval(told.low, told.high) if told else CorrelationInterval(np.nan, np.nan)
        counts = [_held(each, what) for each, what in zip((of_r, *rank), truth, strict=True)]
        return dict(zip(COLUMNS, (*counts, _held(within, seen)), strict=True))

    return count


def _held(interval: CorrelationInterval, value: float) -> Counted:
    known = bool(np.isfinite([interval.low, value]).all())
    return float(interval.low <= value <= interval.high), int(known)


EXPERIMENTS = {
    f"{key}{suffix}": (DESIGNS[key], spread)
    for suffix, spread in SPREADS.items()
    for key in ("published", "forty", "twenty", "sixteen")
}
PARTS = {
    "second": Part(
        {"What is said of a second run": COLUMNS},
        {
            key: f"{design.name}, systems of standard deviation {spread:g}"
            for key, (design, spread) in EXPERIMENTS.items()
        },
        _counting,
    )
}
