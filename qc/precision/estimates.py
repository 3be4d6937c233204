"""Compute estimates from judgments: for each criterion and system, raw and as z per worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from qc.errors import EmptyRunError, OptionError, joined
from qc.estimators.efficiency import Estimated, Spreads, cap, published_perfect_metric, spread
from qc.estimators.pool_mean import on_pool
from qc.estimators.width_curve import WidthCurve, curve_points, width_curve
from qc.judgments import Judged, Judgments
from qc.options import require_draws
from qc.precision.looks import Looks, looks
from qc.precision.worth import FEWEST_OUTPUTS, Worth, worth
from qc.progress import OnStep, no_step
from qc.signature import judgments_signature
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import generator

ALL_SYSTEMS = "all systems"
RAW, PER_WORKER = "raw", "z"


@dataclass(frozen=True)
class EstimateOptions:
    """Options of the estimates.

    Attributes:
        criteria: criteria to use; empty for all.
        metrics: metrics to use; empty for all.
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
        curve: widths against n with the strongest metric; None without a metric, for z, and for all systems.
        looks: intervals that are valid at any time, with the strongest metric; None in the same cases.
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
    chosen = _chosen_metrics(judgments, options)
    require_within(judgments, options)
    notes = [*judgments.notes, *_constant(judgments, chosen), *_assumed_ends(judgments, options)]
    parts = []
    for judged, name, scale in _parts(judgments, options):
        on_step(f"{judged.criterion}, {name}, {scale}")
        if len(np.unique(judged.outputs)) >= FEWEST_OUTPUTS:
            ends = _ends(judgments, options, judged.criterion) if scale == RAW else None
            parts.append(_part(judged, name, scale, chosen, ends, options))
    if not parts:
        raise EmptyRunError(
            f"{judgments.source}: no system has {FEWEST_OUTPUTS} judged outputs, so nothing can be "
            "estimated. Collect more judgments."
        )
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
    found = spread(judged.values, judged.outputs)
    plain = worth(judged, "", options.bootstrap, options.seed)
    if plain is None:
        raise AssertionError("a part has outputs enough")
    each = (worth(judged, metric, options.bootstrap, options.seed) for metric in metrics)
    worths = sorted((one for one in each if one), key=lambda one: -one.strength)
    best = worths[0].metric if worths and worths[0].strength >= 0 else ""
    in_detail = scale == RAW and name != ALL_SYSTEMS
    return EstimatesOfPart(
        criterion=judged.criterion,
        system=name,
        scale=scale,
        spread=found,
        cap=cap(found.unbiased),
        published_cap=published_perfect_metric(judged.values, judged.outputs),
        plain=plain,
        metrics=tuple(worths),
        curve=_curve(judged.with_metric(best), best, options) if best and in_detail else None,
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


def _chosen_metrics(judgments: Judgments, options: EstimateOptions) -> tuple[str, ...]:
    known = tuple(str(name) for name in judgments.metrics)
    unknown = [name for name in options.metrics if name not in known]
    if unknown:
        raise OptionError(
            f"There is no metric {joined([repr(name) for name in unknown])}. There are: "
            f"{joined(known) or 'none'}."
        )
    return options.metrics or known


def _constant(judgments: Judgments, metrics: tuple[str, ...]) -> list[str]:
    """Return a sentence for each metric that is useless for a system because it does not vary within it."""
    notes = []
    for metric in metrics:
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
