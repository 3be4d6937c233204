"""Measure results of other commands (estimate, metrics, randomisation), and errors of transcripts two ways.

Judgments of outputs and confidence sequences are those of `benchmarks/estimators.py`. Units of approximate
randomisation differ, and two equal systems are scored on each. A metric follows the workers of a run of
chats, some more than others. Transcripts are of four equally good systems, and each item is judged by several
of the workers.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimators import (
    at_a_fixed_size,
    long_tail,
    longer_tail,
    looked_at,
    mostly_top,
    near_the_end,
    seldom,
    slider,
    three_levels,
    truth_of,
)
from benchmarks.truth.part import Count, Counted, Part, any_below, below, held
from qc.estimators.metric_agreement import Coefficient
from qc.estimators.pool_mean import Interval
from qc.estimators.randomisation import randomise
from qc.method.scores import score
from qc.metrics.against_people import hold_against_people
from qc.metrics.metric_table import MetricScores
from qc.transcripts.results import errors_two_ways
from tests.qc.support.samples import sample_of_arrays

MEANS = (
    "mean held: of record (95)",
    "mean held: if independent",
    "mean with a metric held: of record (95)",
    "mean with a metric held: if independent",
)
LOOKS = (
    "ever missed: fixed n",
    "ever missed: any n (≤ 5)",
    "ever missed: any n, with metric (≤ 5)",
    "ever missed: any n, exact (≤ 5)",
)
EXCHANGES = ("equal systems differ (≤ 5)",)
METRIC = ("r over conversations held (95)",)
TRANSCRIPTS = (
    "score held, two ways (95)",
    "pair differs, two ways (5)",
    "any pair differs, two ways with Holm (≤ 5)",
)

DRAWS = 499
SIZES = {
    f"judged-{workers}-{each}{'' if habit else '-even'}": (workers, each, habit)
    for workers, each, habit in product((10, 30, 100), (1, 2), (0.0, 0.5))
}
DRAWS_OF = {
    "three-levels": three_levels,
    "slider": slider,
    "seldom": seldom,
    "mostly-top": mostly_top,
    "long-tail": long_tail,
    "longer-tail": longer_tail,
    "near-the-end": near_the_end,
}
UNITS = {f"units-{units}": units for units in (6, 10, 20, 60)}
# Workers, and items of each system; every worker judges one in four items.
CROSSED = {
    f"crossed-{workers}-{items}": (workers, items) for workers, items in product((8, 16, 32), (12, 40))
}
SYSTEMS, SHARE = 4, 0.25
FOLLOWED = {f"metric-{workers}": workers for workers in (8, 12, 40, 120)}
# How much of a metric is in a worker's z, on average and as workers differ.
SLOPE, SLOPE_SD = 0.5, 0.3
TRUE_R = SLOPE / float(np.sqrt(1 + SLOPE**2 + SLOPE_SD**2))


def _means(key: str) -> Count:
    workers, each, habit = SIZES[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([14, number, workers, each, int(10 * habit)])
        intervals, truth = at_a_fixed_size(workers, each, habit, rng)
        plain, clustered, varied, varied_clustered = (_holds(one, truth) for one in intervals)
        return dict(zip(MEANS, (clustered, plain, varied_clustered, varied), strict=True))

    return count


def _holds(interval: Interval, truth: float) -> Counted:
    return float(interval.low <= truth <= interval.high), 1


def _looks(key: str) -> Count:
    draw = DRAWS_OF[key]
    truth = truth_of(draw)

    def count(number: int) -> Mapping[str, Counted]:
        missed, _ = looked_at(draw, truth, np.random.default_rng([15, number]))
        return dict(zip(LOOKS, ((value, 1) for value in missed.tolist()), strict=True))

    return count


def _exchanges(key: str) -> Count:
    units = UNITS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([16, number, units])
        first, second = rng.normal(size=units) + rng.exponential(size=(2, units))
        return dict(zip(EXCHANGES, (below([randomise(first, second, rng, 999).p]),), strict=True))

    return count


def _metric(key: str) -> Count:
    workers = FOLLOWED[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([19, number, workers])
        who, what = (each.ravel() for each in np.indices((workers, SYSTEMS)))
        metric = rng.normal(size=len(who))
        z = rng.normal(SLOPE, SLOPE_SD, workers)[who] * metric + rng.normal(size=len(who))
        sample = sample_of_arrays(who, what, z[:, None])
        scored = MetricScores("metric", "replies", higher_is_better=True, conversations=metric)
        (found,) = hold_against_people(sample, [scored], DRAWS, number).conversations
        return dict(zip(METRIC, (_within(found.r, TRUE_R),), strict=True))

    return count


def _within(found: Coefficient, truth: float) -> Counted:
    return float(found.low <= truth <= found.high), int(np.isfinite(found.low))


def _transcripts(key: str) -> Count:
    workers, items = CROSSED[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([17, number, workers, items])
        who, what = np.nonzero(rng.random((workers, SYSTEMS * items)) < SHARE)
        z: NDArray[np.float64] = (
            rng.normal(0, 0.5, (workers, SYSTEMS))[who, what % SYSTEMS]
            + rng.normal(0, 0.7, SYSTEMS * items)[what]
            + rng.normal(size=len(who))
        )
        sample = replace(sample_of_arrays(who, what % SYSTEMS, z[:, None]), items=what)
        found = errors_two_ways(sample, score(sample))
        low, high = (found.systems[end].to_numpy(np.float64) for end in ("low", "high"))
        counts = (
            held(low, high, np.zeros(len(low))),
            below(found.pairs["p"]),
            any_below(found.pairs["holm"]),
        )
        return dict(zip(TRANSCRIPTS, counts, strict=True))

    return count


PARTS = {
    "judgments": Part(
        {"Means of judgments, with and without a metric": MEANS},
        {
            key: f"{workers} workers{' with habits' if habit else ''}, {each} for each output"
            for key, (workers, each, habit) in SIZES.items()
        },
        _means,
    ),
    "looks": Part(
        {"Intervals that are looked at after every judgment": LOOKS},
        {
            "three-levels": "three levels",
            "slider": "a slider",
            "seldom": "1 in one of twenty, else 0",
            "mostly-top": "the highest of five levels in nine of ten",
            "long-tail": "a long tail",
            "longer-tail": "a longer tail",
            "near-the-end": "a slider, mostly near its end",
        },
        _looks,
    ),
    "exchanges": Part(
        {"Approximate randomisation of equal systems": EXCHANGES},
        {key: f"{units} units" for key, units in UNITS.items()},
        _exchanges,
    ),
    "metric": Part(
        {"A metric beside the ratings of conversations": METRIC},
        {key: f"{workers} workers with 4 conversations" for key, workers in FOLLOWED.items()},
        _metric,
    ),
    "transcripts": Part(
        {"Equal systems whose items are judged by several workers": TRANSCRIPTS},
        {
            key: f"{workers} workers, {items} items of each system"
            for key, (workers, items) in CROSSED.items()
        },
        _transcripts,
    ),
}
