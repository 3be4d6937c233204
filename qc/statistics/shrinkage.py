"""How much of the differences between observed means is true, when each has an error of known variance.

With true means that vary around their mean with variance τ² and errors of variance e, observed means vary
with variance τ² + e. Observed are S of them, with variance v; draws of (S - 1) v / χ²(S - 1) say how large
τ² + e can be, and ρ* = max(0, 1 - e / draw) how large the true share in it.

Source: Gelman et al., *Bayesian Data Analysis*, 3rd edition, section 5.4 (means with known errors).
"""

import numpy as np
from numpy.typing import NDArray

TINY = np.finfo(np.float64).tiny


def true_shares(
    observed: NDArray[np.float64], error_variance: float, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return draws of ρ*, (count, 1), each from 0 to 1.

    Args:
        observed: (S,), at least two.
        error_variance: of one observed mean.
        count: number of draws.
        rng: source of the draws.
    """
    freedom = len(observed) - 1
    variance = freedom * observed.var(ddof=1) / rng.chisquare(freedom, count)
    return np.asarray(np.maximum(variance - error_variance, 0) / np.maximum(variance, TINY))[:, None]


def shrunk(observed: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the observed means drawn towards their mean, (count, S), a row for each of the shares."""
    middle = observed.mean()
    return np.asarray(middle + shares * (observed - middle))
