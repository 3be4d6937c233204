"""Coefficients of correlation (Pearson's r, Spearman's ρ, Kendall's τ-b) and agreement (Cohen's κ).

Rounding noise is removed first (`qc.statistics.confidence`): scores are means, and noise of their sums must
neither break a tie nor produce a correlation of constant scores.

Pearson's and Spearman's coefficients are from pandas. Kendall's is our own, because pandas uses
`scipy.stats`: its import takes 1.5 s of processor time, while `python -m qc.report --help` takes 2.5 s in
all.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from qc.statistics.confidence import NOISE, without_noise


# Source: Cohen, *A coefficient of agreement for nominal scales*, Educational and Psychological Measurement 20
# (1960) 37-46; the cut of the scale: Ji, PhD thesis, chapter 3.
@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement on `categories` categories over `pairs` pairs.

    Attributes:
        categories: number of equal parts of the scale.
        pairs: number of pairs.
        observed: share of the pairs in the same category.
        expected: the same share if both ratings were drawn independently, each from its own distribution.
        kappa: (observed - expected) / (1 - expected); NaN without pairs, or if all ratings are in one
            category, so that chance always agrees.
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


FEWEST_POINTS = 3
# Beyond this, 1 - |r| is rounding noise.
LARGEST_R = 1 - NOISE

Method = Literal["pearson", "spearman"]
RankMethod = Literal["spearman", "kendall"]


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Pearson's r of the points (x, y).

    Args:
        x: (n,); a point with NaN in `x` or `y` is left out.
        y: (n,).

    Returns:
        -1 to 1; NaN with fewer than 3 points, or if `x` or `y` does not vary.
    """
    return float(correlation_matrix(np.column_stack([x, y]), "pearson")[0, 1])


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's ρ, Pearson's r of the midranks; arguments and NaN as for `pearson`."""
    return float(correlation_matrix(np.column_stack([x, y]), "spearman")[0, 1])


def kendall(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Kendall's τ-b; arguments and NaN as for `pearson`. Quadratic in the number of points.

    Source: Kendall, *Rank Correlation Methods*, 1948, chapter 3 (ties).
    """
    there = ~(np.isnan(x) | np.isnan(y))
    if there.sum() < FEWEST_POINTS:
        return float("nan")
    points = without_noise(np.stack([x[there], y[there]]))
    sx, sy = np.sign(points[:, :, None] - points[:, None, :])
    # A pair that is tied in x or in y counts in only one of the two sums; if a sum is 0, τ is NaN.
    untied = float((sx * sx).sum() * (sy * sy).sum())
    return float((sx * sy).sum() / np.sqrt(untied)) if untied else float("nan")


@dataclass(frozen=True, slots=True)
class CorrelationInterval:
    """Ends of the interval of a coefficient, from -1 to 1; NaN if unknown."""

    low: float
    high: float


def interval_of_r(r: float, n: int, level: float) -> CorrelationInterval:
    """Return the interval of Pearson's r of n points, by Fisher's transformation: atanh r ± q / √(n - 3).

    The points are assumed to come from a bivariate normal distribution.

    Source: Fisher, *On the "Probable Error" of a Coefficient of Correlation Deduced from a Small Sample*,
    Metron 1 (1921) 3-32.

    Returns:
        NaN if r is NaN, or with fewer than 4 points.
    """
    if np.isnan(r) or n <= FEWEST_POINTS:
        return CorrelationInterval(float("nan"), float("nan"))
    half = ndtri((1 + level) / 2) / np.sqrt(n - FEWEST_POINTS)
    middle = np.arctanh(np.clip(r, -LARGEST_R, LARGEST_R))
    return CorrelationInterval(float(np.tanh(middle - half)), float(np.tanh(middle + half)))


def interval_of_rank_correlation(
    name: RankMethod, value: float, of_r: CorrelationInterval
) -> CorrelationInterval:
    """Return the interval of Spearman's ρ or Kendall's τ, converted from that of Pearson's r.

    Points from a bivariate normal distribution have ρ = 6/π · arcsin(r/2) and τ = 2/π · arcsin r. So the ends
    of the interval of r are converted by these formulas; if `value` lies outside, that end is `value`. With
    Fisher's transformation of ρ or τ itself, intervals are far too narrow if few points are nearly in order.

    Source: Kruskal, *Ordinal Measures of Association*, Journal of the American Statistical Association 53
    (1958) 814-861.
    """
    ends = np.array([of_r.low, of_r.high])
    low, high = 6 / np.pi * np.arcsin(ends / 2) if name == "spearman" else 2 / np.pi * np.arcsin(ends)
    return CorrelationInterval(float(np.minimum(low, value)), float(np.maximum(high, value)))


def correlation_matrix(columns: NDArray[np.float64], method: Method) -> NDArray[np.float64]:
    """Return the correlation of every two columns.

    Args:
        columns: (n, K); a row with NaN in one of two columns is left out of their correlation.
        method: the coefficient.

    Returns:
        (K, K), symmetric; the diagonal is 1, or NaN if a column does not vary or has too few points.
    """
    table = pd.DataFrame(without_noise(columns))
    return table.corr(method, min_periods=FEWEST_POINTS).to_numpy(np.float64)


def pearson_of_rows(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pearson's r of each row of one array with the same row of the other.

    Args:
        first: (…, n); a column with NaN in either row is left out.
        second: (…, n), or an array that can be broadcast with `first`.

    Returns:
        (…,); NaN if fewer than 3 columns are left, or one of the rows does not vary.
    """
    both = np.isfinite(first) & np.isfinite(second)
    a, b = (row_deviations(values, both) for values in (first, second))
    lengths = np.sqrt((a * a).sum(axis=-1)), np.sqrt((b * b).sum(axis=-1))
    defined = (both.sum(axis=-1) >= FEWEST_POINTS) & (np.minimum(*lengths) > NOISE)
    r = (a * b).sum(axis=-1) / np.where(defined, lengths[0] * lengths[1], np.nan)
    return np.asarray(np.clip(r, -1, 1))


def row_deviations(values: NDArray[np.float64], taking_part: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the deviations, (…, n), from the mean of the values taking part in each row; 0 for others."""
    present = np.where(taking_part, values, 0)
    count = np.maximum(taking_part.sum(axis=-1, keepdims=True), 1)
    return np.where(taking_part, present - present.sum(axis=-1, keepdims=True) / count, 0)
