"""Forecast a run: intervals, pairs told apart, the r of a second run, cost, minutes.

Experiments are drawn from a model of the raters (`qc.planning.rater_model`), each with true means of its own,
as far as the pilot leaves them open, and each with a second run of fresh workers. In every drawn run workers
are filtered, scores standardised, and systems compared, as in a report: intervals are those of the wild
bootstrap of whole workers, and pairs are told apart by the largest |t*| of all pairs
(`qc.robustness.intervals`).

What the pilot's scores say of the true means: x̂ scatters more than the truth, by its own errors. With v the
variance of x̂ over the systems and e that of its errors, the truth lies around m + ρ (x̂ − m) with variance
ρ e, ρ = max(0, 1 − e / v), as in `qc.robustness.forecast`.

Sources: as in both; Arnold, Hogan, Colford and Hubbard, *Simulation methods to estimate design power: an
overview for applied research*, BMC Medical Research Methodology 11 (2011).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from qc.errors import EmptyRunError
from qc.planning.rater_model import DrawnRatings, RaterModel, draw_ratings, overall_z, passes
from qc.progress import OnStep, no_step
from qc.robustness.intervals import FEWEST_RATERS
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import pearson_of_rows
from qc.statistics.resampling import generator, percentile_interval, unit_sums, upper_quantile
from qc.statistics.wild_bootstrap import Influences, influences, wild_draws

MULTIPLES = (0.5, 1.0, 2.0, 4.0)
EXPERIMENTS = 100
# Signs drawn in each experiment: their noise is averaged over all of them.
DRAWS = 400
POWER = 0.8
FEWEST_PASSED = 4


@dataclass(frozen=True)
class Costs:
    """What an assignment costs: `pay` (None: unknown), `fee` as a share on top, `minutes` (NaN: unknown)."""

    pay: float | None
    fee: float
    minutes: float


@dataclass(frozen=True)
class Expected:
    """What so many workers would show; means over experiments.

    Attributes:
        workers: who take part; `passed` of them pass.
        half_width: of the 95 % interval of a system's overall z, mean over systems.
        apart: pairs that are told apart, of `pairs`.
        r, r_low, r_high: Pearson's r with a second run as large; the middle 95 % of the experiments.
        cost: with fees; NaN if the pay is unknown.
        hours: that workers spend, all together; NaN if unknown.
        difference_error: standard error of a difference of two systems, in z.
        pair_bound, all_pairs_bound: how many of these a difference must be away from 0, of a pair for itself
            and among all.
    """

    workers: int
    passed: float
    half_width: float
    apart: float
    pairs: int
    r: float
    r_low: float
    r_high: float
    cost: float
    hours: float
    difference_error: float
    pair_bound: float
    all_pairs_bound: float


@dataclass(frozen=True)
class Needed:
    """Workers that tell a difference with POWER: of one pair that was chosen before, and of any among all."""

    difference: float
    one_pair: int
    all_pairs: int


@dataclass(frozen=True)
class RunPlan:
    """What numbers of workers would show, and how many differences take."""

    model: RaterModel
    experiments: int
    expected: tuple[Expected, ...]
    needed: tuple[Needed, ...]


def plan_run(
    model: RaterModel,
    workers: int,
    differences: Sequence[float],
    costs: Costs,
    alpha: float,
    experiments: int,
    seed: int,
    on_step: OnStep = no_step,
) -> RunPlan:
    """Return what half, once, twice and four times `workers` would show.

    Args:
        model: how people rate.
        workers: who take part.
        differences: of two systems' overall z, that are to be told; each gets its number of workers.
        costs: of an assignment.
        alpha: level at which a worker passes.
        experiments: how many are drawn for each number of workers.
        seed: of all that is drawn.
        on_step: called with a description when a number of workers is begun.

    Raises:
        EmptyRunError: so few pass that nothing can be compared.
    """
    expected = []
    for multiple in MULTIPLES:
        count = max(ceil(multiple * workers), 2)
        on_step(f"{count} workers")
        rng = generator(seed, f"experiments with {multiple:g} times the workers")
        drawn = [_experiment(model, count, alpha, rng) for _ in range(experiments)]
        expected.append(_expected(count, [each for each in drawn if each is not None], model, costs))
    found = [each for each in expected if each is not None]
    if not found:
        raise EmptyRunError(
            f"Of {workers} such workers too few pass the filter. Plan with more of them (--workers)."
        )
    needed = tuple(_needed(each, found[-1]) for each in differences)
    return RunPlan(model, experiments, tuple(found), needed)


@dataclass(frozen=True)
class Shown:
    """What a drawn run shows of the S systems that compete, as a report does.

    Attributes:
        half_widths: (S,), of the intervals of their scores; NaN where too few rated a system.
        apart: pairs that are told apart.
        difference_error, pair_bound, all_pairs_bound: as in `Expected`.
        passed: workers.
    """

    half_widths: NDArray[np.float64]
    apart: int
    difference_error: float
    pair_bound: float
    all_pairs_bound: float
    passed: int


def _experiment(
    model: RaterModel, workers: int, alpha: float, rng: np.random.Generator
) -> tuple[Shown, float] | None:
    """Return what a drawn run shows, and its r with a second one; None if too few pass."""
    moved = _truth(model, rng)
    first, second = (scored(draw_ratings(model, workers, rng, moved), model, alpha) for _ in range(2))
    seen = None if first is None else shown(first, rng)
    if first is None or second is None or seen is None:
        return None
    return seen, float(pearson_of_rows(first.mean[:, 0], second.mean[:, 0]))


def _truth(model: RaterModel, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the points by which the true means of an experiment lie beside those of the model, (S - 1,)."""
    count = len(model.errors)
    if np.isfinite(model.spread):
        return rng.normal(0, model.spread, count)
    observed = model.means[:-1].mean(axis=1)
    away = observed - observed.mean()
    error, variance = float((model.errors**2).mean()), float(observed.var(ddof=1)) if count > 1 else 0.0
    kept = max(0.0, 1 - error / variance) if variance > 0 else 0.0
    return np.asarray((kept - 1) * away + rng.normal(0, np.sqrt(kept * error), count))


def scored(drawn: DrawnRatings, model: RaterModel, alpha: float) -> Influences | None:
    """Return what the workers who pass contribute to the overall z of systems; None if too few pass."""
    passed = passes(drawn, model.counts_for_qc, alpha)
    z = overall_z(drawn)
    taken = passed[drawn.workers] & (drawn.systems != drawn.qc) & np.isfinite(z)
    workers = int(passed.sum())
    if workers < FEWEST_PASSED:
        return None
    columns = np.column_stack([np.ones(taken.sum()), z[taken]])
    owner = (np.cumsum(passed) - 1)[drawn.workers[taken]]
    return influences(unit_sums(columns, owner, drawn.systems[taken], (workers, drawn.qc)))


def shown(found: Influences, rng: np.random.Generator) -> Shown | None:
    """Return what a report would show of these scores; None if no two systems can be compared."""
    rated = found.raters >= FEWEST_RATERS
    pair = np.triu_indices(len(rated), 1)
    known = rated[pair[0]] & rated[pair[1]]
    if not known.any():
        return None
    drawn = wild_draws(found, DRAWS, rng)
    errors = found.standard_errors_of_differences()[pair][known]
    differences = np.abs(found.mean[pair[0], 0] - found.mean[pair[1], 0])[known]
    together = float(upper_quantile(drawn.pairs[:, known].max(axis=1), LEVEL))
    half_widths = upper_quantile(np.abs(drawn.t[..., 0]), LEVEL) * found.standard_errors()[:, 0]
    return Shown(
        half_widths=np.where(rated, half_widths, np.nan),
        apart=int((differences > together * errors).sum()),
        difference_error=float(errors.mean()),
        pair_bound=float(upper_quantile(drawn.pairs[:, known], LEVEL).mean()),
        all_pairs_bound=together,
        passed=len(found.h),
    )


def _expected(
    workers: int, drawn: Sequence[tuple[Shown, float]], model: RaterModel, costs: Costs
) -> Expected | None:
    if not drawn:
        return None
    runs = [run for run, _ in drawn]
    systems = len(model.systems) - 1
    r = np.array([[each] for _, each in drawn])
    known = r[np.isfinite(r)]
    low, high = percentile_interval(r, LEVEL)
    assignments = workers * float(np.mean(model.per_worker))
    return Expected(
        workers=workers,
        passed=float(np.mean([run.passed for run in runs])),
        half_width=float(np.nanmean([run.half_widths for run in runs])),
        apart=float(np.mean([run.apart for run in runs])),
        pairs=systems * (systems - 1) // 2,
        r=float(known.mean()) if len(known) else np.nan,
        r_low=float(low[0]),
        r_high=float(high[0]),
        cost=np.nan if costs.pay is None else costs.pay * assignments * (1 + costs.fee),
        hours=assignments * costs.minutes / 60,
        difference_error=float(np.mean([run.difference_error for run in runs])),
        pair_bound=float(np.mean([run.pair_bound for run in runs])),
        all_pairs_bound=float(np.mean([run.all_pairs_bound for run in runs])),
    )


def _needed(difference: float, largest: Expected) -> Needed:
    """Return the workers of which a test has power POWER: ((q + z_power) σ / d)², σ the error of one worker.

    An error falls with the root of the workers; the largest number of them tells it, and the bound q, best.
    """
    of_one = largest.difference_error * np.sqrt(largest.workers)
    one_pair, all_pairs = (
        ceil(((bound + float(ndtri(POWER))) * of_one / difference) ** 2)
        for bound in (largest.pair_bound, largest.all_pairs_bound)
    )
    return Needed(difference, one_pair, all_pairs)
