"""Variance between outputs, and between workers who judge the same output.

σ_f² is the variance of f(z), the mean over endlessly many judgments of an output z; σ_a² the mean variance of
judgments of the same output; γ = σ_a² / σ_f². Source: Chaganty, Mussmann and Liang, ACL 2018, section 3.1.

Their table 2 takes the variance of the outputs' means for σ_f². That variance holds σ_a² / k, too, k being
the number of judgments of an output, so their σ_f² is too large and their γ too small. `unbiased` takes it
out; `published` is shown beside it so that results can be compared with the literature.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.estimable import Estimated, NotEstimable

_ONCE = NotEstimable("no output was judged twice")
_FEW_OUTPUTS = NotEstimable("fewer than two outputs were judged")
_NO_SPREAD = NotEstimable("σ_f² comes out at 0 or below: the outputs differ no more than their judgments")


@dataclass(frozen=True, slots=True)
class Spread:
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
    """The spread by every convention; `unbiased` and `random_effects` are equal where k is.

    Attributes:
        outputs: how many were judged.
        judgments: how many there are.
        unbiased: σ_f² is the variance of the outputs' means − σ_a² · mean(1/k). The one to use.
        published: σ_f² is the variance of the outputs' means: what table 2 of the paper shows.
        mean_of_variances: as published, and σ_a² is the mean of the outputs' own variances: what the table
            was computed with.
        random_effects: one-way analysis of variance with k0 for uneven k.
        total_minus_within: the variance of all judgments − σ_a²: what the authors' later code computes.
    """

    outputs: int
    judgments: int
    unbiased: Spread
    published: Spread
    mean_of_variances: Spread
    random_effects: Spread
    total_minus_within: Spread


def spread(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> Spreads:
    """Return how far outputs and their judgments spread.

    Args:
        values: (K,), judgments.
        outputs: (K,), codes of the outputs that they are of; codes that do not occur do no harm.
    """
    _, of, k = np.unique(outputs, return_inverse=True, return_counts=True)
    size, count = len(k), len(values)
    means = np.bincount(of, values) / np.maximum(k, 1)
    squares = np.bincount(of, (values - means[of]) ** 2)
    twice = k > 1
    if not twice.any():
        nothing = Spread(_ONCE, _ONCE, _ONCE)
        raw = Spread(_ONCE, float(means.var(ddof=1)) if size > 1 else _FEW_OUTPUTS, _ONCE)
        return Spreads(size, count, nothing, raw, raw, nothing, nothing)
    within = float(squares.sum() / (count - size))
    own = float((squares[twice] / (k[twice] - 1)).mean())
    if size < 2:
        alone = Spread(within, _FEW_OUTPUTS, _FEW_OUTPUTS)
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


def _spread(sigma_a2: float, sigma_f2: float) -> Spread:
    return Spread(sigma_a2, sigma_f2, sigma_a2 / sigma_f2 if sigma_f2 > 0 else _NO_SPREAD)
