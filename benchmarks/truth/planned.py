"""Compare a plan's predictions from a pilot with the results of runs of the planned size.

A plan predicts means, so they are compared with means. Each number is the plans' prediction over the runs'
result, in per cent.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part
from qc.method.sample import take_sample
from qc.method.scores import score
from qc.planning.rater_model import fit
from qc.planning.run_plan import Costs, expect, plan_run, shown
from qc.robustness.intervals import intervals, worker_sums
from qc.statistics.correlation import pearson
from qc.statistics.resampling import Influences, influences
from tests.qc.support.designs import DESIGNS, Design, run_of

COLUMNS = ("half-width of a score's interval", "pairs told apart", "workers who pass")
EXPERIMENTS = 10
DRAWS = 999
TRUTH_RUNS = 100
# Workers of a pilot, and of the run that it foretells: four times as many.
PILOTS = {"sixty": 60, "thirty": 30}
MULTIPLE, AT = 4, 3


def shown_by_runs(workers: int) -> tuple[float, float, float]:
    """Return what runs of so many workers show on average, in the order of COLUMNS."""
    design = replace(DESIGNS["published"], workers=workers)
    seen = []
    for number in range(TRUTH_RUNS):
        sample = take_sample(run_of(design, np.random.default_rng([4, number])))
        found = intervals(sample, score(sample), DRAWS, number)
        half = (found.z_high[1:, 0] - found.z_low[1:, 0]) / 2
        pairs = len(found.systems) * (len(found.systems) - 1) // 2
        passed = int(sample.screening.workers["passed"].sum())
        seen.append((np.nanmean(half), pairs - len(found.indistinct), passed))
    half_width, apart, passed = np.mean(seen, axis=0).tolist()
    return half_width, apart, passed


def _counting(key: str) -> Count:
    pilot = PILOTS[key]
    design, truth = replace(DESIGNS["published"], workers=pilot), shown_by_runs(MULTIPLE * pilot)

    def count(number: int) -> Mapping[str, Counted]:
        sample = take_sample(run_of(design, np.random.default_rng([1, number])))
        plan = plan_run(fit(sample, number), pilot, [], Costs(None, 0, np.nan), 0.05, EXPERIMENTS, number)
        told = plan.expected[AT]
        shares = (
            value / true
            for value, true in zip((told.half_width, told.apart, told.passed), truth, strict=True)
        )
        return {column: (share, 1) for column, share in zip(COLUMNS, shares, strict=True)}

    return count


# Pilots, of systems drawn anew, that foretell two runs of their own size; experiments of each plan.
SECOND = ("r of two runs within the range", "limit of one difference", "limit of all differences")
SAME_SIZE = {"second-thirty": 30}
SPREAD, DRAWN = 9.0, 40


def _second(key: str) -> Count:
    workers = SAME_SIZE[key]

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([30, number, workers])
        quality = tuple(rng.normal(0, SPREAD, len(DESIGNS["published"].quality)))
        design = replace(DESIGNS["published"], workers=workers, quality=quality)
        pilot = take_sample(run_of(design, rng))
        told = expect(fit(pilot, number), workers, Costs(None, 0, np.nan), 0.05, DRAWN, rng)
        (first, one), (second, _) = (_scored(design, rng) for _ in range(2))
        of_run = shown(one, rng)
        r = pearson(first, second)
        if told is None or of_run is None or not np.isfinite([r, told.r_low]).all():
            return {}
        counts = (
            (float(told.r_low <= r <= told.r_high), 1),
            (told.pair_bound / of_run.pair_bound, 1),
            (told.all_pairs_bound / of_run.all_pairs_bound, 1),
        )
        return dict(zip(SECOND, counts, strict=True))

    return count


def _scored(design: Design, rng: np.random.Generator) -> tuple[NDArray[np.float64], Influences]:
    """Return the overall z of the systems of a run, by name, and the workers' contributions to them."""
    sample = take_sample(run_of(design, rng))
    scores = score(sample)
    found = influences(worker_sums(sample, scores, sample.overall["z"][:, None]))
    return scores.z.sort_values("system")["overall"].to_numpy(np.float64), found


PARTS = {
    "plan-second": Part(
        {"What a plan foretells of two runs of its pilot's size, limits in per cent of theirs (100)": SECOND},
        {key: f"pilot and runs of {count} workers" for key, count in SAME_SIZE.items()},
        _second,
    ),
    "plan": Part(
        {"What a plan foretells, in per cent of what runs show (100)": COLUMNS},
        {key: f"pilot of {count} workers, run of {MULTIPLE * count}" for key, count in PILOTS.items()},
        _counting,
        most_runs=TRUTH_RUNS,
    ),
}
