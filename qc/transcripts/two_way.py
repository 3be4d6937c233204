"""Errors of transcript scores clustered two ways, by raters and by items.

A worker judges many items and an item is judged by several workers, so judgments hang together by both. With
u = w (z − mean) / Σ w, what a judgment with the weight w moves its system's mean, the variance of the mean is

    V = V_workers + V_items − V_judgments,

each the sum of squares of the sums of u over the workers, the items and the single judgments, times G / (G −
1) for the G of them that take part. The last is subtracted since both others hold it. Where V falls below
the larger of the first two, which it estimates to be more than, that one is taken: so an error two ways is
never smaller than one way. Differences of two systems are treated alike, with the difference of their u.
Student's t has G − 1 degrees of freedom, G the smaller number of workers and of items.

Errors by worker, which the intervals of scores have, are about other workers and these very items; errors two
ways are about other workers and other items of the same systems.

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

FEWEST = 3  # workers and items, below which there is no error


@dataclass(frozen=True)
class TwoWay:
    """Errors of overall z, by other workers and other items.

    Attributes:
        systems: `system`, `z`, `workers`, `items`, `by_worker`, `by_item`, `both` (standard errors), `low`,
            `high` (95 % interval by `both`); best first. Errors are NaN with fewer than FEWEST workers or
            items, or where judgments do not vary.
        pairs: `first`, `second` (the first is higher), `difference`, `error` (two ways), `p` (two-sided),
            `holm` (`p` with Holm's correction over all pairs).
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame


def errors_two_ways(sample: Sample, scores: Scores) -> TwoWay:
    """Return the errors of a run of transcripts."""
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
    """Return what each judgment moves its system's mean, and which systems have judgments."""
    total = np.bincount(systems, weights, count)
    means = np.bincount(systems, weights * values, count) / np.where(total > 0, total, 1)
    return weights * (values - means[systems]) / total[systems], total > 0


@dataclass(frozen=True)
class _Errors:
    """Standard errors of a mean or a difference, and how many workers and items they are from."""

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
        """Return the errors of what judgments that are `there` move."""
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
