"""Measure the report's tests of time and topic in runs where neither affects the ratings.

These tests have a script of their own because they need far more runs. A test of time needs a quarter with at
least 10 workers, and few runs of 40 workers have one. It takes tens of thousands of runs to know how often
such tests are wrong.
"""

from collections.abc import Mapping

import numpy as np

from benchmarks.truth.one_run import EQUAL
from benchmarks.truth.part import Count, Counted, Part, below, without_nought
from qc.method.sample import take_sample
from qc.robustness.context import context_effects
from tests.qc.support.designs import run_of, with_context

FACTORS = {"minutes": "time", "topic opinion": "opinion of the topic", "topic changes": "changes of topic"}
F, INTERVALS, MADE = "F (5)", "intervals without 0 (5)", "a test is made"


def _counting(key: str) -> Count:
    design = EQUAL[key]

    def count(number: int) -> Mapping[str, Counted]:
        # The runs of the part of one run, to the last rating.
        rng = np.random.default_rng([1, number])
        sample = take_sample(with_context(run_of(design, rng), rng))
        effects = {FACTORS.get(effect.name): effect for effect in context_effects(sample).effects}
        counts: dict[str, Counted] = {}
        for name in FACTORS.values():
            found = below([effects[name].p]) if name in effects else (0.0, 0)
            counts |= {f"{name}: {F}": found, f"{name}: {MADE}": (float(found[1]), 1)}
            if name in effects:
                counts[f"{name}: {INTERVALS}"] = without_nought(effects[name])
        return counts

    return count


PARTS = {
    "context": Part(
        {
            "How often time and topic are found to matter, which do not": tuple(
                f"{name}: {what}" for what in (F, INTERVALS, MADE) for name in FACTORS.values()
            ),
        },
        {key: design.name for key, design in EQUAL.items()},
        _counting,
    )
}
