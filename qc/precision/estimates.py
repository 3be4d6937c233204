"""Compute estimates from judgments: for each criterion and system, raw and as z per worker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from qc.errors import EmptyRunError, OptionError, joined
from qc.estimators.efficiency import (
    Efficiency,
    Estimated,
    JudgmentSpread,
    NotEstimable,
    Spreads,
    cap,
    efficiency,
    in_pool,
    published_perfect_metric,
    spread,
)
from qc.estimators.joint_metric import FEWEST_OUTPUTS_EACH, joint_metric, named_metrics
from qc.estimators.pool_mean import (
    Interval,
    PoolMean,
    WidthCurve,
    curve_points,
    on_pool,
    pool_means,
    resampled_means,
    width_curve,
)
from qc.estimators.standard_error import FEWEST_WORKERS, WorkerEffect, worker_effect
from qc.judgments import Judged, Judgments
from qc.options import OnStep, no_step, require_draws
from qc.precision.confidence_sequence import Looks, looks
from qc.signature import judgments_signature
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import generator

FEWEST_OUTPUTS = 3


@dataclass(frozen=True)
class Mean:
    """A mean with its intervals at LEVEL: two by formula, two by resampling.

    Attributes:
        by_formula: the estimate, its normal interval, and the clustered one, which is the interval of record.
        outputs: interval from resampled outputs, each with its judgments; NaN for metrics used together, and
            for outputs drawn by probabilities.
        workers: interval from resampled workers, each with all their judgments; NaN likewise, and if unknown.
    """

    by_formula: PoolMean
    outputs: Interval
    workers: Interval

    def within(self, ends: tuple[float, float]) -> "Mean":
        """Return the same with intervals that stay between the ends of the scale."""
        formula = self.by_formula
        return Mean(
            replace(formula, normal=formula.normal.within(ends), clustered=formula.clustered.within(ends)),
            self.outputs.within(ends),
            self.workers.within(ends),
        )


@dataclass(frozen=True)
class Worth:
    """Value of a metric as control variate.

    Attributes:
        metric: its name, or the names of several that are used together; empty for no metric.
        rated: number of outputs with a judgment and the metric.
        pool: number of outputs with the metric.
        judgments: number of judgments of these outputs.
        plain, varied: the mean of these outputs without and with the metric.
        efficiency: data efficiency with an infinite pool, as if judgments were independent.
        de_pool: the same with this pool.
        de_record: (standard error of record without / with the metric)², with this pool.
        effect: with an infinite pool, clustered by worker; None with unknown workers, or fewer than two.
    """

    metric: str
    rated: int
    pool: int
    judgments: int
    plain: Mean
    varied: Mean
    efficiency: Efficiency
    de_pool: Estimated
    de_record: Estimated
    effect: WorkerEffect | None

    @property
    def de_cluster(self) -> Estimated:
        """Data efficiency with an infinite pool, clustered by worker."""
        if self.effect is None or not np.isfinite(self.effect.de_cluster):
            return NotEstimable("the workers are unknown, or fewer than two")
        return self.effect.de_cluster

    def within(self, ends: tuple[float, float]) -> "Worth":
        """Return the same with intervals that stay between the ends of the scale."""
        return replace(self, plain=self.plain.within(ends), varied=self.varied.within(ends))

    @property
    def strength(self) -> float:
        """|r| with single judgments; −1 if there is none."""
        r = self.efficiency.r_judgment
        return -1.0 if isinstance(r, NotEstimable) else abs(r)

    @property
    def saving(self) -> float:
        """Data efficiency of record; 0 if there is none."""
        return 0.0 if isinstance(self.de_record, NotEstimable) else self.de_record


def worth(judged: Judged, metric: str, draws: int, seed: int) -> Worth | None:
    """Return the gain from `metric`; None if too few judged outputs have it.

    Args:
        judged: the part of the data.
        metric: its name, or several (`named_metrics`); empty for none, so that `varied` equals `plain`.
        draws: number of resamples.
        seed: seed of the resamples. Each part and metric draws the same units in the same order.
    """
    names = named_metrics(metric, judged.metrics) if metric else ()
    known = judged.with_metrics(*names)
    rated = int((known.counts > 0).sum())
    if rated < max(FEWEST_OUTPUTS, FEWEST_OUTPUTS_EACH * len(names) if len(names) > 1 else 0):
        return None
    pool, formula = _by_formula(known, names)
    g = pool[known.outputs]
    weights = 1 / known.counts[known.outputs]
    units = {"outputs": known.outputs, "workers": known.workers}
    nothing = Interval(float("nan"), float("nan"), float("nan"))
    drawn = {
        name: (nothing, nothing)
        if unit is None or known.probabilities is not None or len(names) > 1
        else resampled_means(
            known.values,
            g,
            weights,
            unit,
            pool[known.counts == 0],
            LEVEL,
            draws,
            generator(seed, f"means by {name}"),
        )
        for name, unit in units.items()
    }
    plain, varied = (Mean(formula[at], drawn["outputs"][at], drawn["workers"][at]) for at in (0, 1))
    if rated == known.pool:
        varied = plain  # all intervals: if the whole pool is rated, it adds no information
    found = _efficiency(known, g)
    r = found.r_judgment
    return Worth(
        metric=metric,
        rated=rated,
        pool=known.pool,
        judgments=len(known.values),
        plain=plain,
        varied=varied,
        efficiency=found,
        de_pool=r if isinstance(r, NotEstimable) else in_pool(r, rated, known.pool),
        de_record=_record(plain.by_formula.clustered.se, varied.by_formula.clustered.se),
        effect=None
        if known.workers is None or known.probabilities is not None
        else worker_effect(known.values, g, known.workers),
    )


def _by_formula(
    known: Judged, names: tuple[str, ...]
) -> tuple[NDArray[np.float64], tuple[PoolMean, PoolMean]]:
    """Return a metric of all outputs, standardised, and the means without and with it."""
    metrics = known.metrics[list(names)].to_numpy(np.float64)

    def means(metric: NDArray[np.float64], slope: float | None) -> tuple[PoolMean, PoolMean]:
        return pool_means(
            known.values, known.outputs, known.workers, metric, LEVEL, known.probabilities, slope
        )

    if len(names) < 2:
        pool = on_pool(metrics[:, 0]) if names else np.zeros(known.pool)
        return pool, means(pool, None)
    rated = np.flatnonzero(known.counts)
    by_output = np.bincount(known.outputs, known.values, known.pool)[rated] / known.counts[rated]
    weights = None if known.probabilities is None else 1 / known.probabilities[rated]
    joint = joint_metric(by_output, rated, metrics, weights)
    return on_pool(joint.fitted), means(joint.left_out, 1.0)


DRAWN = NotEstimable("outputs were drawn by probabilities, so those judged are not like the others")


def _efficiency(known: Judged, metric: NDArray[np.float64]) -> Efficiency:
    if known.probabilities is not None:
        return Efficiency(*[DRAWN] * len(fields(Efficiency)))
    return efficiency(known.values, known.outputs, metric, spread(known.values, known.outputs).unbiased)


def _spread(judged: Judged) -> Spreads:
    found = spread(judged.values, judged.outputs)
    if judged.probabilities is None:
        return found
    unknown = JudgmentSpread(DRAWN, DRAWN, DRAWN)
    return Spreads(found.outputs, found.judgments, *[unknown] * (len(fields(Spreads)) - 2))


def _record(plain: float, varied: float) -> Estimated:
    if not (np.isfinite(plain) and varied > 0):
        return NotEstimable("there is no interval of record")
    return (plain / varied) ** 2


ALL_SYSTEMS = "all systems"
RAW, PER_WORKER = "raw", "z"


@dataclass(frozen=True)
class EstimateOptions:
    """Options of the estimates.

    Attributes:
        criteria: criteria to use; empty for all.
        metrics: metrics to use, several at once joined by `+`; empty for each one there is.
        bootstrap: number of resamples.
        seed: random seed.
        ends: ends of the scale of the judgments; None for those in the source, or else from the judgments.

    Raises:
        OptionError: a value is invalid.
    """

    criteria: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    bootstrap: int = 2000
    seed: int = 0
    ends: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise OptionError(f"--seed is {self.seed}, but a seed is a whole number from 0.")
        require_draws(self.bootstrap)
        if self.ends is not None and not -inf < self.ends[0] < self.ends[1] < inf:
            raise OptionError(f"--scale is {self.ends[0]:g},{self.ends[1]:g}; give the lower end first.")


@dataclass(frozen=True)
class EstimatesOfPart:
    """Estimates for one criterion and one system, or all systems together, on one scale.

    Attributes:
        criterion: the judged criterion.
        system: the system; ALL_SYSTEMS for all.
        scale: RAW, or PER_WORKER for z per worker.
        spread: variances of outputs and judgments, by each convention.
        cap: data efficiency of a perfect metric.
        published_cap: the same as computed in the paper; twice too high with two judgments per output.
        plain: the mean without a metric, over all outputs.
        metrics: value of each metric, the strongest first.
        curve: widths against n with the strongest metric; None without a metric, for z, for all systems, and
            if metrics used together are the strongest.
        looks: intervals that are valid at any time, with the strongest metric; None for z and all systems.
    """

    criterion: str
    system: str
    scale: str
    spread: Spreads
    cap: Estimated
    published_cap: Estimated
    plain: Worth
    metrics: tuple[Worth, ...]
    curve: WidthCurve | None
    looks: Looks | None

    def within(self, ends: tuple[float, float]) -> "EstimatesOfPart":
        """Return the same with intervals that stay between the ends of the scale."""
        metrics = tuple(worth.within(ends) for worth in self.metrics)
        return replace(self, plain=self.plain.within(ends), metrics=metrics)


@dataclass(frozen=True)
class Estimates:
    """All estimates of a source; `notes` are sentences that a reader must see."""

    source: str
    options: EstimateOptions
    parts: tuple[EstimatesOfPart, ...]
    notes: tuple[str, ...]
    signature: str


def steps(judgments: Judgments, options: EstimateOptions) -> int:
    """Return how often `estimate` calls `on_step`."""
    return sum(1 for _ in _parts(judgments, options))


def estimate(
    judgments: Judgments, options: EstimateOptions | None = None, on_step: OnStep = no_step
) -> Estimates:
    """Compute all estimates that the judgments allow.

    Args:
        judgments: judgments with their pool and its metrics.
        options: the options; None for the defaults.
        on_step: called with a description when a part begins.

    Raises:
        OptionError: a criterion or a metric does not exist, or a value is outside the given scale.
        EmptyRunError: no part has at least FEWEST_OUTPUTS judged outputs.
    """
    options = options or EstimateOptions()
    chosen = chosen_metrics(judgments, options)
    require_within(judgments, options)
    notes = [*judgments.notes, *_constant(judgments, chosen), *_assumed_ends(judgments, options)]
    parts = []
    for judged, name, scale in _parts(judgments, options):
        on_step(f"{judged.criterion}, {name}, {scale}")
        if len(np.unique(judged.outputs)) >= FEWEST_OUTPUTS:
            ends = _ends(judgments, options, judged.criterion) if scale == RAW else None
            part = _part(judged, name, scale, chosen, ends, options)
            known = (options.ends or judgments.ends) if scale == RAW else None
            parts.append(part if known is None else part.within(known))
    if not parts:
        raise EmptyRunError(
            f"{judgments.source}: no system has {FEWEST_OUTPUTS} judged outputs, so nothing can be "
            "estimated. Collect more judgments."
        )
    notes += [*_too_few_workers(parts), *_too_few(parts, chosen)]
    if not chosen:
        notes.append("There is no metric, so nothing is said of what one would save. Add one by --metrics.")
    return Estimates(
        judgments.source,
        options,
        tuple(parts),
        tuple(notes),
        judgments_signature(judgments.rows, judgments.metrics, options.seed, options.bootstrap),
    )


def _parts(judgments: Judgments, options: EstimateOptions) -> Iterator[tuple[Judged, str, str]]:
    """Yield every part with the name of its system and its scale, all systems together first.

    z for all systems together is left out, because each worker's mean z over all systems is always 0.
    """
    for criterion in options.criteria or judgments.criteria:
        systems: list[str | None] = [None, *judgments.systems]
        for system in systems if len(judgments.systems) > 1 else systems[1:]:
            judged = judgments.of(criterion, system)
            yield judged, system or ALL_SYSTEMS, RAW
            if system is not None and not np.isnan(judged.z).all():
                yield judged.standardised(), system, PER_WORKER


def _part(
    judged: Judged,
    name: str,
    scale: str,
    metrics: tuple[str, ...],
    ends: tuple[float, float] | None,
    options: EstimateOptions,
) -> EstimatesOfPart:
    found = _spread(judged)
    plain = worth(judged, "", options.bootstrap, options.seed)
    if plain is None:
        raise AssertionError("a part has outputs enough")
    each = (worth(judged, metric, options.bootstrap, options.seed) for metric in metrics)
    worths = sorted((one for one in each if one), key=lambda one: (-one.strength, -one.saving))
    best = worths[0].metric if worths and worths[0].strength >= 0 else ""
    in_detail = scale == RAW and name != ALL_SYSTEMS
    return EstimatesOfPart(
        criterion=judged.criterion,
        system=name,
        scale=scale,
        spread=found,
        cap=cap(found.unbiased),
        published_cap=DRAWN
        if judged.probabilities is not None
        else published_perfect_metric(judged.values, judged.outputs),
        plain=plain,
        metrics=tuple(worths),
        curve=_curve(judged.with_metrics(best), best, options)
        if best in judged.metrics and in_detail
        else None,
        looks=looks(judged, ends, best) if in_detail else None,
    )


def _curve(judged: Judged, metric: str, options: EstimateOptions) -> WidthCurve:
    pool = on_pool(judged.metrics[metric].to_numpy(np.float64))
    return width_curve(
        judged.values,
        judged.outputs,
        pool[judged.outputs],
        curve_points(len(np.unique(judged.outputs))),
        LEVEL,
        options.bootstrap,
        generator(options.seed, "widths against n"),
    )


def chosen_metrics(judgments: Judgments, options: EstimateOptions) -> tuple[str, ...]:
    """Return the metrics that the options name, or all. Raises OptionError for one that does not exist."""
    known = tuple(str(name) for name in judgments.metrics)
    unknown = [
        name for metric in options.metrics for name in named_metrics(metric, known) if name not in known
    ]
    if unknown:
        raise OptionError(
            f"There is no metric {joined([repr(name) for name in unknown])}. There are: "
            f"{joined(known) or 'none'}."
        )
    return options.metrics or known


def _too_few_workers(parts: Sequence[EstimatesOfPart]) -> list[str]:
    """Return a sentence that names the systems whose workers are too few for an interval of record."""
    of_record = {part.system: part.plain.plain.by_formula.clustered for part in parts}
    without = [name for name, each in of_record.items() if isfinite(each.se) and not isfinite(each.low)]
    if not without:
        return []
    return [
        f"There is no interval of record of {joined(without)}: it needs {FEWEST_WORKERS} workers, of whom "
        "those who did more than others count as fewer."
    ]


def _too_few(parts: Sequence[EstimatesOfPart], metrics: tuple[str, ...]) -> list[str]:
    """Return a sentence for each metric that has no estimate for a system because too few were judged."""
    notes = []
    for metric in metrics:
        without = [part.system for part in parts if all(worth.metric != metric for worth in part.metrics)]
        if without:
            notes.append(
                f"{metric} has too few judged outputs for an estimate of "
                f"{joined(list(dict.fromkeys(without)))}. Metrics that are used together need "
                f"{FEWEST_OUTPUTS_EACH} judged outputs each, a single one {FEWEST_OUTPUTS}."
            )
    return notes


def _constant(judgments: Judgments, metrics: tuple[str, ...]) -> list[str]:
    """Return a sentence for each metric that is useless for a system because it does not vary within it."""
    notes = []
    for metric in dict.fromkeys(name for each in metrics for name in named_metrics(each, judgments.metrics)):
        flat = [
            name
            for number, name in enumerate(judgments.systems)
            if judgments.metrics.loc[judgments.belongs[:, number], metric].nunique() < 2
        ]
        if flat:
            notes.append(
                f"{metric} is constant within {joined(flat)}: it says nothing about the outputs there, so it "
                "saves no judgment."
            )
    return notes


def _ends(judgments: Judgments, options: EstimateOptions, criterion: str) -> tuple[float, float] | None:
    """Return the ends of a criterion's scale, if need be from its values; None if all values are the same."""
    if options.ends or judgments.ends:
        return options.ends or judgments.ends
    values = judgments.of(criterion).values
    low, high = float(values.min()), float(values.max())
    return (low, high) if low < high else None


def require_within(judgments: Judgments, options: EstimateOptions) -> None:
    """Raise OptionError if a judgment is outside the given ends."""
    for criterion in options.criteria or judgments.criteria:
        values, ends = judgments.of(criterion).values, options.ends
        if ends and len(values) and (values.min() < ends[0] or values.max() > ends[1]):
            raise OptionError(
                f"--scale is {ends[0]:g},{ends[1]:g}, but {criterion} goes from {values.min():g} to "
                f"{values.max():g}. Correct it, or choose the criteria it is for by --criterion."
            )


def _assumed_ends(judgments: Judgments, options: EstimateOptions) -> list[str]:
    if options.ends or judgments.ends:
        return []
    return [
        "The ends of the scale are taken from the judgments themselves, on which the exact confidence "
        "sequence may not rely. Say them with --scale LOW,HIGH."
    ]
