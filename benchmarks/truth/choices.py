"""Measure the results of side-by-side comparisons of equally good systems.

Every worker compares two of three systems four times, and has a preference of their own for each system. Two
figures that the report does not give stand beside its intervals: percentiles of a bootstrap over workers, and
how often these put the leader's interval above another system's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.truth.part import Count, Counted, Part, held
from qc.comparison.side_by_side import (
    FEWEST_DRAWS,
    FEWEST_WORKERS,
    ComparisonScores,
    drawn_scores,
    score_choices,
    worker_tables,
)
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import percentile_interval

DRAWS = 199
SYSTEMS = ("one", "other", "third")
EACH = 4
TASTE, TIES = 0.5, 0.5
WORKERS = (5, 8, 12, 20, 40)
COLUMNS = (
    "score held (≥ 95)",
    "percentiles (95)",
    "any wrongly told apart (≤ 5)",
    "leader's percentiles above another's (≤ 5)",
)
HOSTILE_COLUMNS = (
    "scores determined, and with an interval",
    "score held, if there is one (≥ 95)",
    "any system wrongly above another (≤ 5)",
)


@dataclass(frozen=True)
class Comparers:
    """Workers who compare.

    Attributes:
        name: in words.
        taste: standard deviation of what a worker has for a system, in log odds.
        ties: the tie parameter of the model.
        split: log odds by which half of the workers like the first system more, and the other half less.
        leftist: share of the workers who choose the left side always.
        stubborn: whether a worker says the same of a pair each time.
        pace: standard deviation of the logarithm of a worker's number of sets of EACH choices.
        returning: chance that a worker does one more set.
    """

    name: str
    taste: float = TASTE
    ties: float = TIES
    split: float = 0.0
    leftist: float = 0.0
    stubborn: bool = False
    pace: float = 0.0
    returning: float = 0.0


def drawn_choices(workers: int, rng: np.random.Generator, by: Comparers | None = None) -> pd.DataFrame:
    """Return choices of workers between equal systems, by the model of Davidson with tastes."""
    by = by or Comparers("")
    tastes = rng.normal(0, by.taste, (workers, len(SYSTEMS)))
    if by.split:
        tastes[:, 0] += by.split * rng.choice([-1, 1], workers)
    sets = np.ones(workers, int)
    if by.pace:
        sets = np.ceil(rng.lognormal(0, by.pace, workers)).astype(int)
    if by.returning:
        sets = rng.geometric(1 - by.returning, workers)
    rows = []
    for worker in range(workers):
        always_left = bool(by.leftist) and rng.random() < by.leftist
        said: dict[frozenset[int], str] = {}  # the preferred system, or "tie"
        for _ in range(EACH * sets[worker]):
            left, right = rng.choice(len(SYSTEMS), 2, replace=False)
            half = (tastes[worker, left] - tastes[worker, right]) / 2
            odds = np.array([np.exp(half), by.ties, np.exp(-half)])
            chosen = rng.choice(["left", "tie", "right"], p=odds / odds.sum())
            if by.stubborn:
                named = {"left": SYSTEMS[left], "right": SYSTEMS[right], "tie": "tie"}
                kept = said.setdefault(frozenset((left, right)), named[chosen])
                chosen = next(side for side, name in named.items() if name == kept)
            rows.append((f"w{worker:02}", SYSTEMS[left], SYSTEMS[right], "left" if always_left else chosen))
    return pd.DataFrame(rows, columns=["worker", "left", "right", "preference"])


def _counting(key: str) -> Count:
    workers = DESIGNS[key]

    def count(number: int) -> Mapping[str, Counted]:
        rows = drawn_choices(workers, np.random.default_rng([9, number, workers]))
        tables = worker_tables(rows, SYSTEMS)
        scores: ComparisonScores = score_choices(tables, SYSTEMS, DRAWS, number)
        if not np.isfinite(scores.low).all():
            return {}
        drawn = drawn_scores(tables, scores.fit.scores, DRAWS, np.random.default_rng([10, number]))
        low, high = percentile_interval(drawn[np.isfinite(drawn[:, 0])], LEVEL)
        first = int(scores.fit.scores.argmax())
        counts: tuple[Counted, ...] = (
            (float(((scores.low <= 0) & (scores.high >= 0)).sum()), len(SYSTEMS)),
            (float(((low <= 0) & (high >= 0)).sum()), len(SYSTEMS)),
            (float(scores.above.any()), 1),
            (float((low[first] > np.delete(high, first)).any()), 1),
        )
        return dict(zip(COLUMNS, counts, strict=True))

    return count


def _counting_hostile(key: str) -> Count:
    by, workers = HOSTILE[key]

    def count(number: int) -> Mapping[str, Counted]:
        rows = drawn_choices(workers, np.random.default_rng([34, number, workers]), by)
        # Nothing is said of too few workers, whatever is drawn.
        draws = DRAWS if workers >= FEWEST_WORKERS else FEWEST_DRAWS
        tables = worker_tables(rows, SYSTEMS)
        scores: ComparisonScores = score_choices(tables, SYSTEMS, draws, number)
        counts: tuple[Counted, ...] = (
            (float(np.isfinite(scores.low).all()), 1),
            held(scores.low, scores.high, np.zeros(len(SYSTEMS))),
            (float(scores.above.any()), 1),
        )
        return dict(zip(HOSTILE_COLUMNS, counts, strict=True))

    return count


DESIGNS = {f"choices-{workers}": workers for workers in WORKERS}
COMPARERS = {
    "tastes": Comparers("tastes"),
    "polarising": Comparers("one polarising system", split=2.0),
    "ties": Comparers("mostly ties", ties=6.0),
    "never": Comparers("no ties", ties=0.0),
    "left": Comparers("half always choose the left one", leftist=0.5),
    "stubborn": Comparers("the same said of a pair each time", stubborn=True),
    "unequal": Comparers("unequal work", pace=1.0),
    "returning": Comparers("workers return half of the time", returning=0.5),
}
HOSTILE = {
    f"choices-{key}-{workers}": (by, workers)
    for workers, (key, by) in product((2, 3, 4, 5, 6, 13, 30, 80), COMPARERS.items())
}
PARTS = {
    "choices": Part(
        {"What is said of equal systems that were compared side by side": COLUMNS},
        {key: f"{workers} workers with {EACH} choices" for key, workers in DESIGNS.items()},
        _counting,
    ),
    "hostile-choices": Part(
        {"What is said of equal systems that are compared in hostile ways": HOSTILE_COLUMNS},
        {key: f"{workers} workers, {by.name}" for key, (by, workers) in HOSTILE.items()},
        _counting_hostile,
    ),
}
