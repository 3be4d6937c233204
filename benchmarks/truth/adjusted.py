"""Measure adjusted scores, their coefficients, and raw scores by criterion, of equal systems.

Places and opinions of topics do not matter in these runs, so an adjusted score is the system's score, and
every coefficient of a place or an opinion is 0.
"""

from collections.abc import Mapping

import numpy as np

from benchmarks.truth.one_run import EQUAL, truth_of
from benchmarks.truth.part import Count, Counted, Part, below, held
from qc.method.sample import take_sample
from qc.method.scores import score
from qc.robustness.context import adjust
from qc.robustness.intervals import intervals
from tests.qc.support.designs import run_of, with_context

DRAWS = 999
COLUMNS = ("adjusted score held (95)", "place or opinion: p (5)", "raw score by criterion held (95)")
DESIGNS_OF_PART = {
    key: EQUAL[key].name for key in ("twenty-equal", "forty-equal", "tastes-equal", "published-equal")
}


def _counting(key: str) -> Count:
    design = EQUAL[key]
    truth = truth_of(design)

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([18, number])
        sample = take_sample(with_context(run_of(design, rng), rng))
        scores = score(sample)
        of_system = [int(name.split()[-1]) for name in scores.z["system"]]
        found, given = adjust(sample, scores), intervals(sample, scores, DRAWS, number)
        counts: tuple[Counted, ...] = (
            held(found.low, found.high, truth.z[of_system, 0]) if found else (0.0, 0),
            below(found.coefficients["p"]) if found else (0.0, 0),
            held(given.raw_low[:, 1:], given.raw_high[:, 1:], truth.raw[of_system][:, 1:]),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {
    "adjusted": Part({"Adjusted scores, and raw scores by criterion": COLUMNS}, DESIGNS_OF_PART, _counting)
}
