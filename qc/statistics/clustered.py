"""Least squares with clustered rows, such as the conversations of a worker.

The estimates are contrasts c β of the coefficients. Their covariance is computed from the residuals of each
cluster, so it is valid for any dependence between the rows of a cluster. Residuals are smaller than errors,
mostly for clusters with much influence on the estimate. So each cluster's residuals are adjusted: the
covariance would be unbiased if rows were independent with equal variance (CR2). The uncertainty of such a
variance follows from the design: its degrees of freedom are those of the χ² with the same mean and variance,
under the same assumption (Satterthwaite's). For few clusters, or clusters of unequal size, they are far fewer
than clusters - 1.

Let Z be an orthonormal basis of the columns of the design. A contrast is then a θ with θ = Zᵀ y. With the
gram G = Zᵀ Z of a cluster's rows and their residuals e, the cluster's adjusted score is (I - G)^(-1/2) Zᵀ e.
So no matrix is larger than the number of columns. The effect of the adjustment of a cluster is proportional
to the trace of G. The traces of all clusters add up to the number of columns, so in a large run few clusters
have a relevant trace, and the time for these is bounded. All else is linear in the rows.

Sources: Bell and McCaffrey, *Bias reduction in standard errors for linear regression with multi-stage
samples*, Survey Methodology 28, 2002 (the adjustment and the degrees of freedom); Pustejovsky and Tipton,
*Small-sample methods for cluster-robust variance estimation and hypothesis testing in fixed effects models*,
Journal of Business & Economic Statistics 36, 2018 (the test of several contrasts).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import fdtrc, stdtr, stdtrit

from qc.statistics.confidence import LEVEL, NOISE
from qc.statistics.groups import distinct
from qc.statistics.resampling import one_thread

# Fewer workers do not show how much workers differ: a level with fewer has no standard error and no p.
FEWEST_CARRIERS = 10
# A column is linearly dependent if at most this share of its square is left.
DEPENDENT = 1e-9
# Largest share of the variance of an estimate that residuals may miss, because a single cluster determines
# it.
HIDDEN = 1e-6
# A cluster whose gram has a smaller trace is not adjusted: the adjustment would change an error by at most
# this share, and one over the degrees of freedom by this much.
LIGHT = 1e-3
# Numbers in a block of an array.
BLOCK_CELLS = 2**21


def carriers(levels: NDArray[np.intp], clusters: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the number of clusters with rows of each level, (count,); levels are codes from 0."""
    span = int(clusters.max(initial=0)) + 1
    return np.bincount(distinct(levels * span + clusters) // span, minlength=count)


@dataclass(frozen=True)
class Contrasts:
    """Q contrasts.

    Attributes:
        estimates: (Q,); NaN if the design does not identify the contrast.
        errors: (Q,), standard errors; NaN if the estimate is NaN, or a single cluster determines it.
        degrees: (Q,), degrees of freedom of the errors; NaN if the error is NaN.
    """

    estimates: NDArray[np.float64]
    errors: NDArray[np.float64]
    degrees: NDArray[np.float64]

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the bounds at LEVEL, both (Q,), by Student's t; NaN if `p` is NaN."""
        reach = stdtrit(self.degrees, (1 + LEVEL) / 2) * self._positive
        return self.estimates - reach, self.estimates + reach

    def p(self) -> NDArray[np.float64]:
        """Return two-sided p-values for a contrast of 0, (Q,).

        NaN if the error is NaN or 0: rows without variation do not allow a test.
        """
        return np.asarray(2 * stdtr(self.degrees, -np.abs(self.estimates) / self._positive))

    @property
    def _positive(self) -> NDArray[np.float64]:
        return np.where(self.errors > NOISE, self.errors, np.nan)


@dataclass(frozen=True)
class JointTest:
    """A test that several contrasts are all 0; `name` states its degrees of freedom. NaN if impossible."""

    name: str
    statistic: float
    p: float


class ClusteredFit:
    """A regression by least squares whose rows lie in clusters."""

    def __init__(
        self, design: NDArray[np.float64], response: NDArray[np.float64], clusters: NDArray[np.intp]
    ) -> None:
        """Fit `response`.

        Args:
            design: (rows, P); columns may be linearly dependent. Rows are summed in their order, which must
                be fixed.
            response: (rows,), finite.
            clusters: (rows,), any codes.
        """
        order = np.argsort(clusters, kind="stable")
        self._basis, self._root, self._unseen = _orthonormal(design[order])
        y = response[order]
        # A matrix product would sum in an order that depends on the number of threads.
        self._theta = np.einsum("nr,n->r", self._basis, y)
        residuals = y - np.einsum("nr,r->n", self._basis, self._theta)
        exact = np.einsum("n,n->", residuals, residuals) <= NOISE**2 * np.einsum("n,n->", y, y)
        self._residuals = np.zeros(len(y)) if exact else residuals
        self._starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))

    def contrasts(self, wanted: NDArray[np.float64]) -> Contrasts:
        """Estimate the contrasts `wanted`, (Q, P), of the coefficients."""
        directions, told = self._directions(wanted)
        length = np.sqrt(np.einsum("rq,rq->q", directions, directions))
        moments = self._moments(directions / np.where(length > 0, length, 1), one_by_one=True)
        known = told & (length > 0) & np.array([moment.shown for moment in moments], bool)
        errors = length * np.sqrt([moment.covariance[0, 0] for moment in moments])
        return Contrasts(
            estimates=np.where(told, np.einsum("r,rq->q", self._theta, directions), np.nan),
            errors=np.where(known, errors, np.nan),
            degrees=np.where(known, [moment.degrees for moment in moments], np.nan),
        )

    def test(self, wanted: NDArray[np.float64]) -> JointTest:
        """Test that all contrasts `wanted`, (Q, P), are 0; linearly dependent ones are left out.

        The test is Hotelling's T². Its distribution is approximated by that for a Wishart matrix with the
        mean and the total variance of the estimated covariance.
        """
        directions, told = self._directions(wanted)
        values, vectors = np.linalg.eigh(np.einsum("rq,rp->qp", directions, directions))
        kept = values > DEPENDENT * max(values.max(initial=0), NOISE)
        if not told.all() or not kept.any():
            return JointTest(f"F({int(kept.sum())}, 0)", np.nan, np.nan)
        unit = np.einsum("rq,qk->rk", directions, vectors[:, kept] / np.sqrt(values[kept]))
        (moments,) = self._moments(unit, one_by_one=False)
        return moments.hotelling(np.einsum("r,rk->k", self._theta, unit))

    def _directions(self, wanted: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the contrasts as directions of θ, (R, Q), and whether the design identifies each, (Q,)."""
        directions = np.einsum("qp,pr->rq", wanted, self._root)
        outside = np.abs(np.einsum("qp,pr->rq", wanted, self._unseen)).max(axis=0, initial=0)
        return directions, outside <= np.sqrt(DEPENDENT) * np.abs(directions).max(axis=0, initial=0)

    def _moments(self, unit: NDArray[np.float64], one_by_one: bool) -> list["_Moments"]:
        """Return the moments of each direction of `unit`, (R, K), or of all of them together."""
        traces = np.add.reduceat(np.einsum("nr,nr->n", self._basis, self._basis), self._starts)
        scores = self._sums(self._residuals)
        light = traces < LIGHT
        groups = [[k] for k in range(unit.shape[1])] if one_by_one else [[*range(unit.shape[1])]]
        plain = np.einsum("wr,rk->wk", scores[light], unit)
        moments = [_Moments(plain[:, group], len(unit), len(traces)) for group in groups]
        # One thread: more would not change a product, but are slow with small matrices.
        with one_thread():
            for at, grams in self._grams(np.flatnonzero(~light)):
                adjusted = _Adjusted.of(grams, scores[at], unit)
                for moment, group in zip(moments, groups, strict=True):
                    moment.add(adjusted.only(group))
        return moments

    def _sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of the basis over the rows of each cluster, weighted; (W, R)."""
        rows = len(weights)
        # `reduceat` along the first axis would take thirty times as long.
        by_cluster = csr_array(
            (weights, np.arange(rows), np.append(self._starts, rows)), shape=(len(self._starts), rows)
        )
        return np.asarray(by_cluster @ self._basis)

    def _grams(self, clusters: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """Yield `clusters` in blocks, with their grams, (W, R, R)."""
        sizes = np.diff(np.append(self._starts, len(self._residuals)))[clusters]
        block = np.cumsum(sizes) * self._basis.shape[1] ** 2 // BLOCK_CELLS
        for number in distinct(block):
            at, size = clusters[block == number], sizes[block == number]
            starts = np.cumsum(size) - size
            rows = np.repeat(self._starts[at] - starts, size) + np.arange(size.sum())
            basis = self._basis[rows]
            yield at, np.add.reduceat(basis[:, :, None] * basis[:, None, :], starts, axis=0)


@dataclass(frozen=True)
class _Adjusted:
    """Adjusted contributions of W clusters to K directions of θ, with a a direction.

    Attributes:
        scores: (W, K), to the estimates.
        shares: (W, R, K), r = (I - G)^(-1/2) G a.
        weights: (W, K, K), aᵀ (I - G)^(-1) G a.
        variances: (W, K), aᵀ G a.

    For the contributions of clusters v and w to directions a and b, the product of the rows' weights is
    [v = w] weights_ab - r_a · r_b.
    """

    scores: NDArray[np.float64]
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    variances: NDArray[np.float64]

    @classmethod
    def of(
        cls, grams: NDArray[np.float64], scores: NDArray[np.float64], directions: NDArray[np.float64]
    ) -> Self:
        turned = _inverse_roots(grams) @ directions
        shares = grams @ turned  # the two commute
        return cls(
            scores=np.einsum("wr,wrk->wk", scores, turned),
            shares=shares,
            weights=np.einsum("wrk,wrl->wkl", turned, shares),
            variances=np.einsum("rk,wrs,sk->wk", directions, grams, directions),
        )

    def only(self, group: list[int]) -> "_Adjusted":
        """Return the contributions to some of the directions."""
        return _Adjusted(
            self.scores[:, group],
            self.shares[:, :, group],
            self.weights[:, group][:, :, group],
            self.variances[:, group],
        )


class _Moments:
    """Covariance of K orthonormal directions as estimated, and its mean and variance if rows are independent.

    With D that covariance, of normal rows of variance 1, the total of Var(D_ab) over a and b is the sum
    over pairs of clusters (v, w) and of directions of g_av·g_aw g_bv·g_bw + g_av·g_bw g_bv·g_aw, where g are
    the rows' weights in a cluster's contribution.
    """

    def __init__(self, plain: NDArray[np.float64], rank: int, clusters: int) -> None:
        """Start with the scores of the clusters that are not adjusted, (W, K); `clusters` counts all."""
        self.covariance = np.einsum("wk,wl->kl", plain, plain)
        self._clusters = clusters
        self._missing = np.zeros(plain.shape[1])
        self._local = 0.0
        self._products = np.zeros(2 * (rank * plain.shape[1],))
        self._shape = (rank, plain.shape[1]) * 2

    def add(self, of: _Adjusted) -> None:
        """Add clusters."""
        self.covariance += np.einsum("wk,wl->kl", of.scores, of.scores)
        within = np.einsum("wrk,wrl->wkl", of.shares, of.shares)
        # A cluster's rows have the variance aᵀ G a; its residuals show weights - within of it.
        self._missing += (of.variances - np.einsum("wkk->wk", of.weights - within)).sum(axis=0)
        trace, trace_within = (np.einsum("wkk->w", part) for part in (of.weights, within))
        self._local += float(
            np.einsum("w,w->", trace, trace - 2 * trace_within)
            + np.einsum("wkl,wkl->", of.weights, of.weights - 2 * within)
        )
        flat = of.shares.reshape(len(within), -1)
        self._products += np.einsum("wi,wj->ij", flat, flat)

    @property
    def shown(self) -> bool:
        """Whether residuals show all of the variance, that is, no single cluster determines a direction."""
        return bool((self._missing < HIDDEN).all())

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the χ² or the Wishart matrix with the same mean and variance."""
        products = self._products.reshape(self._shape)
        spread = (
            self._local
            + np.einsum("rksl,rksl->", products, products)
            + np.einsum("rksl,skrl->", products, products)
        )
        most, directions = self._clusters - 1, len(self.covariance)
        return min(directions * (directions + 1) / spread, most) if spread > 0 else float(most)

    def hotelling(self, estimates: NDArray[np.float64]) -> JointTest:
        """Test that the directions, whose estimates are (K,), are 0."""
        free = len(estimates)
        left = self.degrees - free + 1
        spread = np.linalg.eigvalsh(self.covariance)
        if not self.shown or not left > 0 or spread[0] <= max(NOISE**2, DEPENDENT * spread[-1]):
            return JointTest(f"F({free}, 0)", np.nan, np.nan)
        squared = float(estimates @ np.linalg.solve(self.covariance, estimates))
        statistic = left / (self.degrees * free) * squared
        return JointTest(f"F({free}, {left:.1f})", statistic, float(fdtrc(free, left, statistic)))


def _orthonormal(
    design: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return Z (rows, R), L (P, R) with Z = X L, and a matrix with P rows to check contrasts.

    The product of that matrix with a contrast is 0 if X identifies the contrast.
    """
    scale = np.sqrt(np.einsum("np,np->p", design, design))
    scale = np.where(scale > 0, scale, 1)
    values, vectors = np.linalg.eigh(np.einsum("np,nq->pq", design, design) / np.outer(scale, scale))
    kept = values > DEPENDENT * len(scale)
    root = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    basis = np.einsum("np,pr->nr", design, root)
    # With columns of length 1, a contrast is identified if it lies in the span of the kept vectors.
    return basis, root, vectors[:, ~kept] / scale[:, None]


def _inverse_roots(grams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (I - G)^(-1/2) of each gram, (W, R, R); 0 in a direction that the cluster determines alone."""
    values, vectors = np.linalg.eigh(grams)
    left = 1 - values
    roots = np.where(left > DEPENDENT, 1 / np.sqrt(np.maximum(left, DEPENDENT)), 0)
    return np.asarray((vectors * roots[:, None, :]) @ vectors.transpose(0, 2, 1))
