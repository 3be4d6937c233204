"""Resample whole units (workers): draws, halves, wild bootstrap; one generator for each purpose.

A unit is drawn with all its contributions. Each unit's sums are computed once. The sums of a draw are then a
product of two matrices: how often each unit was drawn × its contributions.

The matrix library chooses the order of summation, which may differ with the number of threads. `exact` makes
every order give the same bits, so results depend only on the seed.

**Wild bootstrap.** A mean is a ratio over the workers, Σ sums / Σ counts. Worker w moves it by u = (sum −
count · mean) / Σ counts, and has the share h = count / Σ counts of it. A draw gives every worker's u a random
sign ξ (+ or −). The mean then moves by D = Σ ξu, the residual of a worker is ξu − Dh, and the variance within
the draw is

    V* = Σ (ξu − Dh)² = Σ u² − 2D Σ ξuh + D² Σ h²

t* = D / √V* has approximately the distribution of the true t. Each worker has one sign, so the draws keep the
dependence between a worker's conversations and systems. The difference of two means is drawn in the same way.

The standard error of t itself is √(Σ u² / (1 − h)). The factor corrects that a mean is closer to a worker
with a large share of it, which makes Σ u² alone too small. The draws do not use the factor, so intervals are
a little wider if few workers rated. `benchmarks/qc_truth.py` shows that this gives the right coverage, and
that narrower intervals would have too little.

If a few of many workers gave most of the values, the draws contain too little information: a worker with most
of a mean hardly differs from it. The effective number of workers is 1 / Σ h²; it equals the number of workers
if all have the same share. `benchmarks/qc_truth.py --part uneven` prints the coverage of 95 % intervals in
this case. An effective number of UNEVEN or less of the workers is uneven; below FEWEST_EFFECTIVE there must
be no interval.

Sources: Cameron, Gelbach and Miller, *Bootstrap-based improvements for inference with clustered errors*,
Review of Economics and Statistics 90, 2008 (wild cluster bootstrap-t, signs); Bell and McCaffrey, *Bias
reduction in standard errors for linear regression with multi-stage samples*, Survey Methodology 28, 2002 (1
/ (1 − h)); Kish, *Survey Sampling*, 1965, section 11.7 (effective number).
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for `purpose`; the same seed and purpose always give the same draws."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


# Size of a block of draws × units: a block that fits into the processor's cache is filled and multiplied
# faster.
BLOCK_CELLS = 2**18
# With many units a block has more cells, so that not every draw reads all contributions again.
FEWEST_DRAWS = 64
# Integers up to 2^53 are exact in float64; one bit is left for the rounding in `exact`.
EXACT_BITS = 52


def unit_sums(
    values: NDArray[np.float64], units: NDArray[np.intp], groups: NDArray[np.intp], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the sum of the values of each unit in each group.

    Args:
        values: (rows, columns); rows are summed in their order, which must be fixed.
        units: (rows,), codes from 0.
        groups: (rows,), codes from 0.
        shape: number of units, number of groups.

    Returns:
        (units, groups, columns); 0 if a unit has no value in a group.
    """
    cells = units * shape[1] + groups
    sums = np.empty((shape[0] * shape[1], values.shape[1]))
    for column in range(values.shape[1]):
        sums[:, column] = np.bincount(cells, weights=values[:, column], minlength=len(sums))
    return sums.reshape(*shape, values.shape[1])


def exact(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `sums` rounded so that sums of up to as many rows as it has are exact.

    Every column becomes integer multiples of a power of two. The power is small enough that no value changes
    by more than 2^-52 × (number of rows) × (largest absolute value of its column). It is large enough that
    the sum of any rows, with repetitions, up to the number of rows, is a multiple below 2^53.

    Args:
        sums: (units, columns).
    """
    largest = np.abs(sums).max(axis=0, initial=0)
    _, exponent = np.frexp(largest * len(sums))
    scale = np.ldexp(1.0, np.minimum(EXACT_BITS - exponent, 1000))  # 2^1024 would be infinite
    rounded: NDArray[np.float64] = sums * scale
    np.rint(rounded, out=rounded)
    rounded /= scale
    return rounded


def bootstrap_sums(sums: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the sums of `count` bootstrap draws of units, with replacement.

    Source: Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 6; draws of whole units:
    Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8.

    Args:
        sums: (units, columns).
        count: number of draws.
        rng: source of the draws.

    Returns:
        (count, columns).
    """
    units = len(sums)

    def times_drawn() -> NDArray[np.intp]:
        return np.bincount(rng.integers(units, size=units), minlength=units)

    return _drawn_sums(sums, count, times_drawn)


def half_sums(
    sums: NDArray[np.float64], count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of both halves in `count` random splits of the units.

    Args:
        sums: (units, columns).
        count: number of independent splits.
        rng: source of the draws.

    Returns:
        Two arrays (count, columns); with an odd number of units the second half has one more.
    """
    units = len(sums)

    def in_first() -> NDArray[np.bool_]:
        chosen = np.zeros(units, bool)
        if units > 1:
            chosen[np.argpartition(rng.random(units), units // 2)[: units // 2]] = True
        return chosen

    first = _drawn_sums(sums, count, in_first)
    return first, exact(sums).sum(axis=0) - first


def signed_sums(
    sums: NDArray[np.float64], count: int, rng: np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield, block by block, the sums of all units with random signs.

    Args:
        sums: (units, columns).
        count: number of draws.
        rng: source of the signs.

    Yields:
        The slice of the draws, and their sums, (draws, columns); the array is reused for the next block.
    """
    units = len(sums)

    def signs(block: NDArray[np.float64]) -> None:
        # Random bytes come four at a time, so rows are padded to multiples of four: the draws are then the
        # same as with one call for each draw.
        drawn = rng.integers(0, 2, size=(len(block), -(-units // 4) * 4), dtype=np.int8)
        np.subtract(2 * drawn[:, :units], 1, out=block, dtype=np.float64)

    yield from _blocks(sums, count, signs)


def _drawn_sums(
    sums: NDArray[np.float64], count: int, weights: Callable[[], NDArray[np.generic]]
) -> NDArray[np.float64]:
    """Return weighted sums of the units, (count, columns); `weights` returns a draw's weights, (units,)."""

    def fill(block: NDArray[np.float64]) -> None:
        for row in block:
            row[:] = weights()

    drawn = np.empty((count, sums.shape[1]))
    for rows, block in _blocks(sums, count, fill):
        drawn[rows] = block
    return drawn


def _blocks(
    sums: NDArray[np.float64], count: int, fill: Callable[[NDArray[np.float64]], None]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield the rows of `_drawn_sums` in blocks; `fill` writes the weights of draws, (draws, units)."""
    units, columns = sums.shape
    terms = exact(sums)
    size = max(1, min(count, max(FEWEST_DRAWS, BLOCK_CELLS // max(units, columns, 1))))
    block, drawn = np.empty((size, units)), np.zeros((size, columns))
    for start in range(0, count, size):
        rows = min(size, count - start)
        if units:
            fill(block[:rows])
        # One thread: on busy cores, two threads of the matrix library were 40 times slower than one.
        with one_thread():
            np.matmul(block[:rows], terms, out=drawn[:rows])
        yield slice(start, start + rows), drawn[:rows]


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which the matrix library uses one thread."""
    limited: AbstractContextManager[object] = _matrix_libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _matrix_libraries() -> ThreadpoolController:
    """Return the libraries that NumPy has loaded. To look for them takes longer than a small product."""
    return ThreadpoolController()


def percentile_interval(
    draws: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of the middle `level` of the draws, without NaN draws.

    Percentiles are interpolated linearly, as NumPy's default does.

    Source: Efron and Tibshirani, 1993, section 13.3 (percentile interval).

    Args:
        draws: (draws, …).
        level: share of the draws within the bounds, for example 0.95.

    Returns:
        Two arrays of the shape of one draw; NaN if every draw is NaN.
    """
    ordered = np.sort(draws, axis=0)  # NaN comes last
    last = np.count_nonzero(~np.isnan(draws), axis=0) - 1
    low, high = (_interpolated(ordered, last, share) for share in ((1 - level) / 2, (1 + level) / 2))
    return low, high


def upper_quantile(draws: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return, for each column, the value that another draw does not exceed with probability at least `level`.

    With B draws this is the ⌈level (B + 1)⌉-th smallest.

    Source: Davison and Hinkley, 1997, section 4.2.5 (a test by Monte Carlo at an exact level).

    Args:
        draws: (draws, …), none of them NaN.
        level: for example 0.95.
    """
    row = min(int(np.ceil(level * (len(draws) + 1))), len(draws)) - 1
    return np.asarray(np.partition(draws, row, axis=0)[row])


def _interpolated(ordered: NDArray[np.float64], last: NDArray[np.intp], share: float) -> NDArray[np.float64]:
    """Return the value at `share` of the way from row 0 to row `last` of each column."""
    if len(ordered) == 0:
        return np.full(ordered.shape[1:], np.nan)
    row = share * np.maximum(last, 0)
    below = np.floor(row).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(last, 0))
    lower, upper = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
    return np.asarray(lower + (row - below) * (upper - lower))


# If no worker has a larger share, V* is computed as Σ u². This changes a t* of 4 by a few thousandths, while
# with 10,000 draws its quantiles are uncertain by a hundredth.
SMALL_SHARE = 1e-4
# A draw with at most this share of the run's variance has only rounding noise.
NOTHING = 1e-12
# Raters rarely have equal numbers of ratings. If each did one assignment, and some a second by chance, the
# effective number is four fifths of their number or more.
UNEVEN = 0.7
FEWEST_EFFECTIVE = 8


@dataclass(frozen=True)
class Influences:
    """Contributions of W workers to V means of each of S systems.

    Attributes:
        mean: (S, V); NaN if a system has no rater.
        u: (W, S, V); 0 for a system without a rater.
        h: (W, S), from 0 to 1.
        raters: (S,), number of workers who rated the system.
    """

    mean: NDArray[np.float64]
    u: NDArray[np.float64]
    h: NDArray[np.float64]
    raters: NDArray[np.intp]

    def standard_errors(self) -> NDArray[np.float64]:
        """Return the standard errors of the means, (S, V)."""
        return np.asarray(np.sqrt((self.u**2 / self._left()[..., None]).sum(axis=0)))

    def standard_errors_of_differences(self) -> NDArray[np.float64]:
        """Return the standard errors of the differences of the systems' first means, (S, S)."""
        first = self.u[..., 0] / np.sqrt(self._left())
        products = np.einsum("wi,wj->ij", first, first)
        squares = products.diagonal()
        return np.asarray(np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0)))

    def effective(self) -> NDArray[np.float64]:
        """Return the effective number of raters of each system, (S,); 0 without raters."""
        return effective_number(self.h)

    def carried_by_fewer_than(self, number: float) -> NDArray[np.bool_]:
        """Return whether a system has uneven raters and fewer than `number` effective ones, (S,)."""
        return carried_by_fewer_than(number, self.h)

    def _left(self) -> NDArray[np.float64]:
        """Return 1 − h, (W, S); 1 for a worker alone, whose u is 0."""
        return np.where(self.h < 1, 1 - self.h, 1)


def effective_number(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / Σ h² from (W, …) shares of workers; 0 if all are 0."""
    squares = (shares**2).sum(axis=0)
    return np.asarray(np.where(squares > 0, 1 / np.where(squares > 0, squares, 1), 0))


def carried_by_fewer_than(number: float, shares: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether the (W, …) shares are uneven, with an effective number of workers below `number`."""
    worth = effective_number(shares)
    return np.asarray((worth < number) & (worth < UNEVEN * np.count_nonzero(shares, axis=0)))


@dataclass(frozen=True)
class WildDraws:
    """t* in B draws; infinite if a draw moves without variance, 0 if nothing moves.

    Attributes:
        moved: (B, S), D of the systems' first means.
        t: (B, S, V), t* of the means.
        pairs: (B, S (S - 1) / 2), |t*| of the differences of first means, pairs in the order of
            `numpy.triu_indices(S, 1)`.
    """

    moved: NDArray[np.float64]
    t: NDArray[np.float64]
    pairs: NDArray[np.float64]


def influences(sums: NDArray[np.float64]) -> Influences:
    """Return the influences from (W, S, 1 + V) counts, then sums of the values."""
    counts = sums[..., 0]
    of_system = counts.sum(axis=0)
    whole = np.where(of_system > 0, of_system, np.nan)
    mean = sums[..., 1:].sum(axis=0) / whole[:, None]
    u = (sums[..., 1:] - counts[..., None] * mean) / whole[:, None]
    return Influences(mean, np.nan_to_num(u), np.nan_to_num(counts / whole), np.count_nonzero(counts, axis=0))


def wild_draws(found: Influences, count: int, rng: np.random.Generator) -> WildDraws:
    """Return `count` draws; the same generator gives exactly the same draws on any number of processors."""
    if found.h.max(initial=0) <= SMALL_SHARE:
        return _draws_of_small_shares(found.u, count, rng)
    u, h = found.u, found.h
    workers, systems, values = u.shape
    means = systems * values
    terms = np.concatenate(
        [
            u.reshape(workers, means),
            (u * h[..., None]).reshape(workers, means),
            (u[..., 0][:, :, None] * h[:, None, :]).reshape(workers, systems**2),
        ],
        axis=1,
    )
    variance, leverage = (u**2).sum(axis=0), np.einsum("wi,wj->ij", h, h)
    products = np.einsum("wi,wj->ij", u[..., 0], u[..., 0])
    rows, columns = np.triu_indices(systems, 1)
    moved = np.empty((count, systems))
    t, pairs = np.empty((count, systems, values)), np.empty((count, len(rows)))
    for draws, block in signed_sums(terms, count, rng):
        of_means, with_h, crossed = np.split(block, [means, 2 * means], axis=1)
        d, b = (part.reshape(-1, systems, values) for part in (of_means, with_h))
        t[draws] = _ratio(d, variance - 2 * d * b + d**2 * leverage.diagonal()[:, None], variance)
        first, crossed = d[..., 0], crossed.reshape(-1, systems, systems)
        covariance = _covariance(products, crossed, first, leverage)
        own = np.diagonal(covariance, axis1=1, axis2=2)
        within = own[:, rows] + own[:, columns] - 2 * covariance[:, rows, columns]
        pairs[draws] = np.abs(_ratio(first[:, rows] - first[:, columns], within, _of_differences(products)))
        moved[draws] = first
    return WildDraws(moved, t, pairs)


def _draws_of_small_shares(u: NDArray[np.float64], count: int, rng: np.random.Generator) -> WildDraws:
    """Return draws with all variances Σ u²; this skips the sums with h, the slowest part for many workers."""
    workers, systems, values = u.shape
    variance, products = (u**2).sum(axis=0), np.einsum("wi,wj->ij", u[..., 0], u[..., 0])
    rows, columns = np.triu_indices(systems, 1)
    whole = _of_differences(products)
    moved = np.empty((count, systems))
    t, pairs = np.empty((count, systems, values)), np.empty((count, len(rows)))
    for draws, block in signed_sums(u.reshape(workers, systems * values), count, rng):
        d = block.reshape(-1, systems, values)
        moved[draws] = d[..., 0]
        t[draws] = _ratio(d, variance, variance)
        pairs[draws] = np.abs(_ratio(d[:, rows, 0] - d[:, columns, 0], whole, whole))
    return WildDraws(moved, t, pairs)


def _of_differences(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ (uᵢ − uⱼ)² of all pairs from Σ uᵢuⱼ, (S, S)."""
    rows, columns = np.triu_indices(len(products), 1)
    squares = products.diagonal()
    # Rounding may leave a sum of squares below 0 where all differences are 0.
    return np.maximum(squares[rows] + squares[columns] - 2 * products[rows, columns], 0)


def _covariance(
    products: NDArray[np.float64],
    crossed: NDArray[np.float64],
    moved: NDArray[np.float64],
    leverage: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return Σ (ξuᵢ − Dᵢhᵢ)(ξuⱼ − Dⱼhⱼ) of each draw, (B, S, S); `crossed` is Σ ξuᵢhⱼ."""
    mixed = crossed * moved[:, None, :]
    return np.asarray(
        products - mixed - mixed.swapaxes(1, 2) + moved[:, :, None] * moved[:, None, :] * leverage
    )


def _ratio(
    moved: NDArray[np.float64], variance: NDArray[np.float64], of_run: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return D / √V*; `of_run` is Σ u², to detect rounding noise in V*."""
    varies = variance > NOTHING * of_run
    ratio = moved / np.sqrt(np.where(varies, variance, 1))
    still = np.abs(moved) <= np.sqrt(NOTHING * of_run)
    return np.where(varies, ratio, np.where(still, 0.0, np.copysign(np.inf, moved)))
