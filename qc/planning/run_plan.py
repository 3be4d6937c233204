"""What a run with so many workers would show: intervals, pairs told apart, another run's r, cost, minutes.

Experiments are drawn from a model of the raters (`qc.planning.rater_model`), each with true means of its own,
as far as the pilot leaves them open, and each with a second run of fresh workers. In every drawn run workers
are filtered, scores standardised, and systems compared, as in a report; pairs are told apart by worker-level
t tests after Holm's correction over all of them.

What the pilot's scores say of the true means: x̂ scatters more than the truth, by its own errors. With v the
variance of x̂ over the systems and e that of its errors, the truth lies around m + ρ (x̂ − m) with variance
ρ e, ρ = max(0, 1 − e / v), as in `qc.robustness.forecast`.

Sources: as there; Holm, 1979 (`qc.statistics.multiplicity`); Arnold, Hogan, Colford and Hubbard, *Simulation
methods to estimate design power: an overview for applied research*, BMC Medical Research Methodology 11
(2011).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from qc.errors import EmptyRunError
from qc.planning.rater_model import DrawnRatings, RaterModel, draw_ratings, overall_z, passes
from qc.progress import OnStep, no_step
from qc.statistics.chance import generator
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import pearson_of_rows
from qc.statistics.groups import group_means
from qc.statistics.multiplicity import holm
from qc.statistics.resampling import percentile_interval

MULTIPLES = (0.5, 1.0, 2.0, 4.0)
EXPERIMENTS = 100
POWER = 0.8
ALPHA = 0.05
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
    # A difference's error falls with the root of the workers; the largest number tells it best.
    error = found[-1].difference_error * np.sqrt(found[-1].workers)
    return RunPlan(
        model, experiments, tuple(found), tuple(_needed(each, error, found[-1].pairs) for each in differences)
    )


@dataclass(frozen=True)
class _Scored:
    """Scores of the S competing systems in a drawn run, worker-level standard errors, and how many passed."""

    z: NDArray[np.float64]
    error: NDArray[np.float64]
    difference_error: NDArray[np.float64]
    passed: int


def _experiment(
    model: RaterModel, workers: int, alpha: float, rng: np.random.Generator
) -> tuple[_Scored, float] | None:
    """Return a drawn run, and its r with a second one; None if too few pass."""
    moved = _truth(model, rng)
    runs = [scored(draw_ratings(model, workers, rng, moved), model, alpha) for _ in range(2)]
    if runs[0] is None or runs[1] is None:
        return None
    return runs[0], float(pearson_of_rows(runs[0].z, runs[1].z))


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


def scored(drawn: DrawnRatings, model: RaterModel, alpha: float) -> _Scored | None:
    """Return the scores of a drawn run with worker-level standard errors; None if too few pass."""
    passed = passes(drawn, model.counts_for_qc, alpha)
    z = overall_z(drawn)
    taken = passed[drawn.workers] & (drawn.systems != drawn.qc) & np.isfinite(z)
    workers = int(passed.sum())
    if workers < FEWEST_PASSED:
        return None
    values, systems = z[taken], drawn.systems[taken]
    means = group_means(values, systems, drawn.qc)
    owner = (np.cumsum(passed) - 1)[drawn.workers[taken]]
    sums = np.bincount(owner * drawn.qc + systems, values - means[systems], workers * drawn.qc)
    moved = sums.reshape(workers, -1) / np.maximum(np.bincount(systems, minlength=drawn.qc), 1)
    covariance = np.einsum("ws,wt->st", moved, moved) * workers / (workers - 1)
    variance = np.diag(covariance)
    differences = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0))
    return _Scored(means, np.sqrt(variance), differences, workers)


def _expected(
    workers: int, drawn: Sequence[tuple[_Scored, float]], model: RaterModel, costs: Costs
) -> Expected | None:
    if not drawn:
        return None
    pair = np.triu_indices(len(model.systems) - 1, 1)
    r = np.array([[each] for _, each in drawn])
    known = r[np.isfinite(r)]
    low, high = percentile_interval(r, LEVEL)
    quantile = float(ndtri((1 + LEVEL) / 2))
    assignments = workers * float(np.mean(model.per_worker))
    return Expected(
        workers=workers,
        passed=float(np.mean([run.passed for run, _ in drawn])),
        half_width=quantile * float(np.nanmean([run.error for run, _ in drawn])),
        apart=float(np.mean([_apart(run, pair) for run, _ in drawn])),
        pairs=len(pair[0]),
        r=float(known.mean()) if len(known) else np.nan,
        r_low=float(low[0]),
        r_high=float(high[0]),
        cost=np.nan if costs.pay is None else costs.pay * assignments * (1 + costs.fee),
        hours=assignments * costs.minutes / 60,
        difference_error=float(np.nanmean([run.difference_error[pair] for run, _ in drawn])),
    )


def _apart(run: _Scored, pair: tuple[NDArray[np.intp], ...]) -> int:
    """Return how many pairs are told apart in a run, all pairs together at level ALPHA."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(run.z[pair[0]] - run.z[pair[1]]) / run.difference_error[pair]
    return int((holm(2 * stdtr(run.passed - 1, -t)) < ALPHA).sum())


def _needed(difference: float, error: float, pairs: int) -> Needed:
    """Return the workers of which the two-sided test has power POWER: (z₁₋α/₂ + z_power)² σ² / d²."""

    def workers(level: float) -> int:
        return ceil(((float(ndtri(1 - level / 2)) + float(ndtri(POWER))) * error / difference) ** 2)

    return Needed(difference, workers(ALPHA), workers(ALPHA / max(pairs, 1)))
