"""What moves the score of a conversation besides the system: position, time, opinion and changes of topic.

The effect of a level is the mean, over its conversations, of overall z minus the mean of the same system.
A worker's conversations hang together, so standard errors and tests are those of clusters.

Source: `qc.statistics.clustered`.
"""

from dataclasses import dataclass

import numpy as np

from qc.method.sample import Sample
from qc.number_format import decimal, relation
from qc.robustness.factors import Factor, minutes, positions, topic_changes, topic_opinions
from qc.statistics.clustered import level_means, wald
from qc.statistics.confidence import t_interval

SIGNIFICANT = 0.05

# How a sentence calls the conversations of a level.
_CONVERSATIONS = {
    "position": "conversations in place {} of their assignment",
    "minutes": "conversations of assignments with {} minutes per conversation",
    "topic opinion": "conversations on an opening topic with the opinion “{}”",
    "topic changes": "conversations whose number of topic changes is {}",
}
_CAUTIONS = {
    "minutes": " z compares a worker's conversations with one another, so quick and slow workers differ "
    "little in it by construction.",
    "topic opinion": " Who likes a topic was not drawn at random, so this need not be the topic's doing.",
    "topic changes": " A poor conversation may be what makes a worker change the topic, so this need not be "
    "the change's doing.",
}


@dataclass(frozen=True, slots=True)
class Level:
    """`n` conversations; `effect`: their mean z relative to their systems' means, and its interval."""

    name: str
    n: int
    effect: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effect:
    """A factor, and a test that none of its levels moves the score.

    `statistic` is a Wald statistic divided by its degrees of freedom, named with them, for example
    `F(5, 172)`. It and `p` and all bounds are NaN if there are too few workers to tell, that is no more
    than levels.
    """

    name: str
    levels: tuple[Level, ...]
    statistic_name: str
    statistic: float
    p: float
    sentence: str


@dataclass(frozen=True, slots=True)
class ContextEffects:
    """Effects in a fixed order. A factor of which fewer than two levels are known has none."""

    effects: tuple[Effect, ...]


def context_effects(sample: Sample) -> ContextEffects:
    """Return the effects on the counted conversations; those whose level is unknown are left out of each."""
    factors = (positions(sample), minutes(sample), topic_opinions(sample), topic_changes(sample))
    return ContextEffects(
        tuple(_effect(sample, factor) for factor in factors if factor is not None and len(factor.levels) > 1)
    )


def _effect(sample: Sample, factor: Factor) -> Effect:
    known, counted = factor.codes >= 0, sample.counted
    _, workers = np.unique(sample.workers[counted][known], return_inverse=True)
    means, covariance = level_means(
        sample.overall["z"][counted][known],
        factor.codes[known],
        sample.systems[counted][known],
        workers,
    )
    degrees = int(workers.max())
    low, high = t_interval(means, np.sqrt(np.diag(covariance)), degrees)
    sizes = np.bincount(factor.codes[known])
    levels = tuple(
        Level(name, int(n), *map(float, bounds))
        for name, n, *bounds in zip(factor.levels, sizes, means, low, high, strict=True)
    )
    name, statistic, p = wald(means, covariance, degrees)
    return Effect(factor.name, levels, name, statistic, p, _sentence(factor.name, levels, name, statistic, p))


def _sentence(factor: str, levels: tuple[Level, ...], name: str, statistic: float, p: float) -> str:
    most = max(levels, key=lambda level: abs(level.effect))
    if not np.isfinite(p):
        return f"There are too few workers to tell whether {_called(factor)} moves scores."
    test = f"{name} = {decimal(statistic, 2)}, p {relation(p)}"
    which = _CONVERSATIONS[factor].format(most.name)
    side = "below" if most.effect < 0 else "above"
    score = f"score {decimal(abs(most.effect), 2)} z {side} their systems' means"
    if p >= SIGNIFICANT:
        return f"No effect of {_called(factor)} can be told from chance ({test}); at most, {which} {score}."
    caution = _CAUTIONS.get(factor, "")
    return f"{_called(factor).capitalize()} goes with the score ({test}): {which} {score}.{caution}"


def _called(factor: str) -> str:
    return {
        "position": "place in the assignment",
        "minutes": "time per conversation",
        "topic opinion": "opinion of the opening topic",
        "topic changes": "the number of topic changes",
    }[factor]
