"""Intervals of scores, ranks and differences, and of the leader, by a bootstrap of whole workers.

A worker's ratings are correlated, so the bootstrap draws workers instead of conversations: each worker who
passed, with all their ratings. Whether a worker passes depends on that worker alone, so drawing among those
who passed is the same as drawing among all workers, given the number who pass. A worker's z do not depend on
the other workers drawn, because each worker is standardised separately.

If a few workers gave most of a system's ratings (`Influences.carried_by_fewer_than`), the system has no
interval, and is not distinguished from any other system.

**Intervals** of scores and differences are score ± q · standard error. q is the quantile of |t*| of a wild
bootstrap (`qc.statistics.resampling`), which reaches 95 % coverage with few workers too. The leader's
interval is different (see `Leader`). **Two systems are distinguished** if the simultaneous interval of their
difference excludes 0; its q is the quantile of the largest |t*| over all pairs. So the chance of wrongly
distinguishing any pair, or in the wrong direction, is 5 % for all pairs together. **Ranks** follow from this:
a system's rank lies between 1 + (number of systems distinguished as better) and S − (number distinguished as
worse), at 95 % for all systems together.

The resamples of `draw` (workers drawn with replacement) are for statistics of several scores or differences.

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
from qc.method.significance import groups_of
from qc.statistics.confidence import LEVEL, without_noise
from qc.statistics.mixed_model import shares_if_any, shrunk
from qc.statistics.resampling import (
    FEWEST_EFFECTIVE,
    Influences,
    WildDraws,
    bootstrap_sums,
    generator,
    influences,
    unit_sums,
    upper_quantile,
    wild_draws,
)
from qc.table import decimal, listed

# Interval of the leader. The highest of several scores is partly high by luck, the more so the closer the
# systems are. An interval made for a system chosen in advance therefore contains the leader's true score too
# rarely. So the selection is simulated: each draw has true scores (below) plus new errors. The system with
# the highest sum is the draw's leader, and t* is the distance of *this* system's score from its true score.
#
# Luck raises a leader's score and does not lower it. So the upper end of its interval is the usual one, score
# + q · standard error. The lower end is score − q' · standard error, with q' large enough that t* lies
# between −q and q' in 95 % of the draws. For a system far ahead of all others q' = q, as for a system chosen
# in advance. Selection never brings the leader's true score nearer, so q' is at least q. Draws alone may give
# less: signs of 5 workers have 16 different |t*|, whose 95 % point is the largest of them, but the draws mix
# the leader's t* with smaller ones of other systems. Without this limit, 93.2 % of the intervals held if all
# criteria of a conversation move together (`benchmarks/qc_truth.py --part hostile --design halo-5`).
#
# True scores are drawn as derived in `qc.statistics.mixed_model`: m + ρ (x − m) + √ρ d. d are the errors from
# the wild bootstrap's t*, and ρ is drawn from a distribution that allows for systems that do not differ. The
# share of the draws in which a system has the highest true score is its chance to be the best; if ρ = 0, all
# systems share it.
#
# Only systems that may be the best take part, the *contenders*: those whose single interval of the difference
# from the highest score, at level CONTENDS, contains 0. So neither result depends on systems that are clearly
# worse. With them, a weak baseline would make the others seem to differ, and the leader seem surer than it is
# (`benchmarks/qc_truth.py --part worse`).
#
# Source of the problem: Andrews, Kitagawa and McCloskey, *Inference on Winners*, Quarterly Journal of
# Economics 139, 2024. The solution here is our own bootstrap; `benchmarks/qc_truth.py` prints its coverage.
CONTENDS = 0.999
# FAR limits t*: larger values come from draws without variance, and only mean "far".
FAR = 100.0


@dataclass(frozen=True)
class Leader:
    """The leader among S contenders, and each one's chance to be the best.

    Attributes:
        low: (S,), lower end of the interval of a leader's true score; its upper end is the usual one. NaN
            for all other systems. If several systems tie for the highest score, each is a leader.
        best_chance: (S,), each system's chance to be the best; the chances add up to 1.
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
    """Compute the leader's interval and the chances to be the best, among the contenders.

    Args:
        scores: (S,), at least one.
        errors: (S,), their standard errors.
        difference_errors: (S, S), standard errors of their differences.
        moved: (B, S), draws of errors of the scores.
        t: (B, S), the same draws' t*.
        rng: source of the draws of ρ.
    """
    t = np.clip(t, -FAR, FAR)
    if len(scores) == 1:
        return Leader(scores - upper_quantile(np.abs(t), LEVEL) * errors, np.ones(1))
    pairs = np.triu_indices(len(scores), 1)
    error_variance = float((difference_errors[pairs] ** 2).mean()) / 2
    shares = shares_if_any(scores, error_variance, len(moved), rng)
    # Roll t, so that the errors in the true scores and the new errors come from different draws.
    true = shrunk(scores, shares) + np.sqrt(shares) * np.roll(t, 1, axis=0) * errors
    picked = (true + moved).argmax(axis=1)[:, None]
    of_picked = np.take_along_axis(t, picked, axis=1)[:, 0]
    low = np.full(len(scores), np.nan)
    rounded = without_noise(scores)
    for first in np.flatnonzero(rounded == rounded.max()):
        usual = float(upper_quantile(np.abs(t[:, first]), LEVEL))
        unlucky = float((of_picked < -usual).mean())
        reach = max(usual, float(upper_quantile(of_picked, LEVEL + unlucky)))
        low[first] = scores[first] - reach * errors[first]
    best = true == true.max(axis=1, keepdims=True)
    return Leader(
        low=low,
        best_chance=(best / best.sum(axis=1, keepdims=True)).mean(axis=0),
    )


# Random signs of 3 or 4 raters give only 4 or 8 different draws, too few for a level of 5 %.
# `benchmarks/qc_truth.py --part few` begins at 5.
FEWEST_RATERS = 5
# Scores by criterion are more skewed than overall scores, and heaped at an end of the slider: with fewer
# workers of a published run their intervals hold 92 to 93 % (`benchmarks/qc_truth.py --part few-drawn`).
FEWEST_BY_CRITERION = 15
# With fewer raters of a system, a note says that the intervals rest on few workers.
FEW_RATERS = 30
# Overall and one criterion, z and raw: the means of a run with a single criterion.
ONE_CRITERION = 4
# Sliders have whole points from 0 to 100, so workers who differ by less than half a point do not differ.
HALF_STEP = 0.5
# Points per z: median standard deviation of the workers who passed in the published run 1.
RATINGS_SD = 30.0


@dataclass(frozen=True)
class Draws:
    """Scores of S systems on K criteria in each of B resamples of the workers.

    Attributes:
        z: (B, S, K), mean z; systems in the order of the scores; NaN if the resample has no conversation
            with the system.
        raw: (B, S, K), the same for the raw scores.
        raters: (S,), number of the workers who passed who talked with the system.
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

    Bounds are NaN, and a pair is not distinguished, if the variation between workers is unknown: fewer than
    FEWEST_RATERS workers rated a system (of a score on one of several criteria, fewer than
    FEWEST_BY_CRITERION), a few of them gave most of its ratings, they differ by less than
    half a step of a slider, or all systems were rated alike (`systems_alike`). Such a system has the widest
    range of ranks. A system without a score has rank 0.

    Attributes:
        level: level of each single interval, and of all simultaneous intervals together.
        count: number of draws.
        systems: names, best first.
        z_low, z_high, raw_low, raw_high: (S, 1 + K). The lower end of the highest overall z allows for its
            selection as the highest (`Leader`); the same for each system that ties with it.
        rank_low, rank_high: (S,), ranks by overall z, 1 for the best, simultaneous.
        difference_low, difference_high: (S, S), overall z of the row's system minus the column's, for each
            pair alone.
        simultaneous_low, simultaneous_high: (S, S), the same, for all pairs together.
        indistinct: pairs that are not distinguished: both have a score, and the simultaneous interval of
            their difference contains 0 or is unknown.
        groups: as many groups as possible, best first, so that every system of a higher group is
            distinguished from every system of a lower one; systems without a score are in no group.
        raters: (S,), number of workers who passed who rated the system.
        effective_raters: (S,), number of workers with equal numbers of ratings that would be worth as much
            (Kish); 0 without a score.
        best_chance: (S,), chance that the system is truly the best; 0 if it is clearly worse than the highest
            score. NaN if its bounds are NaN, and for all systems if the bounds of the highest score are NaN.
        uneven: sentences about systems with most ratings from a few workers.
        notes: sentences that a reader of the intervals must see, including `uneven`.
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
    """Return the contribution of every worker who passed to each system's means.

    Args:
        sample: its counted conversations are summed.
        scores: gives the order of the S systems.
        values: (conversations, V), any numbers per conversation.

    Returns:
        (workers who passed, S, 1 + V): number of conversations, then the sums of the values; both weighted
        by `Sample.weights`.
    """
    counted, passed = sample.counted, sample.screening.workers["passed"].to_numpy(bool)
    ranks = ranks_of(sample, scores)[sample.systems[counted]]
    weights = sample.weights[counted]
    columns = np.column_stack([weights, values[counted] * weights[:, None]])
    workers = (np.cumsum(passed) - 1)[sample.workers[counted]]
    return unit_sums(columns, workers, ranks, (int(passed.sum()), len(scores.z)))


def means_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (…, S, V) means from (…, S, 1 + V) counts and sums; NaN if the count is 0."""
    counts = sums[..., :1]
    return np.asarray(sums[..., 1:] / np.where(counts > 0, counts, np.nan))


def draw(sample: Sample, scores: Scores, count: int, seed: int) -> Draws:
    """Return the systems' scores in `count` resamples of the workers who passed.

    The same seed gives exactly the same numbers, on any number of processors.
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
    """Return the intervals from `count` draws; the same seed gives exactly the same numbers."""
    systems, criteria = tuple(scores.z["system"]), sample.z.shape[1]
    values = [sample.overall["z"][:, None], sample.z, sample.overall["raw"][:, None], sample.raw]
    found = influences(worker_sums(sample, scores, np.hstack(values)))
    drawn = wild_draws(found, count, generator(seed, "signs of workers"))
    differ = not systems_alike(sample, scores)
    low, high, known = _score_bounds(found, drawn, criteria, differ)
    pairs = _pairs(found, drawn, differ)
    highest = np.flatnonzero(places(found.mean[:, 0]) == 1)
    rated = np.flatnonzero(known[:, 0])
    # If the highest score has no interval, no system has a chance to be the best.
    best_chance = np.where(known[:, 0] & known[highest, 0].all(), 0.0, np.nan)
    if len(rated) and known[highest, 0].all():
        contenders = rated[pairs.contends[highest[0], rated]]
        first = leader(
            found.mean[contenders, 0],
            found.standard_errors()[contenders, 0],
            found.standard_errors_of_differences()[np.ix_(contenders, contenders)],
            drawn.moved[:, contenders],
            drawn.t[:, contenders, 0],
            generator(seed, "picking of the leader"),
        )
        best_chance[contenders] = first.best_chance
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


def told_apart(sample: Sample, scores: Scores, count: int, seed: int) -> NDArray[np.bool_]:
    """Return whether the row's system is distinguished as better than the column's, (S, S).

    It is what `intervals` says with the same draws, without the intervals of scores. The order of the systems
    is that of `scores`, which may be those of another sample of the run.
    """
    found = influences(worker_sums(sample, scores, sample.overall["z"][:, None]))
    drawn = wild_draws(found, count, generator(seed, "signs of workers"))
    return _pairs(found, drawn, not systems_alike(sample, scores)).simultaneous_low > 0


def _score_bounds(
    found: Influences, drawn: WildDraws, criteria: int, differ: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return low, high, and whether they are known, of every mean, all (S, 2 (1 + K)): z, then raw."""
    errors = found.standard_errors()
    step = np.repeat([HALF_STEP / RATINGS_SD, HALF_STEP], 1 + criteria)
    half = upper_quantile(np.abs(drawn.t), LEVEL) * errors
    carried = found.carried_by_fewer_than(FEWEST_EFFECTIVE)[:, None]
    by_criterion = (np.arange(2 * (1 + criteria)) % (1 + criteria) > 0) & (criteria > 1)
    enough = ~by_criterion | (found.raters[:, None] >= FEWEST_BY_CRITERION)
    known = _vary(errors, found.raters[:, None], step) & np.isfinite(half) & ~carried & enough & differ
    half = np.where(known, half, np.nan)
    return found.mean - half, found.mean + half, known


@dataclass(frozen=True)
class _Pairs:
    """Lower bounds of the row's score minus the column's, (S, S).

    Attributes:
        low: for each pair alone.
        simultaneous_low: for all pairs together.
        contends: whether the column may be as good as the row: its single interval at level CONTENDS contains
            0. True if the bound is unknown.
    """

    low: NDArray[np.float64]
    simultaneous_low: NDArray[np.float64]
    contends: NDArray[np.bool_]


def _pairs(found: Influences, drawn: WildDraws, differ: bool) -> _Pairs:
    raters, errors = found.raters, found.standard_errors_of_differences()
    rows, columns = np.triu_indices(len(raters), 1)
    varies = _vary(errors, np.minimum(raters[:, None], raters), HALF_STEP / RATINGS_SD)
    carried = found.carried_by_fewer_than(FEWEST_EFFECTIVE)
    known = (varies & ~(carried | carried[:, None]))[rows, columns] & differ
    alone = np.where(known, upper_quantile(drawn.pairs, LEVEL), np.nan)
    largest = drawn.pairs[:, known].max(axis=1, initial=0)
    together = np.where(known, upper_quantile(largest, LEVEL), np.nan)
    surely = np.where(known, upper_quantile(drawn.pairs, CONTENDS), np.nan)
    low, simultaneous_low, sure_low = (
        _lower(found.mean[:, 0], errors, quantiles) for quantiles in (alone, together, surely)
    )
    return _Pairs(low, simultaneous_low, ~(sure_low > 0))


def _lower(
    means: NDArray[np.float64], errors: NDArray[np.float64], quantiles: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the lower bounds of the differences; `quantiles` is in the order of `numpy.triu_indices`."""
    rows, columns = np.triu_indices(len(means), 1)
    of_pairs = np.full(errors.shape, np.nan)
    of_pairs[rows, columns] = of_pairs[columns, rows] = np.where(np.isfinite(quantiles), quantiles, np.nan)
    np.fill_diagonal(of_pairs, 0)
    return np.asarray(means[:, None] - means - of_pairs * errors)


def _vary(
    errors: NDArray[np.float64], raters: NDArray[np.intp], step: NDArray[np.float64] | float
) -> NDArray[np.bool_]:
    """Return whether enough workers rated, and their ratings differ by more than `step`."""
    return np.asarray((raters >= FEWEST_RATERS) & (errors * np.sqrt(raters) > step))


def systems_alike(sample: Sample, scores: Scores) -> bool:
    """Return whether all of several systems have the same score, and all workers agree, within half a step.

    Then only standardising tells systems apart, and there is no order. Raw scores count, too: z of workers
    who met unequal numbers of systems differ even if all systems have the same ratings.
    """
    return any(
        _alike_in(sample, scores, scale, step)
        for scale, step in (("z", HALF_STEP / RATINGS_SD), ("raw", HALF_STEP))
    )


def _alike_in(sample: Sample, scores: Scores, scale: str, step: float) -> bool:
    found = influences(worker_sums(sample, scores, sample.overall[scale][:, None]))
    scored = np.flatnonzero(found.raters)
    raters = np.minimum(found.raters[:, None], found.raters)
    spread = found.standard_errors_of_differences() * np.sqrt(raters)
    if len(scored) < 2:
        return False
    return bool(np.ptp(found.mean[scored, 0]) <= step and spread[np.ix_(scored, scored)].max() <= step)


def _few(systems: tuple[str, ...], found: Influences) -> list[str]:
    """Return notes on systems with few raters, except those of `_carried`."""
    rated = (found.raters > 0) & ~found.carried_by_fewer_than(FEWEST_EFFECTIVE)
    too_few, few = (rated & (found.raters < number) for number in (FEWEST_RATERS, FEW_RATERS))

    def named(which: NDArray[np.bool_]) -> str:
        return listed([f"{systems[i]} ({found.raters[i]})" for i in np.flatnonzero(which)])

    notes = []
    if too_few.any():
        notes.append(
            f"Fewer than {FEWEST_RATERS} workers who passed rated {named(too_few)}. Their scores have no "
            "interval, and are told apart from none."
        )
    if (few & ~too_few).any():
        notes.append(
            f"Fewer than {FEW_RATERS} workers who passed rated {named(few & ~too_few)}: intervals that rest "
            "on so few are wide, and hold what they promise less surely."
        )
    if (few & ~too_few & (found.raters < FEWEST_BY_CRITERION)).any() and found.u.shape[2] > ONE_CRITERION:
        notes[-1] += f" Scores by criterion have an interval from {FEWEST_BY_CRITERION} workers on."
    return notes


def _carried(systems: tuple[str, ...], found: Influences) -> list[str]:
    """Return a note on systems with most ratings from a few workers, if there are any."""
    carried, worth = np.flatnonzero(found.carried_by_fewer_than(FEWEST_EFFECTIVE)), found.effective()
    if not len(carried):
        return []
    named = listed([f"{systems[i]} ({found.raters[i]} count as {decimal(worth[i], 1)})" for i in carried])
    return [
        f"A few workers gave most of the ratings of {named}. How other workers would rate "
        "cannot be told from so few, so these scores have no interval, and are told apart from none."
    ]


def _alike(systems: tuple[str, ...], raters: NDArray[np.intp], known: NDArray[np.bool_]) -> list[str]:
    alike = [systems[i] for i in np.flatnonzero((raters >= FEWEST_RATERS) & ~known)]
    if not alike:
        return []
    return [
        f"All workers rated alike, within half a step of the slider: {listed(alike)}. How sure these scores "
        "and their order are cannot be told, so nothing is said of it."
    ]
