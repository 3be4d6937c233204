"""Measure the coverage of intervals of means by worker, and of values computed from such means.

The values of one worker are correlated: half of their variance is the worker's own. Percentiles of a
bootstrap over workers, which the report does not give, stand beside the report's intervals.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part
from qc.statistics.clustered_means import half_width, interval_of_correlation, interval_of_difference
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import bootstrap_sums, percentile_interval

DRAWS = 499
WORKERS = (3, 4, 5, 10, 20, 40)
# Values of each worker where all have as many, conversations with rated replies, and with pasted inputs.
EACH = 3
CONVERSATIONS = 6
# True correlation within a worker, and what pasted conversations differ by.
R, PASTED_LESS = 0.5, -1.0
FEWEST_SHOWN = 5
MEAN, UNEVEN, CORRELATION, CHANGE = (
    "mean, as many values each",
    "mean, 1 to 8 values each",
    "correlation with the score",
    "change without pasted conversations",
)
# Of as many values each, by five workers, the interval is a bound.
COLUMNS = tuple(
    f"{what}: {how} ({'≥ 95' if (what, how) == (MEAN, 'held') else '95'})"
    for what in (MEAN, UNEVEN, CORRELATION, CHANGE)
    for how in ("held", "percentiles")
)


def _held(low: float, high: float, truth: float) -> Counted:
    return (float(low <= truth <= high), 1) if np.isfinite([low, high]).all() else (0.0, 0)


def _values(owner: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.normal(size=owner.max() + 1)[owner] + rng.normal(size=len(owner))


def _sums(values: NDArray[np.float64], owner: NDArray[np.intp], workers: int) -> NDArray[np.float64]:
    return np.column_stack(
        [np.bincount(owner, weights, workers) for weights in (np.ones(len(owner)), values)]
    )


def _percentiles(statistic: NDArray[np.float64], truth: float) -> Counted:
    low, high = percentile_interval(statistic[:, None], LEVEL)
    return _held(float(low[0]), float(high[0]), truth)


def _means(counts: NDArray[np.intp], rng: np.random.Generator) -> tuple[Counted, Counted]:
    owner = np.repeat(np.arange(len(counts)), counts)
    sums = _sums(_values(owner, rng), owner, len(counts))
    mean, half = sums[:, 1].sum() / sums[:, 0].sum(), half_width(sums, DRAWS, rng)
    drawn = bootstrap_sums(sums, DRAWS, rng)
    return _held(mean - half, mean + half, 0.0), _percentiles(drawn[:, 1] / drawn[:, 0], 0.0)


def _correlation(workers: int, rng: np.random.Generator) -> tuple[Counted, Counted]:
    """Count for r of deviations from each worker's mean; workers differ in how x and y go together."""
    x, noise = rng.normal(size=(2, workers, CONVERSATIONS))
    strength = np.arctanh(R) + rng.normal(0, 0.3, (workers, 1))
    y = np.tanh(strength) * x + np.sqrt(1 - np.tanh(strength) ** 2) * noise
    x, y = (each - each.mean(axis=1, keepdims=True) for each in (x, y))
    products = np.column_stack([(x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1)])
    drawn = bootstrap_sums(products, DRAWS, rng)
    _, low, high = interval_of_correlation(products, DRAWS, rng)
    percentiles = drawn[:, 2] / np.sqrt(drawn[:, 0] * drawn[:, 1])
    return _held(low, high, TRUE_R), _percentiles(percentiles, TRUE_R)


def _change(workers: int, rng: np.random.Generator) -> tuple[Counted, Counted]:
    """Count for a mean without pasted conversations less that of all; half of the workers paste some."""
    owner = np.repeat(np.arange(workers), CONVERSATIONS)
    pasted = (owner % 2 == 0) & (rng.random(len(owner)) < 0.5)
    if not 0 < pasted.sum() < len(owner):
        return (0.0, 0), (0.0, 0)
    values = _values(owner, rng) + PASTED_LESS * pasted
    rest, taken = (_sums(values[rows], owner[rows], workers) for rows in (~pasted, pasted))
    share = pasted.mean()
    _, low, high = interval_of_difference(rest, taken, DRAWS, rng)
    drawn = bootstrap_sums(np.hstack([rest, rest + taken]), DRAWS, rng)
    change = drawn[:, 1] / np.where(drawn[:, 0] > 0, drawn[:, 0], np.nan) - drawn[:, 3] / drawn[:, 2]
    truth = float(-share * PASTED_LESS)
    return _held(share * low, share * high, truth), _percentiles(change, truth)


def _true_r() -> float:
    """Return what r is of very many workers: the mean of a tanh is not the tanh of the mean."""
    strength = np.arctanh(R) + np.random.default_rng(0).normal(0, 0.3, 2_000_000)
    return float(np.tanh(strength).mean())


TRUE_R = _true_r()


def _counting(key: str) -> Count:
    workers = DESIGNS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([7, number, workers])
        of_each = (
            _means(np.full(workers, EACH), rng),
            _means(rng.integers(1, 9, workers), rng),
            _correlation(workers, rng),
            _change(workers, rng),
        )
        return dict(zip(COLUMNS, [each for both in of_each for each in both], strict=True))

    return count


DESIGNS = {f"means-{workers}": workers for workers in WORKERS}
PARTS = {
    "means": Part(
        {"What intervals of means by worker hold": COLUMNS},
        {key: f"{workers} workers" for key, workers in DESIGNS.items()},
        _counting,
    )
}
