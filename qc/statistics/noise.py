"""Keep rounding noise of floating-point sums from deciding ties."""

import numpy as np
from numpy.typing import NDArray

# Ratings and their means are told apart far above this decimal; what lies below is noise of sums.
DECIMALS = 9
NOISE = 10.0**-DECIMALS


def without_noise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` rounded to 9 decimals, so that the data tell whether two are tied."""
    return np.asarray(np.round(values, DECIMALS))
