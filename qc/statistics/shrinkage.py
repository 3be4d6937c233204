"""Estimate the true part of differences between observed means with errors of known variance.

With true means that vary around their mean with variance τ² and errors of variance e, observed means vary
with variance τ² + e, of which ρ is the true share. Observed are S of them, with variance v. The
draws begin with a belief: as likely as not the means do not differ at all, ρ = 0, and otherwise every ρ from
0 to 1 is as likely. With q = (S - 1) v / e, of which (1 - ρ) q has a χ² distribution of S - 1 degrees of
freedom, ρ then has a density in proportion to (1 - ρ)^((S - 1) / 2) · exp(-(1 - ρ) q / 2): 1 - ρ is a draw
from a gamma distribution, cut off at 1.

Sources: Gelman et al., *Bayesian Data Analysis*, 3rd edition, section 5.4 (means with known errors); half of
the belief on no difference: Jeffreys, *Theory of Probability*, 3rd edition, 1961, chapter 5.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, gammainc, gammaincinv

TINY = np.finfo(np.float64).tiny
# Beyond these q says no more than that nothing, or everything, is true difference.
SMALLEST_Q, LARGEST_Q = 1e-6, 1e6


def shares_if_any(
    observed: NDArray[np.float64], error_variance: float, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return draws of ρ, (count, 1), from 0 to 1, of means that may not differ.

    Args:
        observed: (S,), at least two.
        error_variance: of one observed mean.
        count: number of draws.
        rng: source of the draws.
    """
    freedom = len(observed) - 1
    seen = freedom * float(observed.var(ddof=1))
    half = max(seen / max(error_variance, seen / LARGEST_Q, TINY), SMALLEST_Q) / 2
    shape = (freedom + 2) / 2
    within = gammainc(shape, half)
    some = gamma(shape) * half**-shape * within  # the integral of the density, where it is not that of ρ = 0
    rest = gammaincinv(shape, rng.random(count) * within) / half
    none = rng.random(count) * (np.exp(-half) + some) < np.exp(-half)
    return np.where(none, 0.0, np.clip(1 - rest, 0, 1))[:, None]


def shrunk(observed: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the observed means drawn towards their mean, (count, S), a row for each of the shares."""
    middle = observed.mean()
    return np.asarray(middle + shares * (observed - middle))
