"""Cohen's κ of two ratings of the same things on a continuous scale, cut into categories.

Source: Cohen, *A coefficient of agreement for nominal scales*, Educational and Psychological Measurement 20
(1960) 37-46; the cut of the scale: Ji, PhD thesis, chapter 3.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement on `categories` categories over `pairs` pairs.

    Attributes:
        categories: how many equal parts the scale is cut into.
        pairs: number of pairs.
        observed: share of the pairs that fall into one category.
        expected: that share if both ratings were drawn independently, each from its own distribution.
        kappa: (observed - expected) / (1 - expected); NaN without a pair, and where everything falls into one
            category, so that chance alone agrees always.
    """

    categories: int
    pairs: int
    observed: float
    expected: float
    kappa: float


def category(values: NDArray[np.float64], maximum: float, categories: int) -> NDArray[np.intp]:
    """Return the category of each value on a scale from 0 to `maximum`: min(⌊v n / maximum + 1⌋, n)."""
    parts = np.floor(values * categories / maximum + 1)
    return np.minimum(parts, categories).astype(np.intp)


def kappa(first: NDArray[np.float64], second: NDArray[np.float64], maximum: float, categories: int) -> Kappa:
    """Return κ of the pairs (first, second), both (pairs,), on a scale from 0 to `maximum`."""
    pairs = len(first)
    if pairs == 0:
        return Kappa(categories, 0, float("nan"), float("nan"), float("nan"))
    one, other = (category(values, maximum, categories) for values in (first, second))
    shares = [np.bincount(each, minlength=categories + 1) / pairs for each in (one, other)]
    observed, expected = float((one == other).mean()), float(shares[0] @ shares[1])
    return Kappa(categories, pairs, observed, expected, beyond_chance(observed, expected))


def beyond_chance(observed: float, expected: float) -> float:
    """Return κ of the shares of pairs that agree, observed and expected; NaN if chance always agrees."""
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")
