"""Measure the intervals of the quiz after conversations, and how often who guesses is above chance.

Every worker has six quizzes of four lines. Workers differ in how many of the answers they know, or all guess.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.truth.part import Count, Counted, Part, held
from qc.method.quiz import describe_quiz
from qc.method.sample import take_sample
from tests.qc.support.designs import DESIGNS, run_of

COLUMNS = (
    "share of all workers held (95)",
    "share of a system held (≥ 95)",
    "share of a worker held (≥ 95)",
    "above chance by guessing (≤ 5)",
)
LINES = 4
DRAWS = 999
# Chances of a right answer, of which every worker has one: their mean is GUESS where all guess.
GUESS = (1 / LINES,)
KNOWN = (0.3, 0.55, 0.8, 1.0)
DESIGNS_OF_PART = {
    f"quiz-{workers}{suffix}": (workers, chances, words)
    for suffix, chances, words in (("", KNOWN, "who know more or less"), ("-guess", GUESS, "who guess"))
    for workers in (12, 40, 248)
}


def _counting(key: str) -> Count:
    workers, chances, _ = DESIGNS_OF_PART[key]
    design = replace(DESIGNS["published"], workers=workers, assignments=1)

    def count(number: int) -> Mapping[str, Counted]:
        rng = np.random.default_rng([13, number, workers])
        run = run_of(design, rng)
        owner = run.conversations["worker"].cat.codes.to_numpy()
        chance = rng.choice(chances, workers)
        quizzes = pd.DataFrame(
            {
                "conversation": np.arange(len(owner), dtype=np.int32),
                "choices": np.full(len(owner), LINES, np.int32),
                "why_not": None,
                "is_right": (rng.random(len(owner)) < chance[owner]).astype(np.float64),
                "about": "lines",
            }
        )
        found = describe_quiz(take_sample(replace(run, quizzes=quizzes)), DRAWS, number)
        if found is None:  # the run has a quiz
            return {}
        everyone = found.groups.set_index("group").loc[["all"]]
        low, high = (found.workers[name].to_numpy(np.float64) for name in ("low", "high"))
        of_systems = (found.systems[name].to_numpy(np.float64) for name in ("low", "high"))
        true = np.array([np.mean(chances)])
        counts: tuple[Counted, ...] = (
            held(everyone["low"].to_numpy(np.float64), everyone["high"].to_numpy(np.float64), true),
            held(*of_systems, np.full(len(found.systems), true)),
            held(low, high, chance),
            (float(found.workers["above_chance"].sum()), workers) if chances == GUESS else (0.0, 0),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


PARTS = {
    "quiz": Part(
        {"The quiz after conversations": COLUMNS},
        {key: f"{workers} workers {words}" for key, (workers, _, words) in DESIGNS_OF_PART.items()},
        _counting,
    )
}
