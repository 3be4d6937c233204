"""Wild bootstrap of means over whole workers: each worker's error gets a random sign.

A mean is a ratio over the workers, Σ sums / Σ counts. Worker w moves it by u = (sum − count · mean) / Σ
counts, and has the share h = count / Σ counts of it. A draw gives every worker's u a random sign ξ (+ or −).
The mean then moves by D = Σ ξu, the residual of a worker is ξu − Dh, and the variance within the draw is

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
be no interval; below FEW_EFFECTIVE its coverage is a little too low.

Sources: Cameron, Gelbach and Miller, *Bootstrap-based improvements for inference with clustered errors*,
Review of Economics and Statistics 90, 2008 (wild cluster bootstrap-t, signs); Bell and McCaffrey, *Bias
reduction in standard errors for linear regression with multi-stage samples*, Survey Methodology 28, 2002 (1
/ (1 − h)); Kish, *Survey Sampling*, 1965, section 11.7 (effective number).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.resampling import signed_sums

# If no worker has a larger share, V* is computed as Σ u². This changes a t* of 4 by a few thousandths, while
# with 10,000 draws its quantiles are uncertain by a hundredth.
SMALL_SHARE = 1e-4
# A draw with at most this share of the run's variance has only rounding noise.
NOTHING = 1e-12
# Raters rarely have equal numbers of ratings. If each did one assignment, and some a second by chance, the
# effective number is four fifths of their number or more.
UNEVEN = 0.7
FEWEST_EFFECTIVE = 5
FEW_EFFECTIVE = 10


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
    return np.asarray(squares[rows] + squares[columns] - 2 * products[rows, columns])


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
