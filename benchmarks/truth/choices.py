"""Measure the results of side-by-side comparisons of equally good systems.

Every worker compares two of three systems four times, and has a preference of their own for each system. Two
figures that the report does not give stand beside its intervals: percentiles of a bootstrap over workers, and
how often these put the leader's interval above another system's.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchmarks.truth.part import Count, Counted, Part
from qc.comparison.side_by_side import ComparisonScores, drawn_scores, score_choices, worker_tables
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


def drawn_choices(workers: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return choices of workers between equal systems, by the model of Davidson with tastes."""
    tastes = rng.normal(0, TASTE, (workers, len(SYSTEMS)))
    rows = []
    for worker in range(workers):
        for _ in range(EACH):
            left, right = rng.choice(len(SYSTEMS), 2, replace=False)
            half = (tastes[worker, left] - tastes[worker, right]) / 2
            odds = np.array([np.exp(half), TIES, np.exp(-half)])
            chosen = rng.choice(["left", "tie", "right"], p=odds / odds.sum())
            rows.append((f"w{worker:02}", SYSTEMS[left], SYSTEMS[right], chosen))
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


DESIGNS = {f"choices-{workers}": workers for workers in WORKERS}
PARTS = {
    "choices": Part(
        {"What is said of equal systems that were compared side by side": COLUMNS},
        {key: f"{workers} workers with {EACH} choices" for key, workers in DESIGNS.items()},
        _counting,
    )
}
