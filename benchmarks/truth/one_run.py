"""Measure the report of one run: its intervals, and its tests.

The true scores are those of one run of the same design with very many workers, through the same filter and
standardisation. Equal systems have one true score. Tests of effects that do not exist (place, persona,
differences of equal systems) are counted in the designs of equal systems.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.truth.part import Count, Counted, Part, any_below, below, held, without_nought
from qc.method.sample import Sample, take_sample
from qc.method.scores import Scores, score
from qc.method.significance import compare_systems
from qc.robustness.context import context_effects
from qc.robustness.intervals import Intervals, intervals
from qc.robustness.persona import persona_effect
from tests.qc.support.designs import DESIGNS, Design, run_of, with_context, with_equal_systems

DRAWS = 999
# Conversations with systems by which the true scores are known, to about 0.004 z.
TRUTH_CONVERSATIONS = 150_000

INTERVALS = (
    "raw score held (95)",
    "z by criterion held (95)",
    "leader's z held (95)",
    "overall z held, of a system named beforehand (95)",
    "difference held (95)",
    "all differences held (95)",
    "any wrongly told apart (≤ 5)",
    "pairs that differ told apart",
    "leader said to be best",
    "leader is best",
)
TESTS = (
    "rank sum, as published",
    "rank test by worker (5)",
    "any, published with Holm",
    "any, by worker with Holm (≤ 5)",
    "place: F (5)",
    "place: intervals without 0 (5)",
    "persona, by family (5)",
    "persona, all families (5)",
)
POWER = ("found by the rank sum, as published", "found by the rank test by worker")


@dataclass(frozen=True)
class Truth:
    """True scores of S systems by number, overall and by criterion, (S, 1 + K) each."""

    z: NDArray[np.float64]
    raw: NDArray[np.float64]


@dataclass(frozen=True)
class Analysed:
    """A run, and the truth in the order of its scores: z and raw, (S, 1 + K)."""

    sample: Sample
    scores: Scores
    seed: int
    z: NDArray[np.float64]
    raw: NDArray[np.float64]

    @cached_property
    def intervals(self) -> Intervals:
        return intervals(self.sample, self.scores, DRAWS, self.seed)

    @property
    def differences(self) -> NDArray[np.float64]:
        """True overall z of the row's system minus that of the column's."""
        return self.z[:, :1] - self.z[:, 0]


def truth_of(design: Design) -> Truth:
    """Return the true scores of the systems."""
    per_worker = (design.assignments or 1) * (len(design.quality) // (2 - len(design.quality) % 2))
    large = replace(design, workers=TRUTH_CONVERSATIONS // per_worker)
    found = score(take_sample(run_of(large, np.random.default_rng(0))))
    return Truth(*(_levelled(design, table.sort_values("system")) for table in (found.z, found.raw)))


def _levelled(design: Design, table: pd.DataFrame) -> NDArray[np.float64]:
    """Return the scores of (S, 1 + K), overall first; equal systems differ by the errors of the large run."""
    columns = ["overall", *table.columns.drop(["system", "n", "overall"])]
    scores = table[columns].to_numpy(np.float64)
    return np.array(
        [scores[[other == quality for other in design.quality]].mean(axis=0) for quality in design.quality]
    )


def said_of_scores(run: Analysed) -> Mapping[str, Counted]:
    """Count what the intervals hold."""
    found, pairs = run.intervals, np.triu_indices(len(run.z), 1)
    all_held, of = held(found.simultaneous_low[pairs], found.simultaneous_high[pairs], run.differences[pairs])
    told, better = found.simultaneous_low > 0, run.differences > 0
    # The leader's interval alone is not symmetrical: it reaches further down for having been picked.
    middle = run.scores.z["overall"].to_numpy(np.float64)
    best, chance = run.z[:, 0] == run.z[:, 0].max(), float(found.best_chance[0])
    known = np.isfinite(chance)
    counts = (
        held(found.raw_low[:, 0], found.raw_high[:, 0], run.raw[:, 0]),
        held(found.z_low[:, 1:], found.z_high[:, 1:], run.z[:, 1:]),
        held(found.z_low[:1, 0], found.z_high[:1, 0], run.z[:1, 0]),
        held(2 * middle - found.z_high[:, 0], found.z_high[:, 0], run.z[:, 0]),
        held(found.difference_low[pairs], found.difference_high[pairs], run.differences[pairs]),
        (float(all_held == of), 1),
        (float((told & ~better).any()), 1),
        (float(told[better].sum()), int(better.sum())),
        (chance if known else 0.0, int(known)),
        (float(best[0] / best.sum()) if known else 0.0, int(known)),
    )
    return dict(zip(INTERVALS, counts, strict=True))


def said_of_nothing(run: Analysed) -> Mapping[str, Counted]:
    """Count the tests that find what is not there, in a run of equal systems."""
    tests, persona = compare_systems(run.sample, run.scores), persona_effect(run.sample, run.scores)
    off = ~np.eye(len(run.z), dtype=bool)
    (place,) = [effect for effect in context_effects(run.sample).effects if effect.name == "position"]
    counts = (
        below(tests.p[off]),
        below(tests.by_worker[off]),
        any_below(tests.holm[off]),
        any_below(tests.by_worker_holm[off]),
        below([place.p]),
        without_nought(place),
        below([family.p for family in persona.families] if persona else []),
        below([persona.pooled.p] if persona and persona.pooled else []),
    )
    return dict(zip(TESTS, counts, strict=True))


def said_of_differences(run: Analysed) -> Mapping[str, Counted]:
    """Count how many of the pairs that differ the tests see, the better one being the better."""
    tests, better = compare_systems(run.sample, run.scores), run.differences > 0
    return dict(zip(POWER, (below(tests.p[better]), below(tests.by_worker[better])), strict=True))


def _counting(key: str) -> Count:
    design = EVERY[key]
    truth, equal = truth_of(design), key in EQUAL

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([1, number])
        # What has nothing to do with the ratings is drawn after them, and changes none.
        run = with_context(run_of(design, rng), rng)
        sample = take_sample(run)
        scores = score(sample)
        of_system = [int(name.split()[-1]) for name in scores.z["system"]]
        found = Analysed(sample, scores, number, truth.z[of_system], truth.raw[of_system])
        if equal:
            return {**said_of_scores(found), **said_of_nothing(found)}
        return {**said_of_scores(found), **said_of_differences(found)}

    return count


EQUAL = {f"{key}-equal": with_equal_systems(design) for key, design in DESIGNS.items() if key != "three"} | {
    "three": DESIGNS["three"]
}
DIFFERENT = {key: design for key, design in DESIGNS.items() if key != "three"}
EVERY = DIFFERENT | EQUAL
PARTS = {
    "one-run": Part(
        {
            "What intervals hold": INTERVALS,
            "How often tests find what is not there": TESTS,
            "How often tests find what is there": POWER,
        },
        {key: design.name for key, design in EVERY.items()},
        _counting,
    )
}
