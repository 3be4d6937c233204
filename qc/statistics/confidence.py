"""The level of every interval that is reported, and intervals of estimates with a standard error."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

LEVEL = 0.95


def t_interval(
    estimates: NDArray[np.float64], errors: NDArray[np.float64], degrees: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds estimate ± t · error, with the quantile of Student's t that LEVEL asks for.

    Args:
        estimates: (…,).
        errors: (…,), their standard errors; NaN gives NaN bounds.
        degrees: of freedom; below 1 there are no bounds, all are NaN.
    """
    quantile = stdtrit(degrees, (1 + LEVEL) / 2) if degrees > 0 else np.nan
    return estimates - quantile * errors, estimates + quantile * errors
