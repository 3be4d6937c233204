"""Remove the rounding noise of floating-point sums, so that it does not break ties."""

import numpy as np
from numpy.typing import NDArray

# Real differences between ratings and their means are far larger than this decimal; the rest is noise of
# sums.
DECIMALS = 9
NOISE = 10.0**-DECIMALS


def without_noise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` rounded to 9 decimals, so that equal values are exactly equal."""
    return np.asarray(np.round(values, DECIMALS))
