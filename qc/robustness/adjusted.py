"""Scores of the systems, adjusted for position in the assignment, opinion of the topic, and worker.

A linear mixed model of the overall z of the counted conversations: system, position and opinion of the
opening topic fixed, worker random. The adjusted score of a system is its estimated marginal mean: what the
model expects of it at the mix of positions and opinions that the counted conversations of all systems have
together. That mix is the same for every system, and it keeps the scores on the level of the plain ones.

Because z is standardised within each worker, workers hardly differ in level, and their variance is often
estimated to be 0: the model is then ordinary least squares. This is as it should be, and said in the notes.

Estimates are those of the mixed model. Their intervals and p-values do not rely on it: they hold however the
conversations of a worker depend on one another, not only by a common level.

Sources: `qc.statistics.mixed_model`; `qc.statistics.clustered`; Searle, Speed and Milliken, *Population
marginal means in the linear model*, The American Statistician 34, 1980.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.robustness.factors import Factor, positions, topic_opinions
from qc.statistics.clustered import robust_covariance
from qc.statistics.confidence import t_interval
from qc.statistics.mixed_model import MixedModel, fit_random_intercept


@dataclass(frozen=True)
class Adjusted:
    """Plain and adjusted overall z of S systems, in the order of the scores.

    Attributes:
        systems: names.
        plain: (S,), overall z as in the scores.
        adjusted: (S,), marginal means; NaN for a system without a counted conversation.
        low, high: (S,), 95 % intervals of `adjusted`: cluster-robust standard errors by worker, quantile of
            Student's t with W - 1 degrees of freedom, W workers. NaN if there are no more workers than
            systems and terms together.
        worker_sd: standard deviation of the workers' levels; 0 if it is estimated to be nil.
        residual_sd: standard deviation of what is left, between conversations.
        coefficients: `term`, `estimate`, `se`, `p` (two-sided, of no difference from 0; `se` and t as for the
            intervals): each position and opinion as difference from the first of its kind.
        n: conversations.
        notes: sentences on what the model found or had to leave out.
    """

    systems: tuple[str, ...]
    plain: NDArray[np.float64]
    adjusted: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    worker_sd: float
    residual_sd: float
    coefficients: pd.DataFrame
    n: int
    notes: tuple[str, ...]


def adjust(sample: Sample, scores: Scores) -> Adjusted | None:
    """Return the adjusted scores; None if there are no more counted conversations than effects."""
    counted, rated = sample.counted, int((scores.z["n"] > 0).sum())
    ranks = ranks_of(sample, scores)[sample.systems[counted]]
    context = _context_columns(sample)
    rows = (
        np.column_stack([np.equal(ranks[:, None], np.arange(rated)), *context.values()]).astype(np.float64),
        sample.overall["z"][counted],
        sample.workers[counted],
    )
    model = fit_random_intercept(*rows)
    if model is None:
        return None
    covariance, degrees = robust_covariance(model, *rows), len(np.unique(rows[2])) - 1
    mix = np.array([column.mean() for column in context.values()])
    unrated = np.full(len(scores.z) - rated, np.nan)
    adjusted, low, high = (
        np.append(values, unrated) for values in _marginal_means(model, covariance, mix, degrees)
    )
    dropped = [term for term, kept in zip(context, model.kept[rated:], strict=True) if not kept]
    return Adjusted(
        systems=tuple(scores.z["system"]),
        plain=scores.z["overall"].to_numpy(np.float64),
        adjusted=adjusted,
        low=low,
        high=high,
        worker_sd=float(np.sqrt(model.group_variance)),
        residual_sd=float(np.sqrt(model.residual_variance)),
        coefficients=_coefficients(model, covariance, list(context), degrees),
        n=int(counted.sum()),
        notes=_notes(sample, model, dropped),
    )


def _context_columns(sample: Sample) -> dict[str, NDArray[np.float64]]:
    """Return one indicator per position and opinion but the first of each, (counted conversations,) each."""
    factors = (positions(sample), topic_opinions(sample))
    return {
        term: column
        for factor in factors
        if factor is not None
        for term, column in _indicators(factor).items()
    }


def _indicators(factor: Factor) -> dict[str, NDArray[np.float64]]:
    """Return the indicators of all levels but the first; an unknown level is a level of its own."""
    levels = dict(enumerate(factor.levels))
    if (factor.codes < 0).any() and levels:
        levels[-1] = "unknown"
    return {
        f"{factor.name} {name}, against {factor.levels[0]}": (factor.codes == code).astype(np.float64)
        for code, name in levels.items()
        if code != 0
    }


def _marginal_means(
    model: MixedModel, covariance: NDArray[np.float64], mix: NDArray[np.float64], degrees: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what the model expects of each system at the `mix` of positions and opinions, and its bounds."""
    rated = len(model.estimates) - len(mix)
    contrasts = np.hstack([np.eye(rated), np.tile(mix, (rated, 1))])
    means = contrasts @ model.estimates
    variances = np.einsum("sp,pq,sq->s", contrasts, covariance, contrasts)
    return means, *t_interval(means, np.sqrt(np.maximum(variances, 0)), degrees)


def _coefficients(
    model: MixedModel, covariance: NDArray[np.float64], terms: list[str], degrees: int
) -> pd.DataFrame:
    """Return those of `terms`, the last columns of the model, that were not left out."""
    rated = len(model.estimates) - len(terms)
    estimates, se = model.estimates[rated:], np.sqrt(np.diag(covariance)[rated:])
    with np.errstate(divide="ignore", invalid="ignore"):  # a fit without residuals has se = 0
        p = 2 * stdtr(degrees, -np.abs(estimates / se))
    table = pd.DataFrame({"term": terms, "estimate": estimates, "se": se, "p": p})
    return table[model.kept[rated:]].reset_index(drop=True)


def _notes(sample: Sample, model: MixedModel, dropped: list[str]) -> tuple[str, ...]:
    notes = []
    if model.group_variance == 0:
        notes.append(
            "The variance between workers is estimated to be 0, as is to be expected of z, which gives every "
            "worker the same mean and standard deviation."
        )
    if sample.run.words is None:
        notes.append("Opinions of topics are not known here, so scores are not adjusted for them.")
    if dropped:
        notes.append(
            "Not told apart from the systems or from other terms, and left out of the model: "
            f"{'; '.join(dropped)}."
        )
    return tuple(notes)
