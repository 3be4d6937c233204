"""Measure what is said of systems where workers rate in ways that make errors of scores hard to know.

So many workers who passed rate all of five systems. But for the clusters no system is better than another;
half of the workers like the polarising one much more than the others, and half much less. True scores are
those of one run of the design with very many workers.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product

import numpy as np

from benchmarks.truth.certificates import false_claims
from benchmarks.truth.one_run import Truth, truth_of
from benchmarks.truth.part import Count, Counted, Part, any_below, held
from qc.bundle.certificate import claims_of
from qc.method.sample import Sample, take_sample
from qc.method.scores import Scores, leaders, score
from qc.method.significance import compare_systems
from qc.robustness.fragile_pairs import fragile_pairs
from qc.robustness.fragility import fragility, without
from qc.robustness.intervals import Intervals, intervals, told_apart
from tests.qc.support.designs import Design, run_of
from tests.qc.support.samples import sample_of_arrays

DRAWS = 999
# So many runs are cut from one large run, which is made up and filtered faster than they would be.
BLOCK = 100
# Fragility takes as long as all the rest, so it is looked at in one of so many runs.
FRAGILITY_EACH = 25
WORKERS = (2, 3, 4, 5, 6, 13, 30, 80)
COLUMNS = (
    "differences with an interval",
    "difference held (≥ 95)",
    "all differences held (≥ 95)",
    "any claim on pairs, groups, ranks or the best false (≤ 5)",
    "any pair differs, by worker with Holm (≤ 5)",
    "leader's z held",
    "leader said to be best",
    "leader is best",
    "workers named as fragile who change nothing (≤ 0)",
)
_PLAIN = Design("all rate as in published run 1", 0, 1, quality=(0.0,) * 5, careless=0.0)
# The first system of SPLIT is moved by as much as makes its true z nearly that of the others.
_SPLIT = 30.0
CROWDS = {
    "plain": _PLAIN,
    "clusters": replace(_PLAIN, name="two of the five systems are worse", quality=(0, 0, 0, -15, -15)),
    "halo": replace(_PLAIN, name="one impression on all criteria", halo=True),
    "tens": replace(_PLAIN, name="ratings in tens", step=10.0),
    "quarters": replace(_PLAIN, name="ratings in quarters of the scale", step=25.0),
    "tenth": replace(_PLAIN, name="a tenth of the scale used", width=0.1),
    "polarising": replace(_PLAIN, name="one polarising system", quality=(-4.0, 0, 0, 0, 0), split=_SPLIT),
    "unequal": replace(_PLAIN, name="unequal work", pace=1.0),
    "returning": replace(_PLAIN, name="workers return half of the time", assignments=None, returning=0.5),
    "missing": replace(
        _PLAIN, name="two assignments, half of the QC ratings missing", assignments=2, without_qc=0.5
    ),
}
DESIGNS = {f"{key}-{workers}": (key, workers) for workers, key in product(WORKERS, CROWDS)}


@cache
def _truth(crowd: str) -> Truth:
    return truth_of(CROWDS[crowd])


@lru_cache(maxsize=1)
def _crowd(crowd: str, workers: int, block: int) -> Sample:
    """Return a run of which enough workers passed for BLOCK runs with so many of them."""
    many = replace(CROWDS[crowd], workers=3 * workers * BLOCK)
    return take_sample(run_of(many, np.random.default_rng([34, block, workers])))


def _sample(crowd: str, workers: int, number: int) -> Sample:
    """Return the run of a number: the next workers who passed, since workers are independent."""
    whole = _crowd(crowd, workers, number // BLOCK)
    passed = np.flatnonzero(whole.screening.workers["passed"])
    own = passed[number % BLOCK * workers :][:workers]
    rows = np.flatnonzero(whole.counted & np.isin(whole.workers, own))
    sample = sample_of_arrays(np.searchsorted(own, whole.workers[rows]), whole.systems[rows], whole.z[rows])
    return replace(sample, raw=whole.raw[rows])


def _wrongly_fragile(sample: Sample, scores: Scores, found: Intervals, seed: int) -> Counted:
    """Count the removals that are named and change nothing."""
    of_leader, of_pairs = fragility(sample, scores), fragile_pairs(sample, scores, found, seed)
    wrong = number = 0
    if of_leader is not None and of_leader.successor is not None:
        left = without(sample, of_leader.workers["worker"].to_numpy())
        wrong += leaders(score(left)) == [of_leader.leader]
        number += 1
    for removal in () if of_pairs is None else (of_pairs.pair, of_pairs.border):
        if removal is not None:
            left = without(sample, np.array(removal.workers, object))
            apart = told_apart(left, scores, DRAWS, seed)
            wrong += bool(apart[found.systems.index(removal.first), found.systems.index(removal.second)])
            number += 1
    return float(wrong), number


def _counting(key: str) -> Count:
    crowd, workers = DESIGNS[key]
    truth = _truth(crowd).z[:, 0]

    def count(number: int) -> Mapping[str, Counted]:
        sample = _sample(crowd, workers, number)
        scores = score(sample)
        found = intervals(sample, scores, DRAWS, number)
        true = truth[[int(name.removeprefix("s")) for name in found.systems]]
        pairs = np.triu_indices(len(true), 1)
        differences = (true[:, None] - true)[pairs]
        low = found.difference_low[pairs]
        together = held(found.simultaneous_low[pairs], found.simultaneous_high[pairs], differences)
        false = false_claims(claims_of(found), dict(zip(found.systems, map(float, true), strict=True)))
        tests = compare_systems(sample, scores).by_worker_holm
        equal = true[:, None] == true
        chance, best = float(found.best_chance[0]), true == true.max()
        known = int(np.isfinite(chance))
        counts: tuple[Counted, ...] = (
            (float(np.isfinite(low).sum()), len(low)),
            held(low, found.difference_high[pairs], differences),
            (float(together[0] == together[1] > 0), int(together[1] > 0)),
            (float(bool(false)), 1),
            any_below(tests[equal & ~np.eye(len(true), dtype=bool)]),
            held(found.z_low[:1, 0], found.z_high[:1, 0], true[:1]),
            (chance if known else 0.0, known),
            (float(best[0] / best.sum()) if known else 0.0, known),
            (0.0, 0) if number % FRAGILITY_EACH else _wrongly_fragile(sample, scores, found, number),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {
    "hostile": Part(
        {"What is said of systems where workers rate in hostile ways": COLUMNS},
        {key: f"{workers} workers, {CROWDS[crowd].name}" for key, (crowd, workers) in DESIGNS.items()},
        _counting,
    )
}
