"""Standard errors of transcript scores, clustered two ways: by workers and by items.

A worker judges many items and an item is judged by several workers, so judgments are correlated by both. Let
u = w (z − mean) / Σ w be the influence of a judgment with weight w on its system's mean. The variance of the
mean is

    V = V_workers + V_items − V_judgments.

Each term is the sum of squares of the sums of u, over the workers, the items and the single judgments, times
G / (G − 1) for the number G of these units. The last term is subtracted because both others include it. The
true V is larger than each of the first two terms; if the estimate is smaller than the larger of them, that
one is used. So a two-way error is never smaller than a one-way error. Differences of two systems are computed
in the same way, with the difference of their u. Student's t has G − 1 degrees of freedom, where G is the
smaller of the numbers of workers and items.

Errors by worker, as in the intervals of scores, apply to other workers and the same items. Two-way errors
apply to other workers and other items of the same systems.

Sources: Cameron, Gelbach and Miller, *Robust inference with multiway clustering*, Journal of Business and
Economic Statistics 29, 2011 (the three terms, each with its factor); degrees of freedom: Cameron and Miller,
*A practitioner's guide to cluster-robust inference*, Journal of Human Resources 50, 2015. That V is not let
below the larger term is ours, on the safe side.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.statistics.confidence import LEVEL, holm

FEWEST = 3  # fewest workers, and fewest items, for an error


@dataclass(frozen=True)
class TwoWay:
    """Standard errors of overall z, for other workers and other items.

    Attributes:
        systems: `system`, `z`, `workers`, `items`, `by_worker`, `by_item`, `both` (standard errors), `low`,
            `high` (95 % interval by `both`); best first. Errors are NaN with fewer than FEWEST workers or
            items, or if judgments do not vary.
        pairs: `first`, `second` (the first is higher), `difference`, `error` (two ways), `p` (two-sided),
            `holm` (`p` with Holm's correction over all pairs).
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame


def errors_two_ways(sample: Sample, scores: Scores) -> TwoWay:
    """Return the two-way errors of a run of transcripts."""
    if sample.items is None:
        raise AssertionError("only judgments of items are crossed")
    counted = sample.counted
    systems = ranks_of(sample, scores)[sample.systems[counted]]
    workers, items = sample.workers[counted], sample.items[counted]
    moved, held = _influences(sample.overall["z"][counted], sample.weights[counted], systems, len(scores.z))
    names, z = scores.z["system"].to_list(), scores.z["overall"].to_numpy(np.float64)
    rows = []
    for number, name in enumerate(names):
        error = _Errors.of(np.where(systems == number, moved, 0.0), systems == number, workers, items)
        half = error.quantile * error.both
        rows.append(
            {
                "system": name,
                "z": z[number],
                "workers": error.workers,
                "items": error.items,
                "by_worker": error.by_worker,
                "by_item": error.by_item,
                "both": error.both,
                "low": z[number] - half,
                "high": z[number] + half,
            }
        )
    return TwoWay(pd.DataFrame(rows), _pairs(names, z, moved, systems, workers, items, held))


def _influences(
    values: NDArray[np.float64], weights: NDArray[np.float64], systems: NDArray[np.intp], count: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the influence of each judgment on its system's mean, and whether a system has judgments."""
    total = np.bincount(systems, weights, count)
    means = np.bincount(systems, weights * values, count) / np.where(total > 0, total, 1)
    return weights * (values - means[systems]) / total[systems], total > 0


@dataclass(frozen=True)
class _Errors:
    """Standard errors of a mean or a difference, and the numbers of workers and items behind them."""

    by_worker: float
    by_item: float
    both: float
    workers: int
    items: int

    @property
    def degrees(self) -> int:
        return min(self.workers, self.items) - 1

    @property
    def quantile(self) -> float:
        return float(stdtrit(self.degrees, (1 + LEVEL) / 2)) if self.degrees > 0 else np.nan

    @classmethod
    def of(
        cls,
        moved: NDArray[np.float64],
        there: NDArray[np.bool_],
        workers: NDArray[np.intp],
        items: NDArray[np.intp],
    ) -> "_Errors":
        """Return the errors from the influences `moved` of the judgments that are `there`."""
        moved, workers, items = moved[there], workers[there], items[there]
        numbers = len(np.unique(workers)), len(np.unique(items))
        if min(numbers) < FEWEST:
            return cls(np.nan, np.nan, np.nan, *numbers)
        by_worker, by_item = _variance(moved, workers), _variance(moved, items)
        single = float((moved**2).sum()) * len(moved) / (len(moved) - 1)
        both = max(by_worker + by_item - single, by_worker, by_item)
        if both <= 0:
            return cls(np.nan, np.nan, np.nan, *numbers)
        one, other, together = (float(np.sqrt(each)) for each in (by_worker, by_item, both))
        return cls(one, other, together, *numbers)


def _variance(moved: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    names, codes = np.unique(clusters, return_inverse=True)
    sums = np.bincount(codes, moved, len(names))
    return float((sums**2).sum()) * len(names) / (len(names) - 1)


def _pairs(
    names: list[str],
    z: NDArray[np.float64],
    moved: NDArray[np.float64],
    systems: NDArray[np.intp],
    workers: NDArray[np.intp],
    items: NDArray[np.intp],
    held: NDArray[np.bool_],
) -> pd.DataFrame:
    rows = []
    for first, second in zip(*np.triu_indices(len(names), 1), strict=True):
        if not (held[first] and held[second]):
            continue
        sign = np.where(systems == first, 1.0, -1.0)
        of_both = (systems == first) | (systems == second)
        error = _Errors.of(sign * moved, of_both, workers, items)
        difference = float(z[first] - z[second])
        p = 2 * float(stdtr(error.degrees, -difference / error.both)) if np.isfinite(error.both) else np.nan
        rows.append((names[first], names[second], difference, error.both, p))
    found = pd.DataFrame(rows, columns=["first", "second", "difference", "error", "p"])
    return found.assign(holm=holm(found["p"].to_numpy(np.float64)))
