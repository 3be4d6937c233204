"""How far scores, ranks and differences would move with other workers: a bootstrap of whole workers.

A worker's ratings hang together, so not conversations are drawn but workers, each with everything they
rated, among those who passed. Whether a worker passes depends on that worker alone; drawing among those
who passed is therefore drawing among all, given how many pass. A worker's z do not change when others are
drawn, because each worker is standardised by themselves.

Sources: Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapters 6 and 13; of clustered data,
Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.statistics.chance import generator
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import bootstrap_sums, percentile_interval, unit_sums


@dataclass(frozen=True)
class Draws:
    """Scores of S systems on K criteria in each of B resamples of the workers.

    Attributes:
        z: (B, S, K), mean z; systems in the order of the scores; NaN where the resample has no
            conversation with the system.
        raw: (B, S, K), the same of the raw scores.
        raters: (S,), how many of the workers who passed talked with the system.
    """

    z: NDArray[np.float64]
    raw: NDArray[np.float64]
    raters: NDArray[np.intp]

    def overall(self, scale: str) -> NDArray[np.float64]:
        """Return the mean over the criteria of the scale `z` or `raw`, (B, S)."""
        means = {"z": self.z, "raw": self.raw}[scale]
        return np.asarray(means.mean(axis=2))


@dataclass(frozen=True)
class Intervals:
    """Percentile intervals of S systems; rows are in the order of the scores, columns overall and criteria.

    A draw in which a system has no conversation is left out of what is said of that system. A system that
    a single worker rated has NaN bounds, since one worker does not tell how much workers differ, and the
    widest range of ranks; a system without a score has NaN bounds and the ranks 0.

    Attributes:
        level: share of the draws within each interval.
        count: number of draws.
        systems: names, best first.
        z_low, z_high, raw_low, raw_high: (S, 1 + K).
        rank_low, rank_high: (S,), ranks by overall z, 1 for the best: the smallest ranks that at least 2.5 %
            and 97.5 % of the draws do not exceed. In a draw the rank is 1 + the number of systems above.
        difference_low, difference_high: (S, S), overall z of the row's system minus the column's.
        indistinct: pairs that cannot be told apart: both have a score, and the interval of their
            difference holds 0 or is unknown.
        best_chance: (S,), share of the draws in which the system is first; systems that are first together
            share the draw. NaN where the bounds are.
    """

    level: float
    count: int
    systems: tuple[str, ...]
    z_low: NDArray[np.float64]
    z_high: NDArray[np.float64]
    raw_low: NDArray[np.float64]
    raw_high: NDArray[np.float64]
    rank_low: NDArray[np.intp]
    rank_high: NDArray[np.intp]
    difference_low: NDArray[np.float64]
    difference_high: NDArray[np.float64]
    indistinct: tuple[tuple[str, str], ...]
    best_chance: NDArray[np.float64]


def worker_sums(sample: Sample, scores: Scores, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what every worker who passed contributes to each system's means.

    Args:
        sample: whose counted conversations are summed.
        scores: gives the order of the S systems.
        values: (conversations, V), any numbers per conversation.

    Returns:
        (workers who passed, S, 1 + V): number of conversations, then the sums of the values; both by the
        weights of the sample.
    """
    counted, passed = sample.counted, sample.screening.workers["passed"].to_numpy(bool)
    ranks = ranks_of(sample, scores)[sample.systems[counted]]
    weights = sample.weights[counted]
    columns = np.column_stack([weights, values[counted] * weights[:, None]])
    workers = (np.cumsum(passed) - 1)[sample.workers[counted]]
    return unit_sums(columns, workers, ranks, (int(passed.sum()), len(scores.z)))


def means_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (…, S, V) means from (…, S, 1 + V) counts and sums; NaN where the count is 0."""
    counts = sums[..., :1]
    return np.asarray(sums[..., 1:] / np.where(counts > 0, counts, np.nan))


def draw(sample: Sample, scores: Scores, count: int, seed: int) -> Draws:
    """Return the systems' scores in `count` resamples of the workers who passed.

    The same seed gives the same bits, on any number of processors.
    """
    sums = worker_sums(sample, scores, np.hstack([sample.z, sample.raw]))
    workers, systems, columns = sums.shape
    drawn = bootstrap_sums(
        sums.reshape(workers, systems * columns), count, generator(seed, "bootstrap of workers")
    )
    means = means_of_sums(drawn.reshape(count, systems, columns))
    criteria = sample.z.shape[1]
    return Draws(
        z=means[..., :criteria],
        raw=means[..., criteria:],
        raters=np.count_nonzero(sums[..., 0], axis=0),
    )


def intervals(draws: Draws, scores: Scores) -> Intervals:
    """Return the percentile intervals that the draws give."""
    systems = tuple(scores.z["system"])
    overall = draws.overall("z")
    z_low, z_high = _score_bounds(draws, "z")
    raw_low, raw_high = _score_bounds(draws, "raw")
    rank_low, rank_high = _rank_bounds(overall, draws.raters)
    difference_low, difference_high = _difference_bounds(overall, draws.raters)
    scored = draws.raters > 0
    open_pairs = ~((difference_low > 0) | (difference_high < 0)) & scored[:, None] & scored
    return Intervals(
        level=LEVEL,
        count=len(overall),
        systems=systems,
        z_low=z_low,
        z_high=z_high,
        raw_low=raw_low,
        raw_high=raw_high,
        rank_low=rank_low,
        rank_high=rank_high,
        difference_low=difference_low,
        difference_high=difference_high,
        indistinct=tuple((systems[i], systems[j]) for i, j in np.argwhere(np.triu(open_pairs, 1))),
        best_chance=_best_chance(overall, draws.raters),
    )


def _score_bounds(draws: Draws, scale: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of the overall score and of every criterion, both (S, 1 + K)."""
    means = {"z": draws.z, "raw": draws.raw}[scale]
    known = (draws.raters > 1)[:, None]
    values = np.concatenate([draws.overall(scale)[..., None], means], axis=2)
    low, high = percentile_interval(values, LEVEL)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _rank_bounds(
    overall: NDArray[np.float64], raters: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the lowest and the highest rank of each system, both (S,)."""
    above = (overall[:, None, :] > overall[:, :, None]).sum(axis=2)
    ranks = np.where(np.isnan(overall), np.nan, above + 1.0)
    scored, known = raters > 0, (raters > 1) & np.isfinite(overall).any(axis=0)
    tail = (1 - LEVEL) / 2
    low = np.where(known, _order_statistic(ranks, tail), np.where(scored, 1, 0))
    high = np.where(known, _order_statistic(ranks, 1 - tail), np.where(scored, scored.sum(), 0))
    return low.astype(np.intp), high.astype(np.intp)


def _order_statistic(ranks: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return, of each column, the smallest value that at least `share` of the draws do not exceed."""
    ordered = np.sort(ranks, axis=0)  # NaN comes last
    size = np.count_nonzero(~np.isnan(ranks), axis=0)
    row = np.maximum(np.ceil(np.round(share * size, 6)).astype(np.intp) - 1, 0)
    return np.asarray(np.take_along_axis(ordered, row[None], axis=0)[0])


def _difference_bounds(
    overall: NDArray[np.float64], raters: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of the difference row − column, both (S, S)."""
    low, _ = percentile_interval(overall[:, :, None] - overall[:, None, :], LEVEL)
    known = (raters > 1)[:, None] & (raters > 1)
    low = np.where(known, low, np.nan)
    return low, 0 - low.T


def _best_chance(overall: NDArray[np.float64], raters: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of the draws in which each system is first, (S,)."""
    scored = overall[~np.isnan(overall).all(axis=1)]
    if len(scored) == 0:
        return np.full(overall.shape[1], np.nan)
    first = scored == np.nanmax(scored, axis=1, keepdims=True)
    share = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.where(raters > 1, share, np.nan)
