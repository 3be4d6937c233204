"""Estimate how many judgments a metric saves for the same precision (data efficiency).

A mean of n single judgments has the variance (σ_f² + σ_a²) / n. With a metric as control variate it is (σ_f²
(1 − ρ²) + σ_a²) / n, where ρ is the correlation of the metric with f(z). The ratio of the two is the data
efficiency (1 + γ) / (1 − ρ² + γ). Source: Chaganty, Mussmann and Liang, ACL 2018, sections 3.2 and 3.3.

ρ² / (1 + γ) equals r², where r is the correlation of the metric with single judgments. So the data efficiency
is also 1 / (1 − r²), which needs only one judgment of each output. The sign of r does not matter.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


# σ_f² is the variance of f(z), the mean over infinitely many judgments of an output z. σ_a² is the mean
# variance of judgments of the same output, and γ = σ_a² / σ_f². Source: Chaganty, Mussmann and Liang, ACL
# 2018, section 3.1.
#
# Their table 2 uses the variance of the outputs' means as σ_f². That variance includes σ_a² / k, where k is
# the number of judgments of an output, so their σ_f² is too large and their γ too small. `unbiased`
# subtracts this part; `published` is also shown, for comparison with the literature.
@dataclass(frozen=True, slots=True)
class NotEstimable:
    """Replaces a number that cannot be estimated from the data; `why` is a clause."""

    why: str

    def __str__(self) -> str:
        return "not estimable"


Estimated: TypeAlias = float | NotEstimable


def number(estimated: Estimated) -> float:
    """Return the number, or NaN if it is not estimable."""
    return float("nan") if isinstance(estimated, NotEstimable) else estimated


_ONCE = NotEstimable("no output was judged twice")
_FEW_OUTPUTS = NotEstimable("fewer than two outputs were judged")
_NO_SPREAD = NotEstimable("σ_f² comes out at 0 or below: the outputs differ no more than their judgments")


@dataclass(frozen=True, slots=True)
class JudgmentSpread:
    """Two variances and their ratio, by one convention.

    Attributes:
        sigma_a2: σ_a², of judgments of the same output.
        sigma_f2: σ_f², of outputs; it may be 0 or negative.
        gamma: σ_a² / σ_f², not estimable unless σ_f² is above 0.
    """

    sigma_a2: Estimated
    sigma_f2: Estimated
    gamma: Estimated


@dataclass(frozen=True, slots=True)
class Spreads:
    """The spread by every convention; `unbiased` and `random_effects` are equal if k is constant.

    Attributes:
        outputs: number of judged outputs.
        judgments: number of judgments.
        unbiased: σ_f² is the variance of the outputs' means − σ_a² · mean(1/k). The one to use.
        published: σ_f² is the variance of the outputs' means: what table 2 of the paper shows.
        mean_of_variances: as published, and σ_a² is the mean of the outputs' own variances, as the table was
            computed.
        random_effects: one-way analysis of variance, with k0 for unequal k.
        total_minus_within: σ_f² is the variance of all judgments − σ_a², as in the authors' later code.
    """

    outputs: int
    judgments: int
    unbiased: JudgmentSpread
    published: JudgmentSpread
    mean_of_variances: JudgmentSpread
    random_effects: JudgmentSpread
    total_minus_within: JudgmentSpread


def spread(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> Spreads:
    """Return the variances of outputs and of their judgments.

    Args:
        values: (K,), judgments.
        outputs: (K,), codes of their outputs; not every code need occur.
    """
    _, of, k = np.unique(outputs, return_inverse=True, return_counts=True)
    size, count = len(k), len(values)
    means = np.bincount(of, values) / np.maximum(k, 1)
    squares = np.bincount(of, (values - means[of]) ** 2)
    twice = k > 1
    if not twice.any():
        nothing = JudgmentSpread(_ONCE, _ONCE, _ONCE)
        raw = JudgmentSpread(_ONCE, float(means.var(ddof=1)) if size > 1 else _FEW_OUTPUTS, _ONCE)
        return Spreads(size, count, nothing, raw, raw, nothing, nothing)
    within = float(squares.sum() / (count - size))
    own = float((squares[twice] / (k[twice] - 1)).mean())
    if size < 2:
        alone = JudgmentSpread(within, _FEW_OUTPUTS, _FEW_OUTPUTS)
        return Spreads(size, count, alone, alone, alone, alone, alone)
    between = float(means.var(ddof=1))
    mean_square = float((k * (means - values.mean()) ** 2).sum() / (size - 1))
    k0 = (count - float((k**2).sum()) / count) / (size - 1)
    return Spreads(
        outputs=size,
        judgments=count,
        unbiased=_spread(within, between - within * float((1 / k).mean())),
        published=_spread(within, between),
        mean_of_variances=_spread(own, between),
        random_effects=_spread(within, (mean_square - within) / k0),
        total_minus_within=_spread(within, float(values.var(ddof=1)) - within),
    )


def _spread(sigma_a2: float, sigma_f2: float) -> JudgmentSpread:
    return JudgmentSpread(sigma_a2, sigma_f2, sigma_a2 / sigma_f2 if sigma_f2 > 0 else _NO_SPREAD)


_CONSTANT = NotEstimable("the metric is the same for all outputs")
_FLAT = NotEstimable("all judgments are the same")
_BEYOND = NotEstimable("the estimate of ρ is 1 or more, because σ_f² is small and uncertain")


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Value of a metric as control variate. Every output has weight 1, each of its k judgments 1/k.

    Attributes:
        alpha: slope of the judgments on the standardised metric, in the unit of the judgments. r_judgment:
        correlation of the metric with single judgments. r_output_mean: correlation with the outputs' means;
        smaller than ρ, because means contain noise. rho: correlation with f(z), from the unbiased σ_f². de:
        data efficiency 1 / (1 − r²): with an infinite pool, 1/de of the judgments give the same precision.
        de_from_rho: the same by (1 + γ) / (1 − ρ² + γ). noiseless: 1 / (1 − ρ²), the data efficiency if
        workers agreed perfectly.
    """

    alpha: Estimated
    r_judgment: Estimated
    r_output_mean: Estimated
    rho: Estimated
    de: Estimated
    de_from_rho: Estimated
    noiseless: Estimated


def efficiency(
    values: NDArray[np.float64],
    outputs: NDArray[np.intp],
    metric: NDArray[np.float64],
    spread: JudgmentSpread,
) -> Efficiency:
    """Return the value of a metric as control variate.

    Args:
        values: (K,), judgments.
        outputs: (K,), codes of their outputs.
        metric: (K,), the metric of these outputs, standardised on the pool.
        spread: unbiased spread of the same judgments.
    """
    weights, means, metric_of = _by_output(values, outputs, metric)
    deviations = values - means.mean()
    g = metric_of - metric_of.mean()
    spread_g, spread_y = float((g**2).mean()), float((weights * deviations**2).sum())
    if spread_g == 0 or spread_y == 0:
        why = _CONSTANT if spread_g == 0 else _FLAT
        return Efficiency(why, why, why, why, why, why, why)
    covariance = float((g * means).mean())
    r = covariance / np.sqrt(spread_g * spread_y)
    of_means = float(means.var())
    rho, de_from_rho, noiseless = _by_rho(covariance / np.sqrt(spread_g), spread)
    return Efficiency(
        alpha=covariance / spread_g,
        r_judgment=float(r),
        r_output_mean=covariance / float(np.sqrt(spread_g * of_means)) if of_means else _FLAT,
        rho=rho,
        de=float(1 / (1 - r**2)) if r**2 < 1 else NotEstimable("the metric and the judgments agree exactly"),
        de_from_rho=de_from_rho,
        noiseless=noiseless,
    )


def _by_output(
    values: NDArray[np.float64], outputs: NDArray[np.intp], metric: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of each judgment, and the mean judgment and the metric of each output."""
    _, first, of, k = np.unique(outputs, return_index=True, return_inverse=True, return_counts=True)
    return 1 / (len(k) * k[of]), np.bincount(of, values) / k, metric[first]


def _by_rho(scaled: float, spread: JudgmentSpread) -> tuple[Estimated, Estimated, Estimated]:
    """Return ρ, the efficiency by γ and ρ, and the noiseless one; `scaled` is the covariance / sd of g."""
    if isinstance(spread.gamma, NotEstimable):
        return spread.gamma, spread.gamma, spread.gamma
    rho = scaled / float(np.sqrt(number(spread.sigma_f2)))
    if rho**2 >= 1:
        return _BEYOND, _BEYOND, _BEYOND
    return rho, (1 + spread.gamma) / (1 - rho**2 + spread.gamma), 1 / (1 - rho**2)


def cap(spread: JudgmentSpread) -> Estimated:
    """Return the data efficiency of a perfect metric, ρ = 1: (1 + γ) / γ."""
    if isinstance(spread.gamma, NotEstimable):
        return spread.gamma
    return (1 + spread.gamma) / spread.gamma if spread.gamma else NotEstimable("the workers agree perfectly")


def published_perfect_metric(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> Estimated:
    """Return the upper bound as the paper computes it: the metric is the mean of the same judgments.

    This metric contains part of the noise that it should predict. With two judgments of each output the
    result is about twice the `cap`. Use it only for comparison with section 5 of the paper.
    """
    _, of, k = np.unique(outputs, return_inverse=True, return_counts=True)
    means = np.bincount(of, values) / k
    all_squares = float(((values - means.mean()) ** 2 / (len(k) * k[of])).sum())
    of_means = float(means.var())
    if of_means >= all_squares:
        return NotEstimable("judgments of the same output never differ")
    return 1 / (1 - of_means / all_squares)


def in_pool(r: float, rated: int, pool: int) -> float:
    """Return the data efficiency of a metric with `pool` outputs in the pool, `rated` of them judged.

    1 / (1 − r² (1 − n/N)). It is 1 if every output was judged, because the pool then adds no information.
    """
    return float(1 / (1 - r**2 * (1 - rated / pool)))
