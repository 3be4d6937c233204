"""Means with errors of unequal size: what their true values can be, if these vary like normal draws.

Observed are x of S means, with errors of variance e (S,). True means vary around m with variance τ². Whatever
m is, Q(τ²) = Σ (x - m̂)² / (τ² + e), with m̂ the mean of x weighted by 1 / (τ² + e), has a χ² distribution of
S - 1 degrees of freedom, and Q falls as τ² grows. So the τ² at which Q is a draw from that distribution is a
draw of what τ² can be; 0 where Q is smaller even there. Given τ², m is normal around m̂ with the variance
1 / Σ 1 / (τ² + e), and a true mean around m + ρ (x - m) with variance ρ e, where ρ = τ² / (τ² + e).

τ² cannot be below 0, so where it is small such draws are larger than it on average. *Cautious* ones take
S + 1 degrees of freedom, as a ρ that could be anything between 0 and 1 beforehand would have it.

Source: Nagashima, Noma and Furukawa, *Prediction intervals for random-effects meta-analysis: a confidence
distribution approach*, Statistical Methods in Medical Research 28, 2019 (τ² and m); Gelman et al., *Bayesian
Data Analysis*, 3rd edition, section 5.4 (true means, given both); Strawderman, *Proper Bayes minimax
estimators of the multivariate normal mean*, Annals of Mathematical Statistics 42, 1971 (uniform ρ).
"""

import numpy as np
from numpy.typing import NDArray

TINY = np.finfo(np.float64).tiny
# Errors of a smaller share of the variance of what is seen leave all of it true.
LEAST_SHARE = 1e-12
# Halvings of the interval in which τ² lies: the rest is the 10⁻¹² of it.
HALVINGS = 40


def true_means(
    observed: NDArray[np.float64],
    error_variances: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    cautious: bool = False,
) -> NDArray[np.float64]:
    """Return draws of the true means, (B, S).

    Args:
        observed: (S,), at least two.
        error_variances: (B, S), of the observed means; they may be draws as well.
        rng: source of the draws.
        cautious: whether τ² is to be drawn with S + 1 degrees of freedom.
    """
    count, means = error_variances.shape
    errors = np.maximum(error_variances, max(LEAST_SHARE * float(observed.var()), TINY))
    between = _between(observed, errors, rng.chisquare(means + 1 if cautious else means - 1, count))
    weights, middle = _middle(observed, errors, between)
    middle += rng.normal(size=(count, 1)) / np.sqrt(weights.sum(axis=1, keepdims=True))
    shares = between[:, None] * weights
    around = np.sqrt(shares * errors) * rng.normal(size=errors.shape)
    return np.asarray(middle + shares * (observed - middle) + around)


def _between(
    observed: NDArray[np.float64], errors: NDArray[np.float64], wanted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the τ² with Q(τ²) = `wanted`, (B,); 0 where Q is smaller everywhere."""
    low = np.zeros(len(wanted))
    high = ((observed - observed.mean()) ** 2).sum() / wanted  # there Q is smaller, even without errors
    for _ in range(HALVINGS):
        between = (low + high) / 2
        weights, middle = _middle(observed, errors, between)
        larger = (weights * (observed - middle) ** 2).sum(axis=1) > wanted
        low, high = np.where(larger, between, low), np.where(larger, high, between)
    return np.where(low > 0, (low + high) / 2, 0)


def _middle(
    observed: NDArray[np.float64], errors: NDArray[np.float64], between: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights 1 / (τ² + e), (B, S), and m̂, (B, 1)."""
    weights = 1 / (between[:, None] + errors)
    return weights, (weights * observed).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
