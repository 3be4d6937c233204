"""Fit linear mixed models with one random intercept, random effects of runs, and shrunken means.

y = X β + u_group + e, with u ~ N(0, U) and e ~ N(0, E), all independent. With the ratio λ = U / E, the
covariance of a group of n rows is E (I + λ 11ᵀ), and its inverse is (I - λ / (1 + nλ) 11ᵀ) / E. So the
likelihood only needs XᵀX, Xᵀy and the sums of X and y within each group. β and E have closed forms given λ,
so the search is only over λ.

Sources: Patterson and Thompson, *Recovery of inter-block information when block sizes are unequal*,
Biometrika 58, 1971 (REML); Pinheiro and Bates, *Mixed-Effects Models in S and S-PLUS*, 2000, section 2.2
(profiled likelihood); Searle, Casella and McCulloch, *Variance Components*, 1992, chapter 6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, gammainc, gammaincinv

# True means vary around their mean with variance τ², and errors have variance e. So observed means have the
# variance τ² + e, and ρ = τ² / (τ² + e) is the true share. S means are observed, with variance v. Prior of
# ρ: with probability 1/2 the means do not differ (ρ = 0), otherwise ρ is uniform on 0 to 1. With q = (S - 1)
# v / e, (1 - ρ) q has a χ² distribution with S - 1 degrees of freedom. The posterior density of ρ is then
# proportional to (1 - ρ)^((S - 1) / 2) · exp(-(1 - ρ) q / 2), so 1 - ρ is drawn from a gamma distribution
# truncated at 1.
#
# Sources: Gelman et al., *Bayesian Data Analysis*, 3rd edition, section 5.4 (means with known errors); prior
# probability 1/2 of no difference: Jeffreys, *Theory of Probability*, 3rd edition, 1961, chapter 5. q is
# limited to this range; beyond it, none or all of the variance is true.
SMALLEST_Q, LARGEST_Q = 1e-6, 1e6


def shares_if_any(
    observed: NDArray[np.float64], error_variance: float, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return draws of ρ, (count, 1), from 0 to 1, for means that may not differ.

    Args:
        observed: (S,), at least two.
        error_variance: error variance of one observed mean.
        count: number of draws.
        rng: source of the draws.
    """
    freedom = len(observed) - 1
    seen = freedom * float(observed.var(ddof=1))
    half = max(seen / max(error_variance, seen / LARGEST_Q, TINY), SMALLEST_Q) / 2
    shape = (freedom + 2) / 2
    within = gammainc(shape, half)
    some = gamma(shape) * half**-shape * within  # integral of the density over ρ > 0
    rest = gammaincinv(shape, rng.random(count) * within) / half
    none = rng.random(count) * (np.exp(-half) + some) < np.exp(-half)
    return np.where(none, 0.0, np.clip(1 - rest, 0, 1))[:, None]


def shrunk(observed: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the observed means shrunken towards their mean, (count, S), a row for each share."""
    middle = observed.mean()
    return np.asarray(middle + shares * (observed - middle))


# Draws of true means. S means x are observed, with error variances e (S,). True means vary around m with
# variance τ². For any m, Q(τ²) = Σ (x - m̂)² / (τ² + e) has a χ² distribution with S - 1 degrees of freedom,
# where m̂ is the mean of x weighted by 1 / (τ² + e). Q falls as τ² grows. So draw a value of Q from that
# distribution; the τ² with this Q is a draw of τ² (0 if Q is smaller even at 0). Given τ², m is normal around
# m̂ with variance 1 / Σ 1 / (τ² + e), and a true mean is normal around m + ρ (x - m) with variance ρ e, where
# ρ = τ² / (τ² + e).
#
# τ² cannot be below 0, so if it is small, these draws are too large on average. *Cautious* draws use S + 1
# degrees of freedom, which corresponds to a uniform prior of ρ on 0 to 1.
#
# Source: Nagashima, Noma and Furukawa, *Prediction intervals for random-effects meta-analysis: a confidence
# distribution approach*, Statistical Methods in Medical Research 28, 2019 (τ² and m); Gelman et al.,
# *Bayesian Data Analysis*, 3rd edition, section 5.4 (true means, given both); Strawderman, *Proper Bayes
# minimax estimators of the multivariate normal mean*, Annals of Mathematical Statistics 42, 1971 (uniform ρ).
TINY = np.finfo(np.float64).tiny
# If errors are a smaller share of the observed variance, all of it counts as true.
LEAST_SHARE = 1e-12
# Number of bisections of the interval that contains τ²: they reduce it to 10⁻¹² of its width.
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
        error_variances: (B, S), error variances of the observed means; they may be draws too.
        rng: source of the draws.
        cautious: draw τ² with S + 1 degrees of freedom.
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
    """Return the τ² with Q(τ²) = `wanted`, (B,); 0 if Q is smaller everywhere."""
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


# The search for λ is between these powers of e, and at 0.
LOWEST_LOG_RATIO, HIGHEST_LOG_RATIO = -14.0, 14.0
GRID = 57
GOLDEN = (math.sqrt(5) - 1) / 2
GOLDEN_STEPS = 40
# A column is linearly dependent on those before it if at most this share of its square is left.
DEPENDENT = 1e-9


@dataclass(frozen=True)
class MixedModel:
    """A fitted model with P fixed effects.

    Attributes:
        estimates: (P,), β.
        covariance: (P, P), of the estimates, given the estimated variances.
        kept: (P,), whether a column is linearly independent of those before it; dependent columns are left
            out of the model, with 0 as estimate and covariance.
        group_variance: U, at least 0.
        residual_variance: E.
        log_likelihood: the restricted one, at the estimates; ∞ if the fixed effects fit every row exactly.
    """

    estimates: NDArray[np.float64]
    covariance: NDArray[np.float64]
    kept: NDArray[np.bool_]
    group_variance: float
    residual_variance: float
    log_likelihood: float

    def whitened(self, columns: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
        """Transform `columns`, (rows, C), so that rows of the model are independent with equal variance.

        The inverse root of I + λ 11ᵀ is I - s 11ᵀ / n with s = 1 - 1 / √(1 + nλ). Least squares of the
        transformed rows gives the estimates of the model.

        Args:
            columns: columns of the fitted design or response.
            groups: (rows,), the groups of the fit.
        """
        if self.group_variance == 0:
            return columns
        sizes = np.maximum(np.bincount(groups), 1)
        taken = (1 - 1 / np.sqrt(1 + sizes * self.group_variance / self.residual_variance)) / sizes
        sums = np.column_stack([np.bincount(groups, weights=column) for column in columns.T])
        return np.asarray(columns - (taken[:, None] * sums)[groups])

    def spread(self, kept: NDArray[np.bool_]) -> "MixedModel":
        """Return the same model with zeros for the columns that were left out."""
        estimates, covariance = np.zeros(len(kept)), np.zeros((len(kept), len(kept)))
        estimates[kept] = self.estimates
        covariance[np.ix_(kept, kept)] = self.covariance
        return replace(self, estimates=estimates, covariance=covariance, kept=kept)


def fit_random_intercept(
    design: NDArray[np.float64], response: NDArray[np.float64], groups: NDArray[np.intp]
) -> MixedModel | None:
    """Fit the model by REML. Time and memory are linear in the rows.

    Args:
        design: (rows, P).
        response: (rows,), finite.
        groups: (rows,), codes from 0; not every code need occur.

    Returns:
        None unless there are more rows than linearly independent columns.
    """
    moments = _Moments.of(design, response, groups)
    kept = _independent(moments.products[:-1, :-1])
    if len(design) <= kept.sum():
        return None
    moments = moments.only(kept)
    exact = moments.fit(0.0).residual_variance == 0
    return moments.fit(0.0 if exact else _best_ratio(moments.log_likelihood)).spread(kept)


def _independent(products: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each column of X is linearly independent of those before it, by elimination in XᵀX."""
    left, square = products, np.diag(products)
    independent = np.zeros(len(square), bool)
    for j in range(len(square)):
        if left[j, j] > DEPENDENT * square[j]:
            independent[j] = True
            left = left - np.outer(left[:, j], left[j]) / left[j, j]
    return independent


def _products(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of all pairs of columns, summed over rows."""
    # A matrix product would sum in an order that depends on the number of threads.
    return np.asarray(np.einsum("ij,ik->jk", columns, columns))


@dataclass(frozen=True)
class _Moments:
    """Sufficient statistics of the likelihood; the last of the P + 1 columns is the response.

    Attributes:
        rows: their number.
        products: (P + 1, P + 1), products of the columns, summed over rows.
        sizes: (sizes,), the different numbers of rows of a group.
        counts: (sizes,), how many groups have that size.
        group_products: (sizes, P + 1, P + 1), products of the groups' column sums, summed over the groups
            of a size.
    """

    rows: int
    products: NDArray[np.float64]
    sizes: NDArray[np.intp]
    counts: NDArray[np.intp]
    group_products: NDArray[np.float64]

    @classmethod
    def of(cls, design: NDArray[np.float64], response: NDArray[np.float64], groups: NDArray[np.intp]) -> Self:
        both = np.column_stack([design, response])
        group_sizes = np.bincount(groups)
        sums = np.column_stack([np.bincount(groups, weights=column) for column in both.T])
        sizes, counts = np.unique(group_sizes[group_sizes > 0], return_counts=True)
        group_products = [_products(sums[group_sizes == size]) for size in sizes]
        return cls(
            rows=len(both),
            products=_products(both),
            sizes=sizes,
            counts=counts,
            group_products=np.reshape(group_products, (len(sizes), *2 * (both.shape[1],))),
        )

    def only(self, kept: NDArray[np.bool_]) -> Self:
        """Return the moments of the kept columns of X and of the response."""
        both = np.flatnonzero(np.append(kept, True))
        return replace(
            self,
            products=self.products[np.ix_(both, both)],
            group_products=self.group_products[:, both[:, None], both],
        )

    def log_likelihood(self, ratio: float) -> float:
        return self.fit(ratio).log_likelihood

    def fit(self, ratio: float) -> MixedModel:
        """Return the best model among those with λ = `ratio`."""
        shrinkage = ratio / (1 + self.sizes * ratio)
        weighted = self.products - np.tensordot(shrinkage, self.group_products, axes=1)
        within, with_response = weighted[:-1, :-1], weighted[:-1, -1]
        inverse = np.linalg.inv(within)
        estimates = inverse @ with_response
        squares = weighted[-1, -1] - with_response @ estimates
        exact = squares <= DEPENDENT**2 * self.products[-1, -1]
        degrees = self.rows - len(estimates)
        variance = 0.0 if exact else float(squares) / degrees
        return MixedModel(
            estimates=estimates,
            covariance=np.asarray(variance * inverse),
            kept=np.ones(len(estimates), bool),
            group_variance=ratio * variance,
            residual_variance=variance,
            log_likelihood=math.inf if exact else self._log_likelihood(ratio, variance, within),
        )

    def _log_likelihood(self, ratio: float, variance: float, within: NDArray[np.float64]) -> float:
        degrees = self.rows - len(within)
        log_determinant = float(self.counts @ np.log1p(self.sizes * ratio))
        return -0.5 * (
            degrees * (1 + math.log(2 * math.pi * variance))
            + log_determinant
            + float(np.linalg.slogdet(within)[1])
        )


def _best_ratio(log_likelihood: Callable[[float], float]) -> float:
    """Return the λ with the highest likelihood, which may be 0: the best of a grid, then refined."""
    grid = np.linspace(LOWEST_LOG_RATIO, HIGHEST_LOG_RATIO, GRID)
    heights = [log_likelihood(math.exp(point)) for point in grid]
    best = int(np.argmax(heights))
    ratio = math.exp(_golden_section(log_likelihood, grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]))
    return ratio if log_likelihood(ratio) > log_likelihood(0.0) else 0.0


def _golden_section(log_likelihood: Callable[[float], float], low: float, high: float) -> float:
    """Return the x between `low` and `high` for which the likelihood of λ = e^x is highest.

    `scipy.optimize` has this too, but its import takes 0.9 s of processor time, while a report on the
    terminal takes 2.4 s in all.

    Source: Kiefer, *Sequential minimax search for a maximum*, Proceedings of the AMS 4, 1953.
    """
    for _ in range(GOLDEN_STEPS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if log_likelihood(math.exp(left)) >= log_likelihood(math.exp(right)):
            high = right
        else:
            low = left
    return (low + high) / 2
