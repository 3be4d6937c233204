"""What moves the score of a conversation besides the system: place, time, opinion of the topic, its changes.

The effect of a level is the mean, over its conversations, of overall z minus the mean of the same system:
A z for a matrix A that depends on who talked with which system when. Its covariance is A C Aᵀ, where C is
estimated from the products of residuals of the same worker, because a worker's conversations hang together.

Sources: Liang and Zeger, *Longitudinal data analysis using generalized linear models*, Biometrika 73, 1986
(the covariance); Cameron and Miller, *A practitioner's guide to cluster-robust inference*, Journal of Human
Resources 50, 2015, section VI (the factor W / (W - 1), t and F with W - 1 degrees of freedom, W workers).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtrit

from qc.method.sample import Sample
from qc.verdict.factors import Factor, minutes, positions, topic_changes, topic_opinions
from qc.verdict.numerals import decimal, probability

LEVEL = 0.95
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
    reach = stdtrit(max(workers.max(), 1), (1 + LEVEL) / 2) * np.sqrt(np.diag(covariance))
    sizes = np.bincount(factor.codes[known])
    levels = tuple(
        Level(name, int(n), float(mean), float(mean - width), float(mean + width))
        for name, n, mean, width in zip(factor.levels, sizes, means, reach, strict=True)
    )
    name, statistic, p = _wald(means, covariance, int(workers.max()))
    return Effect(factor.name, levels, name, statistic, p, _sentence(factor.name, levels, name, statistic, p))


def level_means(
    values: NDArray[np.float64],
    levels: NDArray[np.intp],
    systems: NDArray[np.intp],
    workers: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each level relative to the systems' means, and the covariance of these means.

    Args:
        values: (rows,); rows are in a fixed order, in which they are added up.
        levels: (rows,), codes from 0; each of the L levels occurs.
        systems: (rows,), codes from 0.
        workers: (rows,), codes from 0; each of the W workers occurs.

    Returns:
        (L,) and (L, L); the covariance is NaN if there are no more workers than levels.
    """
    of_system = np.bincount(systems, values) / np.maximum(np.bincount(systems), 1)
    relative = values - of_system[systems]
    counts = _table(levels, systems, np.ones(len(values)))
    means = np.bincount(levels, relative) / counts.sum(axis=1)
    if workers.max() < len(counts):
        return means, np.full((len(counts), len(counts)), np.nan)
    residuals = relative - means[levels]
    # A row of A is (its level's indicator - the level's share of the row's system) / size of the level.
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    # Matrix products would add up in an order that depends on the number of threads.
    expected = np.einsum("ws,ls->wl", _table(workers, systems, residuals), shares)
    sums = (_table(workers, levels, residuals) - expected) / counts.sum(axis=1)
    return means, np.einsum("wl,wm->lm", sums, sums) * (len(sums) / (len(sums) - 1))


def _table(
    rows: NDArray[np.intp], columns: NDArray[np.intp], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sums of `values` by two codes."""
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    cells = np.bincount(rows * shape[1] + columns, weights=values, minlength=shape[0] * shape[1])
    return np.asarray(cells.reshape(shape), np.float64)


def _wald(
    means: NDArray[np.float64], covariance: NDArray[np.float64], degrees: int
) -> tuple[str, float, float]:
    """Return name, value and p of the test that all means are 0.

    The means, weighted by the sizes of the levels, add up to 0; so one of them, whichever, is left out.
    """
    free = len(means) - 1
    name = f"F({free}, {degrees})"
    if not np.isfinite(covariance).all() or np.linalg.matrix_rank(covariance[:free, :free]) < free:
        return name, float("nan"), float("nan")
    statistic = float(means[:free] @ np.linalg.solve(covariance[:free, :free], means[:free])) / free
    return name, statistic, float(fdtrc(free, degrees, statistic))


def _sentence(factor: str, levels: tuple[Level, ...], name: str, statistic: float, p: float) -> str:
    most = max(levels, key=lambda level: abs(level.effect))
    if not np.isfinite(p):
        return f"There are too few workers to tell whether {_called(factor)} moves scores."
    test = f"{name} = {decimal(statistic, 2)}, p {_relation(p)}"
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


def _relation(p: float) -> str:
    shown = probability(p)
    return shown if shown[0] in "<>" else f"= {shown}"
