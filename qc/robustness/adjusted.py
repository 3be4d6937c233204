"""Scores of the systems, adjusted for position in the assignment, opinion of the topic, and worker.

A linear mixed model is fitted to the overall z of the counted conversations: system, position and opinion of
the opening topic are fixed effects, worker is a random effect. The adjusted score of a system is its
estimated marginal mean: the model's expectation at the mix of positions and opinions of all counted
conversations. The mix is the same for every system, and keeps the adjusted scores on the same level as the
plain ones.

Because z is standardised within each worker, workers hardly differ in level, and their variance is often
estimated to be 0. The model is then ordinary least squares. This is expected.

The estimates come from the mixed model, but their intervals and p-values do not rely on it. They hold for any
dependence between a worker's conversations, not only a common level, and for few workers too.

A position or opinion from fewer than 10 workers mostly shows how those workers rate, not its own effect. Its
conversations are left out if at least two other levels of the factor remain. Otherwise the factor stays in
the model, and levels with too few workers get no standard errors and p-values.

Sources: `qc.statistics.mixed_model`; `qc.statistics.clustered`; Searle, Speed and Milliken, *Population
marginal means in the linear model*, The American Statistician 34, 1980.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.robustness.context import Factor, positions, topic_opinions
from qc.statistics.clustered import FEWEST_CARRIERS, ClusteredFit, carriers
from qc.statistics.mixed_model import fit_random_intercept


@dataclass(frozen=True)
class Adjusted:
    """Plain and adjusted overall z of S systems, in the order of the scores.

    Attributes:
        systems: names.
        plain: (S,), overall z as in the scores.
        adjusted: (S,), marginal means; NaN for a system without a counted conversation.
        low, high: (S,), 95 % intervals of `adjusted`: standard errors by worker, adjusted for few workers,
            and Student's t with Satterthwaite's degrees of freedom. NaN for a system that only one worker
            rated.
        worker_sd: standard deviation of the workers' levels. It is often 0, because z gives every worker the
            same mean and standard deviation.
        residual_sd: standard deviation of the residuals, between conversations.
        coefficients: `term`, `estimate`, `se`, `degrees` (of freedom), `p` (two-sided, for a difference of 0;
            `se` and t as for the intervals). Each term is the difference of a position or opinion from the
            first level of its factor that has enough workers. `se`, `degrees` and `p` are NaN if one of the
            two levels has fewer than 10 workers.
        n: conversations in the model.
        notes: sentences on what was found or left out.
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
    """Return the adjusted scores; None unless there are more counted conversations than effects."""
    rated = int((scores.z["n"] > 0).sum())
    context = _context(sample)
    rows = np.flatnonzero(sample.counted)[context.rows]
    ranks = ranks_of(sample, scores)[sample.systems[rows]]
    design = np.column_stack([np.equal(ranks[:, None], np.arange(rated)), context.columns]).astype(np.float64)
    response, workers = sample.overall["z"][rows], sample.workers[rows]
    model = fit_random_intercept(design, response, workers)
    if model is None:
        return None
    kept = model.kept
    white = model.whitened(np.column_stack([design[:, kept], response]), workers)
    fit = ClusteredFit(white[:, :-1], white[:, -1], workers)
    mix = context.columns.mean(axis=0)
    means = fit.contrasts(np.hstack([np.eye(rated), np.tile(mix, (rated, 1))])[:, kept])
    adjusted, low, high = np.full((3, len(scores.z)), np.nan)
    # A system has no conversation left if all of them were at levels with too few workers.
    for values, found in zip((adjusted, low, high), (means.estimates, *means.interval()), strict=True):
        values[:rated] = np.where(kept[:rated], found, np.nan)
    return Adjusted(
        systems=tuple(scores.z["system"]),
        plain=scores.z["overall"].to_numpy(np.float64),
        adjusted=adjusted,
        low=low,
        high=high,
        worker_sd=float(np.sqrt(model.group_variance)),
        residual_sd=float(np.sqrt(model.residual_variance)),
        coefficients=_coefficients(fit, kept, context),
        n=len(rows),
        notes=_notes(sample, context, kept[rated:]),
    )


@dataclass(frozen=True)
class _Context:
    """Terms of the model besides the systems: indicators of all levels of each factor but one.

    Attributes:
        terms: (T,), names.
        columns: (rows, T), indicators.
        carried: (T,), whether both levels that the term compares have enough workers.
        rows: (counted conversations,), whether the conversation is in the model.
        left_out: levels whose conversations are not in the model.
    """

    terms: tuple[str, ...]
    columns: NDArray[np.float64]
    carried: NDArray[np.bool_]
    rows: NDArray[np.bool_]
    left_out: tuple[str, ...]


def _context(sample: Sample) -> _Context:
    factors = [factor for factor in (positions(sample), topic_opinions(sample)) if factor is not None]
    known = [_with_unknown(factor) for factor in factors if factor.levels]
    workers = sample.workers[sample.counted]
    rows, left_out = np.ones(len(workers), bool), []
    for factor in known:
        enough = carriers(factor.codes[rows], workers[rows], len(factor.levels)) >= FEWEST_CARRIERS
        if enough.sum() > 1:
            rows &= enough[factor.codes]
            left_out += [
                f"{factor.name} {name}"
                for name, there in zip(factor.levels, enough, strict=True)
                if not there
            ]
    terms, columns, carried = [], [np.empty((int(rows.sum()), 0))], []
    for factor in known:
        codes = factor.codes[rows]
        workers_of = carriers(codes, workers[rows], len(factor.levels))
        enough = workers_of >= FEWEST_CARRIERS
        # The reference is the first level with enough workers, or else the first that occurs.
        first = int(np.argmax(enough if enough.any() else workers_of > 0))
        compared = [level for level in np.flatnonzero(workers_of) if level != first]
        terms += [
            f"{factor.name} {factor.levels[level]}, against {factor.levels[first]}" for level in compared
        ]
        columns.append(np.equal(codes[:, None], compared).astype(np.float64))
        carried += [enough[level] and enough[first] for level in compared]
    return _Context(tuple(terms), np.hstack(columns), np.array(carried, bool), rows, tuple(left_out))


def _with_unknown(factor: Factor) -> Factor:
    """Return the factor with unknown values as an additional last level."""
    if (factor.codes >= 0).all():
        return factor
    codes = np.where(factor.codes < 0, len(factor.levels), factor.codes)
    return replace(factor, levels=(*factor.levels, "unknown"), codes=codes)


def _coefficients(fit: ClusteredFit, kept: NDArray[np.bool_], context: _Context) -> pd.DataFrame:
    """Return the coefficients of the context's terms (the last columns of the model) that were kept."""
    told = kept[len(kept) - len(context.terms) :]
    found = fit.contrasts(np.eye(len(kept))[len(kept) - len(told) :][told][:, kept])
    carried = context.carried[told]
    return pd.DataFrame(
        {
            "term": [term for term, there in zip(context.terms, told, strict=True) if there],
            "estimate": found.estimates,
            **{
                key: np.where(carried, values, np.nan)
                for key, values in (("se", found.errors), ("degrees", found.degrees), ("p", found.p()))
            },
        }
    )


def _notes(sample: Sample, context: _Context, told: NDArray[np.bool_]) -> tuple[str, ...]:
    notes = []
    dropped = [term for term, there in zip(context.terms, told, strict=True) if not there]
    if sample.run.words is None:
        notes.append("Opinions of topics are not known here, so scores are not adjusted for them.")
    if context.left_out:
        notes.append(
            f"Carried by fewer than {FEWEST_CARRIERS} workers, and left out with their conversations "
            f"({int((~context.rows).sum())}): {'; '.join(context.left_out)}."
        )
    elif not context.carried.all():
        notes.append(
            f"What fewer than {FEWEST_CARRIERS} workers carry has neither a standard error nor a p-value."
        )
    if dropped:
        notes.append(
            "Not told apart from the systems or from other terms, and left out of the model: "
            f"{'; '.join(dropped)}."
        )
    return tuple(notes)
