"""Intervals of scores, ranks and differences, and of the leader, by a bootstrap of whole workers.

A worker's ratings hang together, so not conversations are drawn but workers, each with everything they
rated, among those who passed. Whether a worker passes depends on that worker alone; drawing among those
who passed is therefore drawing among all, given how many pass. A worker's z do not change when others are
drawn, because each worker is standardised by themselves.

A system of which few of many workers did most of the work (`Influences.carried_by_fewer_than`) has no
interval, and is told apart from none.

**Intervals** of scores and differences are score ± q · standard error, q being the quantile of |t*| of a
wild bootstrap (`qc.statistics.wild_bootstrap`), which holds 95 % with few workers, too;
`qc.robustness.intervals` has the leader's own. **Two systems are told apart** if the interval of their
difference leaves out 0 when q is the quantile of the largest |t*| of all pairs: then the chance that any
two are told apart, or the wrong way round, without being different is 5 % for all pairs together. **Ranks**
follow from these: a system's rank lies between 1 + those told apart above it and S − those told apart below
it, at the same 95 % for all systems together.

The draws of `draw`, workers taken with replacement, are for what is more than one score or one difference.

Sources: Romano and Wolf, *Exact and approximate stepdown methods for multiple hypothesis testing*, Journal
of the American Statistical Association 100, 2005 (the largest t over all hypotheses); Mogstad, Romano,
Shaikh and Wilhelm, *Inference for Ranks*, Review of Economic Studies 91, 2024 (ranks from simultaneous
differences); Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapters 6 and 13; of
clustered data, Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, places, ranks_of
from qc.number_format import decimal, listed
from qc.robustness.clusters import groups_of
from qc.statistics.confidence import LEVEL
from qc.statistics.mixed_model import shares_if_any, shrunk
from qc.statistics.noise import without_noise
from qc.statistics.resampling import bootstrap_sums, generator, unit_sums, upper_quantile
from qc.statistics.wild_bootstrap import (
    FEW_EFFECTIVE,
    FEWEST_EFFECTIVE,
    Influences,
    WildDraws,
    influences,
    wild_draws,
)

# The highest of several scores owes its place to luck as well, the more so the closer the systems are; an
# interval for a system named beforehand holds the leader's true score too seldom. So the picking is drawn
# along: draws of true scores (below), each with new errors on top; the highest of what is then seen is the
# draw's leader, and t* is *its* distance from its true score, not that of any one system.
#
# Luck lifts a leader and does not lower it. Its interval therefore ends above where that of any system does,
# at score + q · standard error; below it ends at score − q' · standard error, q' being so large that in 95 %
# of the draws t* lies from −q to q'. A system far ahead of all others has q' = q, as if named beforehand.
#
# True scores are drawn as `qc.statistics.mixed_model` derives them: m + ρ (x − m) + √ρ d, with d the errors
# that the wild bootstrap's t* give, and ρ from a belief that leaves open whether the systems differ at all.
# The share of these draws in which a system has the highest is the chance that it is the best; where ρ = 0
# all share it.
#
# Source of the problem: Andrews, Kitagawa and McCloskey, *Inference on Winners*, Quarterly Journal of
# Economics 139, 2024; the remedy here is a bootstrap of our own, whose coverage `benchmarks/qc_truth.py`
# prints. t* beyond this comes from a draw without variance, and says no more than that it is far.
FAR = 100.0


@dataclass(frozen=True)
class Leader:
    """Of S systems.

    Attributes:
        low: (S,), end of the interval of a leader's true score; the other end is that of any system. NaN for
            the others. Several that are equally high are leaders.
        best_chance: (S,), the chance of each to be the best; they add up to 1.
    """

    low: NDArray[np.float64]
    best_chance: NDArray[np.float64]


def leader(
    scores: NDArray[np.float64],
    errors: NDArray[np.float64],
    difference_errors: NDArray[np.float64],
    moved: NDArray[np.float64],
    t: NDArray[np.float64],
    rng: np.random.Generator,
) -> Leader:
    """Return what the draws say of the highest of the scores.

    Args:
        scores: (S,), at least two.
        errors: (S,), their standard errors.
        difference_errors: (S, S), those of their differences.
        moved: (B, S), draws of errors of the scores.
        t: (B, S), the same draws' t*.
        rng: source of the draws of ρ.
    """
    t = np.clip(t, -FAR, FAR)
    pairs = np.triu_indices(len(scores), 1)
    error_variance = float((difference_errors[pairs] ** 2).mean()) / 2
    shares = shares_if_any(scores, error_variance, len(moved), rng)
    # The errors in the true scores and those on top are of different draws.
    true = shrunk(scores, shares) + np.sqrt(shares) * np.roll(t, 1, axis=0) * errors
    picked = (true + moved).argmax(axis=1)[:, None]
    of_picked = np.take_along_axis(t, picked, axis=1)[:, 0]
    low = np.full(len(scores), np.nan)
    rounded = without_noise(scores)
    for first in np.flatnonzero(rounded == rounded.max()):
        unlucky = float((of_picked < -upper_quantile(np.abs(t[:, first]), LEVEL)).mean())
        low[first] = scores[first] - upper_quantile(of_picked, LEVEL + unlucky) * errors[first]
    best = true == true.max(axis=1, keepdims=True)
    return Leader(
        low=low,
        best_chance=(best / best.sum(axis=1, keepdims=True)).mean(axis=0),
    )


# With two raters the signs say nothing: in half of the draws nothing is left of either.
FEWEST_RATERS = 3
# Below this many raters of a system the intervals rest on few workers, and a note says so.
FEW_RATERS = 30
# Sliders go by whole points of 100; workers who differ by less than half of one do not differ.
HALF_STEP = 0.5
# Points that are one z: the median of the standard deviations of those who passed in the published run 1.
RATINGS_SD = 30.0


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
    """Intervals of S systems; rows are in the order of the scores, columns overall and criteria.

    Bounds are NaN, and a difference is not told apart, where nothing is known of how workers differ: fewer
    than FEWEST_RATERS of them rated a system, or few of them did most of the work, or they do not differ by
    half a step of a slider. Such a system has the widest range of ranks; one without a score has the ranks 0.

    Attributes:
        level: of each interval for itself, and of all simultaneous ones together.
        count: number of draws.
        systems: names, best first.
        z_low, z_high, raw_low, raw_high: (S, 1 + K). The interval of the highest overall z reaches as far
            down as its having been picked as the highest asks for; of several that are equal, each.
        rank_low, rank_high: (S,), ranks by overall z, 1 for the best, simultaneous.
        difference_low, difference_high: (S, S), overall z of the row's system minus the column's, each pair
            for itself.
        simultaneous_low, simultaneous_high: (S, S), the same, all pairs together.
        indistinct: pairs that cannot be told apart: both have a score, and the simultaneous interval of
            their difference holds 0 or is unknown.
        groups: as many as possible, best first, such that every system of a higher one is told apart from
            every system of a lower one; systems without a score are in none.
        raters: (S,), how many workers who passed rated the system.
        effective_raters: (S,), as how many who had done equally much they count (Kish); 0 without a score.
        best_chance: (S,), chance that the system is truly the best. NaN where the bounds are, and everywhere
            if those of the highest score are; a single system with bounds has 1.
        uneven: sentences about systems of which few workers did most of the work.
        notes: sentences that a reader must see beside the intervals, these among them.
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
    simultaneous_low: NDArray[np.float64]
    simultaneous_high: NDArray[np.float64]
    indistinct: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, ...], ...]
    raters: NDArray[np.intp]
    effective_raters: NDArray[np.float64]
    best_chance: NDArray[np.float64]
    uneven: tuple[str, ...]
    notes: tuple[str, ...]


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


def intervals(sample: Sample, scores: Scores, count: int, seed: int) -> Intervals:
    """Return the intervals that `count` draws give; the same seed gives the same bits."""
    systems, criteria = tuple(scores.z["system"]), sample.z.shape[1]
    values = [sample.overall["z"][:, None], sample.z, sample.overall["raw"][:, None], sample.raw]
    found = influences(worker_sums(sample, scores, np.hstack(values)))
    drawn = wild_draws(found, count, generator(seed, "signs of workers"))
    low, high, known = _score_bounds(found, drawn, criteria)
    pairs = _pairs(found, drawn)
    highest = np.flatnonzero(places(found.mean[:, 0]) == 1)
    rated = np.flatnonzero(known[:, 0])
    # Where nothing is known of how sure the highest score is, nobody's chance to be the best is.
    best_chance = np.where(known[:, 0] & known[highest, 0].all(), 1.0, np.nan)
    if len(rated) > 1 and known[highest, 0].all():
        first = leader(
            found.mean[rated, 0],
            found.standard_errors()[rated, 0],
            found.standard_errors_of_differences()[np.ix_(rated, rated)],
            drawn.moved[:, rated],
            drawn.t[:, rated, 0],
            generator(seed, "picking of the leader"),
        )
        best_chance[rated] = first.best_chance
        low[highest, 0] = first.low[np.isfinite(first.low)]
    scored, uneven = found.raters > 0, tuple(_carried(systems, found))
    better = pairs.simultaneous_low > 0
    open_pairs = ~(better | better.T) & scored[:, None] & scored
    ranked = np.flatnonzero(scored)
    return Intervals(
        level=LEVEL,
        count=count,
        systems=systems,
        z_low=low[:, : 1 + criteria],
        z_high=high[:, : 1 + criteria],
        raw_low=low[:, 1 + criteria :],
        raw_high=high[:, 1 + criteria :],
        rank_low=np.where(scored, 1 + better.sum(axis=0), 0),
        rank_high=np.where(scored, scored.sum() - better.sum(axis=1), 0),
        difference_low=pairs.low,
        difference_high=0 - pairs.low.T,
        simultaneous_low=pairs.simultaneous_low,
        simultaneous_high=0 - pairs.simultaneous_low.T,
        indistinct=tuple((systems[i], systems[j]) for i, j in np.argwhere(np.triu(open_pairs, 1))),
        groups=tuple(
            tuple(systems[ranked[i]] for i in group) for group in groups_of(better[np.ix_(ranked, ranked)])
        ),
        raters=found.raters,
        effective_raters=found.effective(),
        best_chance=best_chance,
        uneven=uneven,
        notes=(
            *_few(systems, found),
            *uneven,
            *_alike(systems, found.raters, known[:, 0] | found.carried_by_fewer_than(FEWEST_EFFECTIVE)),
        ),
    )


def _score_bounds(
    found: Influences, drawn: WildDraws, criteria: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the bounds of every mean, and whether they are known, all (S, 2 (1 + K)): z, then raw."""
    errors = found.standard_errors()
    step = np.repeat([HALF_STEP / RATINGS_SD, HALF_STEP], 1 + criteria)
    half = upper_quantile(np.abs(drawn.t), LEVEL) * errors
    carried = found.carried_by_fewer_than(FEWEST_EFFECTIVE)[:, None]
    known = _vary(errors, found.raters[:, None], step) & np.isfinite(half) & ~carried
    half = np.where(known, half, np.nan)
    return found.mean - half, found.mean + half, known


@dataclass(frozen=True)
class _Pairs:
    """Lower bounds of the row's score minus the column's, (S, S), each for itself and all together."""

    low: NDArray[np.float64]
    simultaneous_low: NDArray[np.float64]


def _pairs(found: Influences, drawn: WildDraws) -> _Pairs:
    raters, errors = found.raters, found.standard_errors_of_differences()
    rows, columns = np.triu_indices(len(raters), 1)
    varies = _vary(errors, np.minimum(raters[:, None], raters), HALF_STEP / RATINGS_SD)
    carried = found.carried_by_fewer_than(FEWEST_EFFECTIVE)
    known = (varies & ~(carried | carried[:, None]))[rows, columns]
    alone = np.where(known, upper_quantile(drawn.pairs, LEVEL), np.nan)
    largest = drawn.pairs[:, known].max(axis=1, initial=0)
    together = np.where(known, upper_quantile(largest, LEVEL), np.nan)
    return _Pairs(*(_lower(found.mean[:, 0], errors, quantile) for quantile in (alone, together)))


def _lower(
    means: NDArray[np.float64], errors: NDArray[np.float64], quantiles: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the lower bounds of the differences; quantiles are those of `numpy.triu_indices`."""
    rows, columns = np.triu_indices(len(means), 1)
    of_pairs = np.full(errors.shape, np.nan)
    of_pairs[rows, columns] = of_pairs[columns, rows] = np.where(np.isfinite(quantiles), quantiles, np.nan)
    np.fill_diagonal(of_pairs, 0)
    return np.asarray(means[:, None] - means - of_pairs * errors)


def _vary(
    errors: NDArray[np.float64], raters: NDArray[np.intp], step: NDArray[np.float64] | float
) -> NDArray[np.bool_]:
    """Return whether enough workers rated, and what they say differs from worker to worker."""
    return np.asarray((raters >= FEWEST_RATERS) & (errors * np.sqrt(raters) > step))


def _few(systems: tuple[str, ...], found: Influences) -> list[str]:
    """Return what must be known of systems of few raters; those without an interval for it are not meant."""
    few = (found.raters > 0) & (found.raters < FEW_RATERS) & ~found.carried_by_fewer_than(FEWEST_EFFECTIVE)
    named = [f"{systems[i]} ({found.raters[i]})" for i in np.flatnonzero(few)]
    if not named:
        return []
    return [
        f"Fewer than {FEW_RATERS} workers who passed rated {listed(named)}: intervals that rest on so few "
        "are wide, and hold what they promise less surely."
    ]


def _carried(systems: tuple[str, ...], found: Influences) -> list[str]:
    """Return what must be known of systems of which few workers did most of the work."""
    worth = found.effective()
    too_few, few = (found.carried_by_fewer_than(number) for number in (FEWEST_EFFECTIVE, FEW_EFFECTIVE))

    def named(which: NDArray[np.bool_]) -> str:
        return listed(
            [
                f"{systems[i]} ({found.raters[i]} count as {decimal(worth[i], 1)})"
                for i in np.flatnonzero(which)
            ]
        )

    notes = []
    if too_few.any():
        notes.append(
            f"A few workers gave most of the ratings of {named(too_few)}. How other workers would rate "
            "cannot be told from so few, so these scores have no interval, and are told apart from none."
        )
    if (few & ~too_few).any():
        notes.append(
            f"Some workers gave many more ratings than others of {named(few & ~too_few)}: intervals hold "
            "less than they say, down to 92 % where they say 95 %."
        )
    return notes


def _alike(systems: tuple[str, ...], raters: NDArray[np.intp], known: NDArray[np.bool_]) -> list[str]:
    alike = [systems[i] for i in np.flatnonzero((raters >= FEWEST_RATERS) & ~known)]
    if not alike:
        return []
    return [
        f"All workers rated alike, within half a step of the slider: {listed(alike)}. How sure these scores "
        "and their order are cannot be told, so nothing is said of it."
    ]
