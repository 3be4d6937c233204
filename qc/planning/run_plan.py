"""Forecast a run: intervals, distinguished pairs, the r of a second run, cost, minutes.

Experiments are drawn from a model of the raters (`qc.planning.rater_model`). Each has its own true means,
compatible with the pilot, and a second run with new workers. In every drawn run, workers are filtered, scores
standardised, and systems compared as in a report: with intervals of the wild bootstrap of whole workers, and
pairs distinguished by the largest |t*| of all pairs (`qc.robustness.intervals`).

True means given the pilot: the pilot's scores x̂ vary more than the true means, because of their errors. Let
v be the variance of x̂ over the systems and e the variance of its errors. The true means lie around m + ρ (x̂
− m) with variance ρ e, where ρ = max(0, 1 − e / v), as in `qc.robustness.forecast`.

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
from qc.options import OnStep, no_step
from qc.planning.outlook import FEWEST_PASSED, MULTIPLES, POWER
from qc.planning.rater_model import DrawnRatings, RaterModel, draw_ratings, overall_z, passes
from qc.robustness.intervals import FEWEST_RATERS
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import pearson_of_rows
from qc.statistics.resampling import (
    Influences,
    generator,
    influences,
    unit_sums,
    upper_quantile,
    wild_draws,
)

EXPERIMENTS = 100
# Draws of signs in each experiment; their noise is averaged over all experiments.
DRAWS = 400


@dataclass(frozen=True)
class Costs:
    """Cost of an assignment: `pay` (None: unknown), `fee` as a share on top, `minutes` (NaN: unknown)."""

    pay: float | None
    fee: float
    minutes: float


@dataclass(frozen=True)
class Expected:
    """Forecast for a number of workers; means over experiments.

    Attributes:
        workers: number of workers; `passed` of them pass.
        half_width: half-width of the 95 % interval of a system's overall z, mean over systems.
        apart: number of distinguished pairs, of `pairs`.
        r, r_low, r_high: Pearson's r with a second run of the same size; the middle 95 % of the experiments.
        cost: cost with fees; NaN if the pay is unknown.
        hours: total hours of all workers; NaN if unknown.
        difference_error: standard error of a difference of two systems, in z.
        pair_bound, all_pairs_bound: number of standard errors from 0 at which a difference is significant,
            for a single pair and for all pairs together.
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
    """Workers to detect a difference with POWER: of one pair chosen in advance, and of any pair among all."""

    difference: float
    one_pair: int
    all_pairs: int


@dataclass(frozen=True)
class RunPlan:
    """Forecasts for numbers of workers, and the number of workers for each difference."""

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
    """Forecast the results with half, once, twice and four times `workers`.

    Args:
        model: the rater model.
        workers: number of workers.
        differences: differences of two systems' overall z to detect.
        costs: cost of an assignment.
        alpha: level of quality control.
        experiments: number of experiments to draw for each number of workers.
        seed: random seed.
        on_step: called with a description when the work on a number of workers begins.

    Raises:
        EmptyRunError: too few workers pass for any comparison.
    """
    expected = []
    for multiple in MULTIPLES:
        count = max(ceil(multiple * workers), 2)
        on_step(f"{count} workers")
        rng = generator(seed, f"experiments with {multiple:g} times the workers")
        expected.append(expect(model, count, costs, alpha, experiments, rng))
    found = [each for each in expected if each is not None]
    if not found:
        raise EmptyRunError(
            f"Of {workers} such workers too few pass the filter. Plan with more of them (--workers)."
        )
    needed = tuple(_needed(each, found[-1]) for each in differences)
    return RunPlan(model, experiments, tuple(found), needed)


def expect(
    model: RaterModel,
    workers: int,
    costs: Costs,
    alpha: float,
    experiments: int,
    rng: np.random.Generator,
) -> Expected | None:
    """Return the forecast for so many workers, from drawn experiments; None if in all too few pass."""
    drawn = [_experiment(model, workers, alpha, rng) for _ in range(experiments)]
    return _expected(workers, [each for each in drawn if each is not None], model, costs)


@dataclass(frozen=True)
class ShownResult:
    """Results of a drawn run for the S competing systems, as in a report.

    Attributes:
        half_widths: (S,), half-widths of the intervals of their scores; NaN if too few workers rated a
        system. apart: number of distinguished pairs. difference_error, pair_bound, all_pairs_bound: as in
        `Expected`. passed: number of workers who passed.
    """

    half_widths: NDArray[np.float64]
    apart: int
    difference_error: float
    pair_bound: float
    all_pairs_bound: float
    passed: int


def _experiment(
    model: RaterModel, workers: int, alpha: float, rng: np.random.Generator
) -> tuple[ShownResult, float] | None:
    """Return the results of a drawn run, and its r with a second one; None if too few workers pass."""
    moved = _truth(model, rng)
    first, second = (scored(draw_ratings(model, workers, rng, moved), model, alpha) for _ in range(2))
    seen = None if first is None else shown(first, rng)
    if first is None or second is None or seen is None:
        return None
    return seen, float(pearson_of_rows(first.mean[:, 0], second.mean[:, 0]))


def _truth(model: RaterModel, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the differences of an experiment's true means from the model's means, in points, (S - 1,)."""
    count = len(model.errors)
    if np.isfinite(model.spread):
        return rng.normal(0, model.spread, count)
    observed = model.means[:-1].mean(axis=1)
    away = observed - observed.mean()
    error, variance = float((model.errors**2).mean()), float(observed.var(ddof=1)) if count > 1 else 0.0
    kept = max(0.0, 1 - error / variance) if variance > 0 else 0.0
    return np.asarray((kept - 1) * away + rng.normal(0, np.sqrt(kept * error), count))


def scored(drawn: DrawnRatings, model: RaterModel, alpha: float) -> Influences | None:
    """Return the contributions of workers who pass to the systems' overall z; None if too few pass."""
    passed = passes(drawn, model.counts_for_qc, alpha)
    z = overall_z(drawn)
    taken = passed[drawn.workers] & (drawn.systems != drawn.qc) & np.isfinite(z)
    workers = int(passed.sum())
    if workers < FEWEST_PASSED:
        return None
    columns = np.column_stack([np.ones(taken.sum()), z[taken]])
    owner = (np.cumsum(passed) - 1)[drawn.workers[taken]]
    return influences(unit_sums(columns, owner, drawn.systems[taken], (workers, drawn.qc)))


def shown(found: Influences, rng: np.random.Generator) -> ShownResult | None:
    """Return the results that a report would show; None if no two systems can be compared."""
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
    return ShownResult(
        half_widths=np.where(rated, half_widths, np.nan),
        apart=int((differences > together * errors).sum()),
        difference_error=float(errors.mean()),
        pair_bound=float(upper_quantile(drawn.pairs[:, known], LEVEL).mean()),
        all_pairs_bound=together,
        passed=len(found.h),
    )


def _expected(
    workers: int, drawn: Sequence[tuple[ShownResult, float]], model: RaterModel, costs: Costs
) -> Expected | None:
    if not drawn:
        return None
    runs = [run for run, _ in drawn]
    systems = len(model.systems) - 1
    r = np.array([each for _, each in drawn])
    known = np.sort(r[np.isfinite(r)])
    # One more than B experiments is below the k-th smallest of them with the probability k / (B + 1) (Davison
    # and Hinkley, 1997, section 4.2.5). NumPy's percentiles of 40 experiments hold 90 % instead of 95 %.
    places = np.array([1 - LEVEL, 1 + LEVEL]) / 2 * (len(known) + 1) - 1
    low, high = np.interp(places, np.arange(len(known)), known) if len(known) else (np.nan, np.nan)
    assignments = workers * float(np.mean(model.per_worker))
    return Expected(
        workers=workers,
        passed=float(np.mean([run.passed for run in runs])),
        half_width=float(np.nanmean([run.half_widths for run in runs])),
        apart=float(np.mean([run.apart for run in runs])),
        pairs=systems * (systems - 1) // 2,
        r=float(known.mean()) if len(known) else np.nan,
        r_low=float(low),
        r_high=float(high),
        cost=np.nan if costs.pay is None else costs.pay * assignments * (1 + costs.fee),
        hours=assignments * costs.minutes / 60,
        difference_error=float(np.mean([run.difference_error for run in runs])),
        pair_bound=float(np.mean([run.pair_bound for run in runs])),
        all_pairs_bound=float(np.mean([run.all_pairs_bound for run in runs])),
    )


def _needed(difference: float, largest: Expected) -> Needed:
    """Return the number of workers for power POWER: ((q + z_power) σ / d)², with σ the error of one worker.

    An error falls with the square root of the number of workers. The largest number of workers gives the best
    estimates of the error and of the bound q.
    """
    of_one = largest.difference_error * np.sqrt(largest.workers)
    one_pair, all_pairs = (
        ceil(((bound + float(ndtri(POWER))) * of_one / difference) ** 2)
        for bound in (largest.pair_bound, largest.all_pairs_bound)
    )
    return Needed(difference, one_pair, all_pairs)
