"""Analyse power: from judgments, or only a standard deviation, to the number of judgments needed."""

import hashlib
from dataclasses import dataclass

import numpy as np

from qc.errors import EmptyRunError, OptionError
from qc.planning.comparison import PairedComparison, compare
from qc.planning.metric_error import MetricError, metric_error, published_labels
from qc.planning.opinion import SystemOpinion
from qc.planning.plan import (
    INDEPENDENT,
    Basis,
    Planned,
    PlanOptions,
    Shown,
    bases,
    observed_differences,
    plan,
    shown,
)
from qc.progress import OnStep, no_step
from qc.signature import as_part

DIGEST_LENGTH = 16


@dataclass(frozen=True)
class PowerAnalysis:
    """Results of a power analysis.

    Attributes:
        options: the options of the plan.
        bases: the ways of gathering judgments in the plan.
        planned: number of judgments for each difference.
        shown: difference that each number of judgments detects.
        comparison: people's judgments; None without data.
        metrics: errors and worth of each metric.
        choices: name → value of everything that determines the numbers.
    """

    options: PlanOptions
    bases: tuple[Basis, ...]
    planned: tuple[Planned, ...]
    shown: tuple[Shown, ...]
    comparison: PairedComparison | None
    metrics: tuple[MetricError, ...]
    choices: dict[str, str]


def plan_power(options: PlanOptions, sd: float, design_effect: float) -> PowerAnalysis:
    """Return a plan for judgments with a known standard deviation.

    Args:
        options: the differences and numbers of judgments.
        sd: standard deviation of a judgment of one system.
        design_effect: number of judgments that are worth one independent one.

    Raises:
        OptionError: a number is not above 0.
    """
    for name, value in (("--sd", sd), ("--design-effect", design_effect)):
        if not 0 < value < np.inf:
            raise OptionError(f"{name} is {value:g}, but it must be above 0.")
    ways = [Basis(INDEPENDENT, sd, 1.0)]
    if design_effect != 1:
        ways.append(Basis("with the design effect", sd, design_effect))
    choices = {"sd": f"{sd:g}", "effect": f"{design_effect:g}"}
    return _power(options, ways, None, (), choices)


def analyse_power(
    opinion: SystemOpinion, options: PlanOptions, draws: int, seed: int, on_step: OnStep = no_step
) -> PowerAnalysis:
    """Plan with the judgments of a source, and compute the worth of each metric in it.

    The default differences are the observed ones, and the default number of judgments is the mean number of
    judgments of a system.

    Args:
        opinion: people's judgments.
        options: the options of the plan.
        draws: resamples for the labels of the published method.
        seed: seed of the resamples.
        on_step: called when the work on people, and on each metric, begins.

    Raises:
        EmptyRunError: all judgments of each system are the same, or a metric leaves a system out.
        OptionError: a difference is too small to be planned for.
    """
    on_step("People's labels")
    comparison = compare(opinion)
    if comparison.sd == 0:
        raise EmptyRunError(
            f"All judgments of {opinion.criterion!r} of a system are the same, so they do not tell how "
            "judgments spread. Add judgments, or name another --criterion."
        )
    published = published_labels(comparison, draws, seed)
    metrics = []
    for name in opinion.metrics:
        on_step(f"Errors of {name}")
        metrics.append(metric_error(comparison, str(name), published))
    asked = PlanOptions(
        options.differences or observed_differences(comparison),
        options.judgments or (max(2, round(float(comparison.means.count.mean()))),),
        options.power,
        options.alpha,
    )
    choices = {"data": f"sha256:{data_hash(opinion)}", "criterion": as_part(opinion.criterion)}
    choices |= {"draws": str(draws), "seed": str(seed)}
    return _power(asked, bases(comparison, metrics), comparison, tuple(metrics), choices)


def power_steps(opinion: SystemOpinion) -> int:
    """Return how often `analyse_power` calls `on_step`."""
    return 1 + len(opinion.metrics.columns)


def data_hash(opinion: SystemOpinion) -> str:
    """Return the beginning of the SHA-256, in hex, of all data that determine the numbers."""
    digest = hashlib.sha256("\x1d".join((*opinion.systems, *map(str, opinion.metrics))).encode())
    workers = np.empty(0, np.intp) if opinion.workers is None else opinion.workers
    for codes in (opinion.system_codes, opinion.outputs, workers, opinion.items, opinion.pool):
        digest.update(codes.astype("<i4").tobytes())
    for numbers in (opinion.values, opinion.positions, opinion.metrics.to_numpy(np.float64)):
        digest.update(numbers.astype("<f8").tobytes())
    return digest.hexdigest()[:DIGEST_LENGTH]


def _power(
    options: PlanOptions,
    ways: list[Basis],
    comparison: PairedComparison | None,
    metrics: tuple[MetricError, ...],
    choices: dict[str, str],
) -> PowerAnalysis:
    choices = {**choices, "power": f"{options.power:g}", "alpha": f"{options.alpha:g}"}
    planned, seen = tuple(plan(ways, options)), tuple(shown(ways, options))
    return PowerAnalysis(options, tuple(ways), planned, seen, comparison, metrics, choices)
