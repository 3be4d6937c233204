"""Compare metrics with people: over systems, per criterion and overall, and over conversations.

People's scores are those of the report: mean z of the workers who passed. A metric's score of a system is the
mean over the conversations of these workers. The sign of a metric is reversed first if lower is better, so a
positive correlation always means agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import ComparisonError, EmptyRunError
from qc.estimators.metric_agreement import (
    Coefficient,
    MetricAgreement,
    Prefilter,
    Williams,
    agree,
    compare_metrics,
    half,
    prefilter,
)
from qc.method.sample import Sample
from qc.method.scores import Scores, score
from qc.metrics.metric_table import MetricScores, mean_by_system
from qc.statistics.confidence import LEVEL, NOISE
from qc.statistics.resampling import bootstrap_sums, generator, percentile_interval, unit_sums

OVERALL = "overall"
FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class AgreementWithPeople:
    """Agreement of one metric with people on one criterion, or overall.

    Attributes:
        metric: its name.
        on: `overall` or the label of a criterion.
        systems: the agreement over systems, with intervals for other systems.

    There is no interval for other workers and the same systems. Resampling the workers adds noise to scores
    that are noisy already, so the resampled correlations, and with them the interval, would be too low.
    """

    metric: str
    on: str
    systems: MetricAgreement


@dataclass(frozen=True)
class ConversationAgreement:
    """Agreement of one metric with the workers' overall z, over conversations.

    Attributes:
        metric: its name.
        n: number of conversations with both.
        r: over all of them, including differences between systems.
        within: over deviations from the means of the systems, so only differences within systems count.

    Both have intervals for other workers, who are resampled with all their conversations.
    """

    metric: str
    n: int
    r: Coefficient
    within: Coefficient


@dataclass(frozen=True)
class AgainstPeople:
    """Results of the comparison of metrics with people.

    Attributes:
        human: scores of the systems, best first.
        metrics: (M, S), the metrics' scores of these systems, in that order, with original signs.
        names: names of the metrics, and whether higher is better.
        agreements: by metric, then overall and by criterion.
        conversations: by metric, for metrics that score conversations.
        williams: tests of each pair of metrics that scored the same systems, overall.
        prefilter: by metric, for every number of systems kept.
        qc: (M,), the metrics' scores of the quality-control bot.
        notes: sentences that a reader must see.
    """

    human: Scores
    metrics: NDArray[np.float64]
    names: tuple[MetricScores, ...]
    agreements: tuple[AgreementWithPeople, ...]
    conversations: tuple[ConversationAgreement, ...]
    williams: tuple[Williams, ...]
    prefilter: tuple[tuple[str, Prefilter], ...]
    qc: NDArray[np.float64]
    notes: tuple[str, ...]


def hold_against_people(
    sample: Sample, metrics: Sequence[MetricScores], bootstrap: int, seed: int
) -> AgainstPeople:
    """Compare `metrics` with the workers who passed.

    Args:
        sample: the run's ratings.
        metrics: scores of its conversations or systems.
        bootstrap: number of resamples of the workers.
        seed: seed of the draws.

    Raises:
        EmptyRunError: fewer than 3 systems have a score by people.
    """
    human = score(sample)
    human = Scores(*(table[table["n"] > 0].reset_index(drop=True) for table in (human.z, human.raw)))
    if len(human.z) < FEWEST_SYSTEMS:
        raise EmptyRunError(
            f"{sample.run.source}: {len(human.z)} systems have a score by people, and a correlation needs "
            f"{FEWEST_SYSTEMS} or more. Collect more conversations."
        )
    by_code = np.array([_of_systems(sample, metric) for metric in metrics])
    order = pd.Index(sample.run.systems["system"]).get_indexer(human.z["system"])
    values = by_code[:, order]
    signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in metrics])
    oriented = values * signs[:, None]
    qc_bots = np.flatnonzero(sample.run.systems["is_qc"])
    williams, notes = _williams(human, metrics, oriented)
    return AgainstPeople(
        human,
        values,
        tuple(metrics),
        tuple(_agreements(human, metrics, oriented)),
        tuple(_by_conversation(sample, metrics, bootstrap, seed)),
        tuple(williams),
        tuple(_prefilters(human, metrics, oriented)),
        by_code[:, qc_bots[0]] if len(qc_bots) else np.full(len(metrics), np.nan),
        (*notes, *_missing(human, metrics, values)),
    )


def _of_systems(sample: Sample, metric: MetricScores) -> NDArray[np.float64]:
    """Return the metric's score of each system, indexed by system code, including the QC bot."""
    if metric.systems is not None:
        return metric.systems
    if metric.conversations is None:
        raise AssertionError("a metric scores conversations or systems")
    return mean_by_system(metric.conversations, sample.systems, len(sample.run.systems), sample.kept)


def _agreements(
    human: Scores, metrics: Sequence[MetricScores], oriented: NDArray[np.float64]
) -> list[AgreementWithPeople]:
    return [
        AgreementWithPeople(metric.name, label, agree(human.z[label].to_numpy(np.float64), scores))
        for metric, scores in zip(metrics, oriented, strict=True)
        for label in human.z.columns.drop(["system", "n"])
    ]


def _by_conversation(
    sample: Sample, metrics: Sequence[MetricScores], bootstrap: int, seed: int
) -> list[ConversationAgreement]:
    overall = sample.overall["z"]
    found = []
    for metric in metrics:
        if metric.conversations is None:
            continue
        there = sample.counted & np.isfinite(metric.conversations) & np.isfinite(overall)
        x = metric.conversations[there] * (1 if metric.higher_is_better else -1)
        y, systems, workers = overall[there], sample.systems[there], sample.workers[there]
        # A separate generator for each metric, so that other metrics do not change its interval.
        rng = generator(seed, f"bootstrap of workers, conversations, {metric.name}")
        inside = [values - _group_mean(values, systems) for values in (x, y)]
        found.append(
            ConversationAgreement(
                metric.name,
                int(there.sum()),
                _clustered_r(x, y, workers, bootstrap, rng),
                _clustered_r(inside[0], inside[1], workers, bootstrap, rng),
            )
        )
    return found


def _group_mean(values: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    every = np.ones(len(values), bool)
    count = int(groups.max(initial=-1)) + 1
    return np.asarray(mean_by_system(values, groups, count, every)[groups])


def _clustered_r(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    workers: NDArray[np.intp],
    bootstrap: int,
    rng: np.random.Generator,
) -> Coefficient:
    """Return r of the points (x, y), and its interval over resamples of workers with all their points.

    r is a function of sums, so each worker's sums are computed only once (`qc.statistics.resampling`).
    """
    if len(x) < FEWEST_SYSTEMS or min(x.std(), y.std()) <= NOISE:
        return Coefficient(np.nan, np.nan, np.nan)
    # Centre and scale, so that sums of squares do not lose precision; this does not change r.
    x, y = ((values - values.mean()) / values.std() for values in (x, y))
    _, owners = np.unique(workers, return_inverse=True)
    terms = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    sums = unit_sums(terms, owners, np.zeros(len(x), np.intp), (int(owners.max()) + 1, 1))[:, 0]
    low, high = percentile_interval(_r_of_sums(bootstrap_sums(sums, bootstrap, rng)), LEVEL)
    return Coefficient(float(_r_of_sums(sums.sum(axis=0))), float(low), float(high))


def _r_of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pearson's r from (…, 6): n, Σx, Σy, Σx², Σy², Σxy; NaN if x or y does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = (n * xx - x * x) * (n * yy - y * y)
    return np.asarray((n * xy - x * y) / np.sqrt(np.where(spread > NOISE, spread, np.nan)))


def _williams(
    human: Scores, metrics: Sequence[MetricScores], oriented: NDArray[np.float64]
) -> tuple[list[Williams], list[str]]:
    """Return the tests of each pair of metrics over the same systems, and a note on pairs left out."""
    people = dict(zip(human.z["system"], human.z[OVERALL].tolist(), strict=True))
    scored = [
        (
            metric.name,
            {name: value for name, value in zip(people, row.tolist(), strict=True) if np.isfinite(value)},
        )
        for metric, row in zip(metrics, oriented, strict=True)
    ]
    found, refused = [], set()
    for first, second in combinations(scored, 2):
        if (
            np.ptp(list(first[1].values()) or [0]) <= NOISE
            or np.ptp(list(second[1].values()) or [0]) <= NOISE
        ):
            continue
        try:
            found.append(compare_metrics(people, first, second))
        except ComparisonError:
            refused |= {name for name, of in (first, second) if of.keys() != people.keys()}
    if not refused:
        return found, []
    return found, [
        f"Not compared with other metrics, because they did not score every system: "
        f"{', '.join(sorted(refused))}. A correlation over fewer systems is another number."
    ]


def _prefilters(
    human: Scores, metrics: Sequence[MetricScores], oriented: NDArray[np.float64]
) -> list[tuple[str, Prefilter]]:
    people = human.z[OVERALL].to_numpy(np.float64)
    return [
        (metric.name, prefilter(people, scores, keep))
        for metric, scores in zip(metrics, oriented, strict=True)
        if np.isfinite(scores).all()
        for keep in range(1, len(people))
    ]


def halfway(found: AgainstPeople) -> list[tuple[str, Prefilter]]:
    """Return, for each metric, the loss from keeping only half of the systems."""
    keep = half(len(found.human.z))
    return [(name, each) for name, each in found.prefilter if each.keep == keep]


def _missing(human: Scores, metrics: Sequence[MetricScores], values: NDArray[np.float64]) -> list[str]:
    notes = []
    for metric, row in zip(metrics, values, strict=True):
        without = [name for name, value in zip(human.z["system"], row, strict=True) if not np.isfinite(value)]
        if without:
            notes.append(f"{metric.name} has no score of {', '.join(without)}.")
    return notes
