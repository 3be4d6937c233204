"""Means and regressions of rows that hang together in clusters, such as the conversations of a worker.

The covariance of what is estimated comes from products of residuals of the same cluster, so it holds
however the rows of a cluster depend on one another.

Sources: Liang and Zeger, *Longitudinal data analysis using generalized linear models*, Biometrika 73, 1986
(the covariance); Cameron and Miller, *A practitioner's guide to cluster-robust inference*, Journal of Human
Resources 50, 2015, section VI (the factor W / (W - 1), t and F with W - 1 degrees of freedom, W clusters).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from qc.statistics.mixed_model import MixedModel


def level_means(
    values: NDArray[np.float64],
    levels: NDArray[np.intp],
    blocks: NDArray[np.intp],
    clusters: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each level relative to the blocks' means, and the covariance of these means.

    The mean of a level, of values minus the mean of their block, is A v for a matrix A that depends on which
    row is of which level and block. Its covariance is A C Aᵀ, C that of the values.

    Args:
        values: (rows,); rows are in a fixed order, in which they are added up.
        levels: (rows,), codes from 0; each of the L levels occurs.
        blocks: (rows,), codes from 0.
        clusters: (rows,), codes from 0; each of the W clusters occurs.

    Returns:
        (L,) and (L, L); the covariance is NaN if there are no more clusters than levels.
    """
    of_block = np.bincount(blocks, values) / np.maximum(np.bincount(blocks), 1)
    relative = values - of_block[blocks]
    counts = _table(levels, blocks, np.ones(len(values)))
    means = np.bincount(levels, relative) / counts.sum(axis=1)
    if clusters.max() < len(counts):
        return means, np.full((len(counts), len(counts)), np.nan)
    residuals = relative - means[levels]
    # A row of A is (its level's indicator - the level's share of the row's block) / size of the level.
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    # Matrix products would add up in an order that depends on the number of threads.
    expected = np.einsum("wb,lb->wl", _table(clusters, blocks, residuals), shares)
    return means, _of_sums((_table(clusters, levels, residuals) - expected) / counts.sum(axis=1))


def wald(
    means: NDArray[np.float64], covariance: NDArray[np.float64], degrees: int
) -> tuple[str, float, float]:
    """Return name, value and p of the test that all means of levels are 0.

    The means, weighted by the sizes of the levels, add up to 0; so one of them, whichever, is left out. The
    value is a Wald statistic divided by its degrees of freedom.

    Args:
        means: (L,), L at least 2.
        covariance: (L, L), of the means.
        degrees: of freedom of the covariance, clusters - 1.

    Returns:
        Value and p are NaN if the covariance is NaN or singular.
    """
    free = len(means) - 1
    name = f"F({free}, {degrees})"
    if not np.isfinite(covariance).all() or np.linalg.matrix_rank(covariance[:free, :free]) < free:
        return name, float("nan"), float("nan")
    statistic = float(means[:free] @ np.linalg.solve(covariance[:free, :free], means[:free])) / free
    return name, statistic, float(fdtrc(free, degrees, statistic))


def robust_covariance(
    model: MixedModel, design: NDArray[np.float64], response: NDArray[np.float64], groups: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the covariance of the estimates of a mixed model, whose groups are the clusters.

    With V the covariance of the rows that the model estimates and e = y - X β, a cluster contributes
    s = Xᵀ V⁻¹ e of its rows; the covariance is (Xᵀ V⁻¹ X)⁻¹ Σ s sᵀ (Xᵀ V⁻¹ X)⁻¹ · W / (W - 1). It does not
    rely on V being right.

    Args:
        model: as `fit_random_intercept` returned it for the other arguments.
        design: (rows, P).
        response: (rows,).
        groups: (rows,), codes from 0; codes that do not occur do no harm.

    Returns:
        (P, P), 0 for a column that was left out; NaN if there are no more clusters than columns kept, 0 if
        the model fits every row exactly.
    """
    _, clusters, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(sizes) <= model.kept.sum():
        return np.full(model.covariance.shape, np.nan)
    if model.residual_variance == 0:
        return np.zeros(model.covariance.shape)
    # Matrix products would add up in an order that depends on the number of threads.
    residuals = response - np.einsum("ij,j->i", design, model.estimates)
    products, columns = (
        np.stack([np.bincount(clusters, weights=column) for column in of_rows.T], axis=1)
        for of_rows in (design * residuals[:, None], design)
    )
    # V⁻¹ of a cluster of n rows is (I - λ / (1 + nλ) 11ᵀ) / E, see `qc.statistics.mixed_model`.
    ratio = model.group_variance / model.residual_variance
    shrunk = ratio / (1 + sizes * ratio) * np.bincount(clusters, weights=residuals)
    sums = (products - shrunk[:, None] * columns) / model.residual_variance
    return model.covariance @ _of_sums(sums) @ model.covariance


def _of_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return W / (W - 1) Σ s sᵀ over the rows of (W, L), W at least 2."""
    return np.asarray(np.einsum("wl,wm->lm", sums, sums) * (len(sums) / (len(sums) - 1)))


def _table(
    rows: NDArray[np.intp], columns: NDArray[np.intp], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sums of `values` by two codes."""
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    cells = np.bincount(rows * shape[1] + columns, weights=values, minlength=shape[0] * shape[1])
    return np.asarray(cells.reshape(shape), np.float64)
