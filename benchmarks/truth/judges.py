"""Measure means that automatic judges help to estimate, of few or many workers who work evenly or not.

A rating is an output's quality, plus the worker's habit, plus noise. Each of two judges correlates with
quality at r; their errors are independent, and larger for some outputs than for others. Workers give 6
ratings each on average, of a quarter of the outputs. Of uneven ones the busiest gives ten times as many as
the least busy.

Outputs are judged once, or by several workers. Or those that are judged are drawn by probabilities,
more often where the two judges disagree (`qc.planning.rating_choice`).
"""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part
from qc.estimators.pool_mean import Interval
from qc.judgments import Judged
from qc.planning.rating_choice import disagreement, rating_probabilities
from qc.precision.confidence_sequence import looks
from qc.precision.estimates import worth

ONCE = ("no judge: held (95)", "one judge: held (95)", "two judges: held (95)")
SEVERAL = ("several ratings of an output, no judge: held (95)", "one judge: held there (95)")
DRAWN = ("drawn by probabilities, one judge: held (95)", "drawn by probabilities, two judges: held (95)")
LOOKS = ("one judge: ever missed (≤ 5)", "two judges: ever missed (≤ 5)")
WIDTHS = (
    "width with one judge",
    "width with two judges",
    "width with two judges and probabilities",
)
WORKERS, R = (6, 12, 30, 100), (0.0, 0.5, 0.8, 0.95)
EACH, POOL, HABIT, NOISE = 6, 4, 0.5, 0.5
DESIGNS_OF_PART = {
    f"judges-{workers}-{r:g}{'-uneven' if uneven else ''}": (workers, r, uneven)
    for uneven, workers, r in product((False, True), WORKERS, R)
    if not (uneven and workers == min(WORKERS))  # who count as 4, and have no interval
}
Array = NDArray[np.float64]


def _workers(workers: int, uneven: bool, number: int) -> NDArray[np.intp]:
    """Return who gives each of about `number` ratings, in the order of workers."""
    shares = np.geomspace(1, 10, workers) if uneven else np.ones(workers)
    return np.repeat(np.arange(workers), np.maximum(np.round(number * shares / shares.sum()), 1).astype(int))


def _outputs(count: int, r: float, rng: np.random.Generator) -> tuple[Array, pd.DataFrame]:
    """Return the quality of outputs, and what two judges say of them."""
    quality, hard = rng.standard_normal(count), np.sqrt(rng.exponential(size=count))
    return quality, pd.DataFrame(
        {name: r * quality + np.sqrt(1 - r**2) * hard * rng.standard_normal(count) for name in ("a", "b")}
    )


def _judged(
    quality: Array,
    metrics: pd.DataFrame,
    who: NDArray[np.intp],
    what: NDArray[np.intp],
    rng: np.random.Generator,
    probabilities: Array | None = None,
) -> Judged:
    habits = HABIT * rng.standard_normal(int(who.max()) + 1)
    values = quality[what] + habits[who] + NOISE * rng.standard_normal(len(who))
    nothing = np.full(len(who), np.nan)
    names = np.arange(len(quality)).astype(object)
    return Judged(
        "value", None, values, nothing, what, who, nothing, names, metrics, probabilities=probabilities
    )


def _held(judged: Judged, metric: str) -> tuple[Counted, Interval | None]:
    found = worth(judged, metric, 2, 0)
    if found is None:
        return (0.0, 0), None
    interval = found.varied.by_formula.clustered
    return (float(interval.low <= 0 <= interval.high), 1), interval


def _missed(judged: Judged, metric: str, truth: float) -> Counted:
    found = looks(judged, None, metric)
    if found is None or found.varied is None:
        return 0.0, 0
    missed = np.abs(found.varied.centre - truth) > found.varied.half_width
    return float(missed.any()), 1


def _counting(key: str) -> Count:
    workers, r, uneven = DESIGNS_OF_PART[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([20, number, workers, int(100 * r), int(uneven)])
        who = _workers(workers, uneven, EACH * workers)
        quality, metrics = _outputs(POOL * len(who), r, rng)
        once = _judged(quality, metrics, who, rng.permutation(len(quality))[: len(who)], rng)
        of_once = [_held(once, metric) for metric in ("", "a", "a+b")]
        rated = max(len(who) // 3, int(np.bincount(who).max()))
        what = np.concatenate([rng.permutation(rated)[:size] for size in np.bincount(who)])
        several_quality, several_metrics = _outputs(POOL * rated, r, rng)
        several = _judged(several_quality, several_metrics, who, what, rng)
        chances = rating_probabilities(disagreement(metrics.to_numpy()), 1 / POOL)
        chosen = rng.permutation(np.flatnonzero(rng.random(len(quality)) < chances))
        drawn = _judged(quality, metrics, _spread(who, len(chosen)), chosen, rng, chances)
        of_drawn = [_held(drawn, metric) for metric in ("a", "a+b")]
        mixed = rng.permutation(len(who))
        stream = _judged(quality, metrics, who[mixed], rng.permutation(len(quality))[: len(who)], rng)
        truth = float(quality.mean())
        return (
            dict(zip(ONCE, (counted for counted, _ in of_once), strict=True))
            | dict(zip(SEVERAL, (_held(several, metric)[0] for metric in ("", "a")), strict=True))
            | dict(zip(DRAWN, (counted for counted, _ in of_drawn), strict=True))
            | dict(zip(LOOKS, (_missed(stream, metric, truth) for metric in ("a", "a+b")), strict=True))
            | _widths(*(interval for _, interval in (*of_once, of_drawn[1])))
        )

    return count


def _spread(who: NDArray[np.intp], number: int) -> NDArray[np.intp]:
    """Return who gives each of `number` ratings, with the shares of `who`."""
    return who[np.linspace(0, len(who) - 1, number).round().astype(int)]


def _widths(plain: Interval | None, *others: Interval | None) -> dict[str, Counted]:
    """Return the width of each interval over that without a judge, where both are given."""
    return {
        name: (0.0, 0) if plain is None or other is None else (other.se / plain.se, 1)
        for name, other in zip(WIDTHS, others, strict=True)
    }


def _name(workers: int, r: float, uneven: bool) -> str:
    return f"{workers} {'uneven ' if uneven else ''}workers, judges of r = {r:g}"


PARTS = {
    "judges": Part(
        {
            "Means with automatic judges, each output rated once": ONCE,
            "Means with a judge, outputs rated by several workers": SEVERAL,
            "Means with judges, outputs drawn where the judges disagree": DRAWN,
            "Means with judges that are looked at after every worker": LOOKS,
            "Standard error with judges, in per cent of that without": WIDTHS,
        },
        {key: _name(*design) for key, design in DESIGNS_OF_PART.items()},
        _counting,
    )
}
