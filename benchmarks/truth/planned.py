"""Compare a plan's predictions from a pilot with the results of runs of the planned size.

A plan predicts means, so they are compared with means. Each number is the plans' prediction over the runs'
result, in per cent.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from benchmarks.truth.part import Count, Counted, Part
from qc.method.sample import take_sample
from qc.method.scores import score
from qc.planning.rater_model import fit
from qc.planning.run_plan import Costs, plan_run
from qc.robustness.intervals import intervals
from tests.qc.support.designs import DESIGNS, run_of

COLUMNS = ("half-width of a score's interval", "pairs told apart", "workers who pass")
EXPERIMENTS = 10
DRAWS = 999
TRUTH_RUNS = 100
# Workers of a pilot, and of the run that it foretells: four times as many.
PILOTS = {"sixty": 60, "thirty": 30}
MULTIPLE, AT = 4, 3


def shown(workers: int) -> tuple[float, float, float]:
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
    design, truth = replace(DESIGNS["published"], workers=pilot), shown(MULTIPLE * pilot)

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


PARTS = {
    "plan": Part(
        {"What a plan foretells, in per cent of what runs show (100)": COLUMNS},
        {key: f"pilot of {count} workers, run of {MULTIPLE * count}" for key, count in PILOTS.items()},
        _counting,
        most_runs=TRUTH_RUNS,
    )
}
