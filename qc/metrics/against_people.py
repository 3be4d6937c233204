"""Compare metrics with people over systems and conversations, and say which metric agrees best.

People's scores are those of the report: mean z of the workers who passed. A metric's score of a system is the
mean over the conversations of these workers. The sign of a metric is reversed first if lower is better, so a
positive correlation always means agreement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.estimators.metric_agreement import (
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
from qc.metrics.conversations import ConversationAgreement, by_conversation
from qc.metrics.metric_table import MetricScores, mean_by_system
from qc.metrics.scoring import JudgedConversations
from qc.statistics.confidence import t_interval
from qc.table import OVERALL, SIGNIFICANT, counted, decimal, listed, whole

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
class AgainstPeople:
    """Results of the comparison of metrics with people.

    Of systems alone, `conversations` is empty and `qc` None.

    Attributes:
        human: scores of the systems, best first.
        metrics: (M, S), the metrics' scores of these systems, in that order, with original signs.
        names: names of the metrics, and whether higher is better.
        agreements: by metric, then overall and by criterion.
        conversations: by metric, for metrics that score conversations.
        williams: the tests of pairs of metrics, overall, over the systems that both scored.
        prefilter: by metric that varies over `shared` and scored all of it, for every number of them kept.
        shared: (S,), the systems over which metrics are compared: those that most metrics scored.
        qc: (M,), the metrics' scores of the quality-control bot; NaN if there is none.
        notes: sentences that a reader must see.
    """

    human: Scores
    metrics: NDArray[np.float64]
    names: tuple[MetricScores, ...]
    agreements: tuple[AgreementWithPeople, ...]
    conversations: tuple[ConversationAgreement, ...]
    williams: tuple[Williams, ...]
    prefilter: tuple[tuple[str, Prefilter], ...]
    shared: NDArray[np.bool_]
    qc: NDArray[np.float64] | None
    notes: tuple[str, ...]


def hold_against_people(
    sample: Sample, metrics: Sequence[MetricScores], bootstrap: int, seed: int
) -> AgainstPeople:
    """Compare `metrics` with the workers who passed.

    Args:
        sample: the run's ratings.
        metrics: scores of its conversations or systems.
        bootstrap: number of draws of the workers' signs.
        seed: seed of the draws.

    Raises:
        EmptyRunError: fewer than 3 systems have a score by people.
    """
    systems = sample.run.systems
    by_code = np.array([_of_systems(sample, metric) for metric in metrics])
    found = hold_systems(sample.run.source, score(sample), metrics, systems["system"].to_list(), by_code)
    qc_bots = np.flatnonzero(systems["is_qc"])
    return replace(
        found,
        conversations=tuple(by_conversation(sample, metrics, bootstrap, seed)),
        qc=by_code[:, qc_bots[0]] if len(qc_bots) else np.full(len(metrics), np.nan),
    )


def hold_systems(
    source: str,
    human: Scores,
    metrics: Sequence[MetricScores],
    systems: Sequence[str],
    by_system: NDArray[np.float64],
) -> AgainstPeople:
    """Compare metrics with people over systems alone.

    Args:
        source: the name of the data, for messages.
        human: people's scores.
        metrics: the metrics.
        systems: (S,), names of systems.
        by_system: (M, S), the metrics' scores of the systems.

    Raises:
        EmptyRunError: fewer than 3 systems have a score by people.
    """
    human = Scores(*(table[table["n"] > 0].reset_index(drop=True) for table in (human.z, human.raw)))
    if len(human.z) < FEWEST_SYSTEMS:
        raise EmptyRunError(
            f"{source}: people's scores are known of {counted(len(human.z), 'system')}, and a correlation "
            f"needs {FEWEST_SYSTEMS} or more. Collect more conversations."
        )
    order = pd.Index(list(systems)).get_indexer(pd.Index(human.z["system"]))
    values = np.asarray(by_system[:, order])
    signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in metrics])
    oriented = values * signs[:, None]
    shared = _shared(oriented)
    return AgainstPeople(
        human,
        values,
        tuple(metrics),
        tuple(_agreements(human, metrics, oriented)),
        (),
        tuple(_williams(human, metrics, oriented)),
        tuple(_prefilters(human, metrics, oriented, shared)),
        shared,
        None,
        tuple(_missing(human, metrics, values)),
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


def _williams(
    human: Scores, metrics: Sequence[MetricScores], oriented: NDArray[np.float64]
) -> list[Williams]:
    """Return the tests of each pair of metrics, without those that are not possible."""
    people = dict(zip(human.z["system"], human.z[OVERALL].tolist(), strict=True))
    scored = [
        (
            metric.name,
            {name: value for name, value in zip(people, row.tolist(), strict=True) if np.isfinite(value)},
        )
        for metric, row in zip(metrics, oriented, strict=True)
    ]
    tests = [compare_metrics(people, first, second) for first, second in combinations(scored, 2)]
    return [test for test in tests if isfinite(test.p)]


def _shared(oriented: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the systems that most metrics scored; of several such sets the largest.

    A large r is more likely with fewer systems, so metrics are compared over the same ones.
    """
    scored = np.isfinite(oriented)
    usable = scored[(scored.sum(axis=1) >= FEWEST_SYSTEMS) & _varies(oriented)]
    if not len(usable):
        return np.ones(oriented.shape[1], dtype=np.bool_)
    sets, counts = np.unique(usable, axis=0, return_counts=True)
    return np.asarray(sets[np.lexsort((sets.sum(axis=1), counts))[-1]])


def _varies(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return, by row, whether the known scores differ."""
    known = np.isfinite(scores)
    return np.asarray(np.where(known, scores, -np.inf).max(1) > np.where(known, scores, np.inf).min(1))


def _prefilters(
    human: Scores,
    metrics: Sequence[MetricScores],
    oriented: NDArray[np.float64],
    shared: NDArray[np.bool_],
) -> list[tuple[str, Prefilter]]:
    people = human.z[OVERALL].to_numpy(np.float64)[shared]
    scores = oriented[:, shared]
    usable = np.isfinite(scores).all(axis=1) & _varies(scores)
    return [
        (metric.name, prefilter(people, of, keep))
        for metric, of, is_usable in zip(metrics, scores, usable.tolist(), strict=True)
        if is_usable
        for keep in range(1, len(people))
    ]


def halfway(found: AgainstPeople) -> list[tuple[str, Prefilter]]:
    """Return, for each metric, the loss from keeping only half of the shared systems."""
    keep = half(int(found.shared.sum()))
    return [(name, each) for name, each in found.prefilter if each.keep == keep]


def _missing(human: Scores, metrics: Sequence[MetricScores], values: NDArray[np.float64]) -> list[str]:
    metrics_without: dict[str, list[str]] = {}
    for metric, row in zip(metrics, values, strict=True):
        without = [name for name, value in zip(human.z["system"], row, strict=True) if not np.isfinite(value)]
        if without:
            metrics_without.setdefault(", ".join(without), []).append(metric.name)
    return [
        f"{listed(names)} {'has' if len(names) == 1 else 'have'} no score of {systems}."
        for systems, names in metrics_without.items()
    ]


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """The judge's own noise on one criterion; points of the scale of 0 to 100, as given.

    Attributes:
        n: conversations with ratings in both orders.
        mean: mean of all ratings.
        sd_between_conversations: sd of the conversations' mean ratings; it includes some of the noise.
        sd_between_repeats: pooled within conversation and order (divisor k − 1). NaN with one repeat.
        forwards_minus_backwards: mean difference when the criteria are asked in the other order.
        low, high: its 95 % t interval over conversations.
    """

    n: int
    mean: float
    sd_between_conversations: float
    sd_between_repeats: float
    forwards_minus_backwards: float
    low: float
    high: float


def judge_noise(ratings: NDArray[np.float64]) -> JudgeNoise:
    """Return the noise in `ratings`, (conversations, 2 orders, repeats); NaN: an answer without ratings."""
    known = np.isfinite(ratings)
    of_orders = _mean(ratings, known, axis=2)
    both = np.isfinite(of_orders).all(axis=1)
    means = of_orders[both].mean(axis=1)
    difference = of_orders[both, 0] - of_orders[both, 1]
    n = int(both.sum())
    error = difference.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    shift = float(difference.mean()) if n else np.nan
    low, high = t_interval(np.array(shift), np.array(error), n - 1)
    return JudgeNoise(
        n,
        float(ratings[known].mean()) if known.any() else np.nan,
        float(means.std(ddof=1)) if n > 1 else np.nan,
        _within(ratings, known),
        shift,
        float(low),
        float(high),
    )


def _within(ratings: NDArray[np.float64], known: NDArray[np.bool_]) -> float:
    """Return the pooled standard deviation of repeats around the mean of their conversation and order."""
    counts = known.sum(axis=2)
    degrees = int(np.maximum(counts - 1, 0).sum())
    deviations = np.where(known, ratings - _mean(ratings, known, axis=2)[..., None], 0)
    return float(np.sqrt((deviations**2).sum() / degrees)) if degrees else np.nan


def _mean(values: NDArray[np.float64], known: NDArray[np.bool_], axis: int) -> NDArray[np.float64]:
    counts = known.sum(axis=axis)
    sums = np.where(known, values, 0).sum(axis=axis)
    return np.asarray(sums / np.where(counts > 0, counts, np.nan))


# With fewer systems, the interval of r = .6 includes 0.
MANY_SYSTEMS = 12


def overall(found: AgainstPeople) -> list[AgreementWithPeople]:
    """Return the agreement of each metric with overall scores."""
    return [each for each in found.agreements if each.on == OVERALL]


def _compared(found: AgainstPeople) -> list[AgreementWithPeople]:
    """Return the agreement of the metrics that scored all shared systems, over these; without NaN."""
    people = found.human.z[OVERALL].to_numpy(np.float64)[found.shared]
    signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in found.names])
    scores = (found.metrics * signs[:, None])[:, found.shared]
    agreements = [
        AgreementWithPeople(metric.name, OVERALL, agree(people, of))
        for metric, of in zip(found.names, scores, strict=True)
        if np.isfinite(of).all()
    ]
    return [each for each in agreements if isfinite(each.systems.pearson.value)]


def verdict(found: AgainstPeople) -> list[str]:
    """Say which metric agrees best with people, how certain that is, and what choosing by metrics loses."""
    known = _compared(found)
    if not known:
        return ["No metric varies over the systems, so none can be held against people."]
    best = max(known, key=lambda each: each.systems.pearson.value)
    n, r = best.systems.n, best.systems.pearson
    certainty = f"95 % interval {decimal(r.low)} to {decimal(r.high)}" if isfinite(r.low) else "no interval"
    if found.shared.all():
        first = f"{best.metric} agrees best with people: r = {decimal(r.value)} over n = {n} systems"
    else:
        of = f"{len(known)} of {len(found.names)}" if len(known) < len(found.names) else f"all {len(known)}"
        first = (
            f"Over the {n} systems that {of} metrics scored, {best.metric} agrees best with people: "
            f"r = {decimal(r.value)}"
        )
    sentences = [f"{first}, {certainty}."]
    if n < MANY_SYSTEMS:
        sentences.append(
            f"{n} systems are few: such an r moves widely with other systems, and the best of "
            f"{len(known)} metrics looks better than it is."
        )
    return [*sentences, *_rivals(found, best.metric), *_lost(found)]


def _rivals(found: AgainstPeople, best: str) -> list[str]:
    """Return a sentence on how many other metrics differ from the best one by Williams' test."""
    tests = [each for each in found.williams if best in (each.better, each.worse)]
    if not tests:
        return []
    below = sum(each.better == best and each.p < SIGNIFICANT for each in tests)
    return [
        f"By Williams' test it correlates more strongly than {below} of the {len(tests)} other metrics at "
        f"p < {SIGNIFICANT:g}, each looked at alone."
    ]


def _lost(found: AgainstPeople) -> list[str]:
    halves = halfway(found)
    if not halves:
        return []
    lost = [name for name, each in halves if not each.best_kept]
    systems = "the systems" if found.shared.all() else "these systems"
    best = found.human.z["system"][found.shared].iloc[0]
    if not lost:
        return [
            f"Had half of {systems} been thrown out by any of the metrics, people's best, {best}, "
            "would be left."
        ]
    return [
        f"Had the better half of {systems} been chosen by a metric first, people's best, {best}, "
        f"would have been thrown out by {len(lost)} of {len(halves)} metrics: {listed(lost)}."
    ]


def cost(judged: JudgedConversations, price: tuple[float, float] | None) -> str:
    """Return a sentence on the tokens of a judge's answers, and their cost if the price is known."""
    of = judged.judgement
    sentence = (
        f"The judge's {whole(of.answers)} answers took "
        f"{whole(of.prompt_tokens)} tokens of prompts and {whole(of.completion_tokens)} of answers, as the "
        f"endpoint counts them; {whole(of.asked)} of them were asked for now"
    )
    if price is None:
        return f"{sentence}. With --judge-price this is told in dollars."
    all_of, now = (
        (prompts * price[0] + answers * price[1]) / 1e6
        for prompts, answers in (
            (of.prompt_tokens, of.completion_tokens),
            (of.paid_prompt_tokens, of.paid_completion_tokens),
        )
    )
    return f"{sentence}. At the price given that is {all_of:.4f} dollars, {now:.4f} of them now."


def unreadable(judged: JudgedConversations | None) -> list[str]:
    """Return a note on answers of a judge that held no ratings, if there are any."""
    if judged is None or not judged.judgement.unreadable:
        return []
    return [
        f"{judged.judgement.unreadable} answers of the judge held no ratings, however often they were asked "
        "for; conversations without an answer in both orders have no score by it. The next call asks again."
    ]
