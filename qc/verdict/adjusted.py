"""Scores of the systems, adjusted for place in the assignment, opinion of the topic, and worker.

A linear mixed model of the overall z of the counted conversations: system, position and opinion of the
opening topic fixed, worker random. The adjusted score of a system is its estimated marginal mean: what the
model expects of it at the mix of positions and opinions that the counted conversations of all systems have
together. That mix is the same for every system, and it keeps the scores on the level of the plain ones.

Because z is standardised within each worker, workers hardly differ in level, and their variance is often
estimated to be 0: the model is then ordinary least squares. This is as it should be, and said in the notes.

Sources: `qc.statistics.mixed_model`; Searle, Speed and Milliken, *Population marginal means in the linear
model*, The American Statistician 34, 1980.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.statistics.mixed_model import MixedModel, fit_random_intercept
from qc.verdict.factors import Factor, positions, topic_opinions

LEVEL = 0.95


@dataclass(frozen=True)
class Adjusted:
    """Plain and adjusted overall z of S systems, in the order of the scores.

    Attributes:
        systems: names.
        plain: (S,), overall z as in the scores.
        adjusted: (S,), marginal means; NaN for a system without a counted conversation.
        low, high: (S,), 95 % Wald intervals of `adjusted`.
        worker_sd: standard deviation of the workers' levels; 0 if it is estimated to be nil.
        residual_sd: standard deviation of what is left, between conversations.
        coefficients: `term`, `estimate`, `se`, `p` (two-sided, of no difference from 0): the adjusted score
            of each system, then each position and opinion as difference from the first of its kind.
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
    rated = scores.z.loc[scores.z["n"] > 0, "system"].to_list()
    context = _context_columns(sample)
    model = fit_random_intercept(
        np.column_stack([_system_columns(sample, rated), *context.values()]),
        sample.overall["z"][sample.counted],
        sample.workers[sample.counted],
    )
    if model is None:
        return None
    terms = [*(f"system {name}" for name in rated), *context]
    coefficients = _coefficients(model, np.array([column.mean() for column in context.values()]), terms)
    means = coefficients.iloc[: len(rated)].set_axis(rated).reindex(scores.z["system"])
    adjusted = means["estimate"].to_numpy(np.float64)
    reach = float(ndtri((1 + LEVEL) / 2)) * means["se"].to_numpy(np.float64)
    return Adjusted(
        systems=tuple(scores.z["system"]),
        plain=scores.z["overall"].to_numpy(np.float64),
        adjusted=adjusted,
        low=adjusted - reach,
        high=adjusted + reach,
        worker_sd=float(np.sqrt(model.group_variance)),
        residual_sd=float(np.sqrt(model.residual_variance)),
        coefficients=coefficients[model.kept].reset_index(drop=True),
        n=int(sample.counted.sum()),
        notes=_notes(sample, model, [term for term, kept in zip(terms, model.kept, strict=True) if not kept]),
    )


def _system_columns(sample: Sample, rated: list[str]) -> NDArray[np.float64]:
    """Return one indicator per rated system, (counted conversations, rated systems)."""
    names = sample.run.systems["system"].to_list()
    place = [names.index(name) for name in rated]
    return np.equal(sample.systems[sample.counted, None], place).astype(np.float64)


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


def _coefficients(model: MixedModel, mix: NDArray[np.float64], terms: list[str]) -> pd.DataFrame:
    """Return the terms of the model, with the systems' at the `mix` of positions and opinions."""
    rated = len(terms) - len(mix)
    contrasts = np.eye(len(terms))
    contrasts[:rated, rated:] = mix
    estimates = contrasts @ model.estimates
    se = np.sqrt(np.diag(contrasts @ model.covariance @ contrasts.T))
    with np.errstate(divide="ignore", invalid="ignore"):  # a fit without residuals has se = 0
        p = 2 * ndtr(-np.abs(estimates / se))
    return pd.DataFrame({"term": terms, "estimate": estimates, "se": se, "p": p})


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
