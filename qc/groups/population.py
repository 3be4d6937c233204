"""Sort workers into groups by background, such as age, and weight the groups to a population.

Background is read from a file by pseudonym (`Run.background`), and from the study's questions before the
first conversation. Free text and questions with several answers are left out, because they give no single
group.

A **cell** is a combination of one group of every field of the margins. Both methods weight the people of a
cell to match its share of the population, found by raking. They differ in the mean of a cell:

- **Raking** uses the people directly: θ = Σ w_i x_i / Σ w_i over the people i who rated the system. Its error
  comes from the jackknife: each person is left out in turn, and the others are raked again.
- **The multilevel model** assumes that the cells' opinions of a system come from one distribution, so the
  estimate of a small cell is shrunken towards the others. The model x_i = μ + u_cell + e_i has cells as
  random intercepts within each system, and is fitted by REML over all systems. θ = Σ_c P_c (μ + u_c), where
  P_c is the cell's share of the population. Its error is the model's, with the variances treated as known.

Neither method corrects for differences of opinion, within a cell, between people who took part and people who
did not.

Sources: Deville, Särndal and Sautory, *Generalized Raking Procedures in Survey Sampling*, Journal of the
American Statistical Association 88, 1993; the jackknife of raked means: Wolter, *Introduction to Variance
Estimation*, 2nd edition, 2007, chapter 4; Gelman and Little, *Poststratification into Many Categories Using
Hierarchical Logistic Regression*, Survey Methodology 23, 1997; the estimates: Robinson, *That BLUP is a Good
Thing*, Statistical Science 6, 1991.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.answers import AnswerKind, group_values
from qc.method.sample import Sample
from qc.run import Answers
from qc.statistics.confidence import t_interval
from qc.statistics.mixed_model import fit_random_intercept
from qc.table import decimal

# A numeric field with more distinct values than this is divided at its quartiles.
MOST_VALUES = 10
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class WorkerField:
    """A field of the background, of W workers who passed.

    Attributes:
        name: the column of the file, or the label of the question.
        groups: names of the non-empty groups, in display order.
        codes: (W,), index in `groups`; −1 if unknown.
    """

    name: str
    groups: tuple[str, ...]
    codes: NDArray[np.intp]


def fields_of(sample: Sample) -> tuple[WorkerField, ...]:
    """Return the fields with a known value for at least one worker who passed.

    A column of the file takes precedence over a question of the same name. If a worker has answered a
    question several times, the first answer counts.
    """
    workers = pd.Index(sample.screening.workers.loc[sample.screening.workers["passed"], "worker"])
    found: dict[str, WorkerField] = {}
    for name, known, order in (*_of_file(sample), *_of_answers(sample)):
        field = _field(name, known.reindex(workers), order)
        if field.groups:
            found.setdefault(name, field)
    return tuple(found.values())


def _of_file(sample: Sample) -> Iterator[tuple[str, pd.Series, tuple[str, ...]]]:
    """Yield the name of each column, its values by worker, and no order."""
    background = sample.run.background
    if background is not None:
        for name in background.columns.drop("worker"):
            yield str(name), background.set_index("worker")[name], ()


def _of_answers(sample: Sample) -> Iterator[tuple[str, pd.Series, tuple[str, ...]]]:
    """Yield the label of each question, the first answer of each worker, and the order of the answers."""
    answers = sample.run.answers
    if answers is None:
        return
    owner = sample.run.assignments.set_index("assignment")["worker"].astype(str)
    for question, choices in zip(
        answers.questions.itertuples(), answers.questions["choices"].tolist(), strict=True
    ):
        if question.part != "before":
            continue
        given = _given(answers, str(question.label))
        values = group_values(cast(AnswerKind, question.kind), given)
        if values is None:
            continue
        first = pd.Series(values.to_numpy(), index=owner.reindex(given["assignment"]).to_numpy())
        yield str(question.label), first[~first.index.duplicated()], tuple(map(str, choices))


def _given(answers: Answers, label: str) -> pd.DataFrame:
    given = answers.given
    return given[(given["part"] == "before") & (given["label"] == label)]


def _field(name: str, known: pd.Series, order: tuple[str, ...]) -> WorkerField:
    values, bands = _banded(known)
    order = bands or order
    there = set(values.dropna())
    groups = tuple(each for each in order if each in there) or tuple(sorted(there, key=_natural))
    return WorkerField(name, groups, np.asarray(pd.Categorical(values, groups).codes, np.intp))


def _natural(group: str) -> tuple[float, str]:
    """Return the sort key of a group: numbers first, by size."""
    try:
        return float(group), group
    except ValueError:
        return float("inf"), group


def _banded(known: pd.Series) -> tuple[pd.Series, tuple[str, ...]]:
    """Return the values as groups; more than MOST_VALUES distinct numbers are divided at their quartiles.

    Returns:
        The values; and the names of the bands in order, none if nothing was divided.
    """
    numbers = pd.to_numeric(known, errors="coerce")
    if numbers.nunique() <= MOST_VALUES or numbers.notna().sum() < known.notna().sum():
        return known, ()
    cuts = np.unique(np.quantile(numbers.dropna(), QUARTILES))
    shown = [decimal(cut, 2).removesuffix(".00") for cut in cuts]
    between = (f"{low} to {high}" for low, high in pairwise(shown))
    names = (f"up to {shown[0]}", *between, f"over {shown[-1]}")
    band = np.minimum(np.searchsorted(cuts, numbers.to_numpy(np.float64)), len(cuts))
    return pd.Series(np.array(names, object)[band], known.index).where(numbers.notna()), names


# For one field after the other, the weights of each group are multiplied so that the group has its share.
# This is repeated until every share of every field is met to within TOLERANCE. All people in a cell (a
# combination of one group of every field) have the same weight.
#
# Sources: Deming and Stephan, *On a Least Squares Adjustment of a Sampled Frequency Table When the Expected
# Marginal Totals are Known*, Annals of Mathematical Statistics 11, 1940; convergence if weights exist that
# meet all margins: Ireland and Kullback, *Contingency tables with given marginals*, Biometrika 55, 1968;
# effective sample size: Kish, *Weighting for Unequal P_i*, Journal of Official Statistics 8, 1992. Largest
# difference of a share from its target at convergence.
TOLERANCE = 1e-10
MOST_SWEEPS = 1000


@dataclass(frozen=True)
class Raked:
    """Weights of C cells.

    Attributes:
        weights: (C,), weight of each person in a cell; mean 1 over people, 0 for an empty cell.
        sweeps: number of passes over all fields.
        gap: the largest difference of a share from its target.
        converged: whether the gap is within TOLERANCE.
    """

    weights: NDArray[np.float64]
    sweeps: int
    gap: float
    converged: bool


def rake(
    counts: NDArray[np.float64], members: Sequence[NDArray[np.intp]], shares: Sequence[NDArray[np.float64]]
) -> Raked:
    """Return the weights that give every group its share of the population.

    Args:
        counts: (C,), people in each cell; at least one.
        members: for each field (C,), the group of each cell.
        shares: for each field (groups,), the target shares, which add up to 1.
    """
    held, gap, sweeps = counts / counts.sum(), np.inf, 0
    while gap > TOLERANCE and sweeps < MOST_SWEEPS:
        for of_field, wanted in zip(members, shares, strict=True):
            has = np.bincount(of_field, held, len(wanted))
            held = held * (wanted / np.where(has > 0, has, 1))[of_field]
        gap = max(
            float(np.abs(np.bincount(of_field, held, len(wanted)) - wanted).max())
            for of_field, wanted in zip(members, shares, strict=True)
        )
        sweeps += 1
    weights = held * counts.sum() / np.where(counts > 0, counts, np.inf)
    return Raked(weights, sweeps, gap, gap <= TOLERANCE)


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return the effective sample size (Σ w)² / Σ w²: the number of people with equal weight; 0 for none."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


FEWEST_PEOPLE = 2


@dataclass(frozen=True)
class Weighted:
    """Scores of S systems with 95 % intervals, each (S,); NaN if unknown."""

    score: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Estimated scores for the population.

    Attributes:
        people: number of people for whom all fields of the margins are known.
        raked: weights of the cells.
        weights: (people,), weight of each person, 1 on average.
        by_raking, by_model: scores.
        model_sd: standard deviation between cells in the score of a system; NaN without a model.
    """

    people: int
    raked: Raked
    weights: NDArray[np.float64]
    by_raking: Weighted
    by_model: Weighted
    model_sd: float

    @property
    def effective(self) -> float:
        """Effective number of people (Kish)."""
        return effective_size(self.weights)


def population(
    values: NDArray[np.float64], fields: Sequence[WorkerField], shares: Sequence[NDArray[np.float64]]
) -> Population | None:
    """Return scores for a population; None with fewer than 2 people, or if no weights meet the margins.

    Args:
        values: (W, S), the value that each person gives to each system, NaN if they did not meet.
        fields: the fields of the margins, for the same W people; people without a group in a field are left
            out.
        shares: for each field (groups,), the shares of the population; they add up to 1.
    """
    taken = np.all([field.codes >= 0 for field in fields], axis=0)
    if taken.sum() < FEWEST_PEOPLE:
        return None
    members = np.array([field.codes[taken] for field in fields])
    distinct, cells = np.unique(members, axis=1, return_inverse=True)
    cells = cells.reshape(-1)
    counts = np.bincount(cells).astype(np.float64)
    raked = rake(counts, list(distinct), shares)
    if not raked.converged:
        return None
    given, weights = values[taken], raked.weights[cells]
    without = np.array([_without(counts, cell, list(distinct), shares) for cell in range(len(counts))])
    model, model_sd = _by_model(given, cells, raked.weights * counts / counts.sum())
    return Population(len(given), raked, weights, _by_raking(given, cells, weights, without), model, model_sd)


def _without(
    counts: NDArray[np.float64],
    cell: int,
    members: list[NDArray[np.intp]],
    shares: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the weights of the cells, (C,), without one person of `cell`."""
    return rake(counts - np.eye(len(counts))[cell], members, shares).weights


def _by_raking(
    values: NDArray[np.float64],
    cells: NDArray[np.intp],
    weights: NDArray[np.float64],
    without: NDArray[np.float64],
) -> Weighted:
    there = np.isfinite(values)
    given = np.where(there, values, 0)
    total, count = (
        np.array([_by_cell(column, cells, len(without)) for column in each.T]) for each in (given, there)
    )
    # (people, S): for each person, the weighted sums of all others, with the weights without that person.
    sums, sizes = (np.einsum("kc,sc->ks", without, each)[cells] for each in (total, count))
    own = without[cells, cells][:, None]
    left_out = (sums - own * given) / _known(sizes - own * there)
    score = (weights[:, None] * given).sum(axis=0) / _known((weights[:, None] * there).sum(axis=0))
    people = len(values)
    error = np.sqrt((people - 1) / people * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    return _with_interval(score, error, there, weights)


def _by_cell(values: NDArray[np.generic], cells: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(cells, weights=values, minlength=count), np.float64)


def _known(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(sizes > 0, sizes, np.nan)


def _by_model(
    values: NDArray[np.float64], cells: NDArray[np.intp], population_shares: NDArray[np.float64]
) -> tuple[Weighted, float]:
    there = np.isfinite(values)
    person, system = np.nonzero(there)
    systems, count = values.shape[1], len(population_shares)
    group = cells[person] * systems + system
    model = fit_random_intercept(np.eye(systems)[system], values[there], group)
    if model is None:
        nothing = np.full(systems, np.nan)
        return Weighted(nothing, nothing, nothing), np.nan
    shape = (count, systems)
    size, total = (np.bincount(group, each, count * systems).reshape(shape) for each in (None, values[there]))
    between, within = model.group_variance, model.residual_variance
    kept = within / np.where(size * between + within > 0, size * between + within, np.nan)  # of what μ says
    means = total / np.where(size > 0, size, np.nan)
    cell_scores = model.estimates + np.where(size > 0, (1 - kept) * (means - model.estimates), 0)
    share = population_shares[:, None]
    score = np.where(model.kept, (share * cell_scores).sum(axis=0), np.nan)
    of_cells = (share**2 * between * kept).sum(axis=0)
    of_level = (share * kept).sum(axis=0) ** 2 * np.diag(model.covariance)
    weights = (population_shares / np.maximum(np.bincount(cells, minlength=count), 1))[cells]
    error = np.sqrt(of_cells + of_level)
    return _with_interval(score, error, there, weights), float(np.sqrt(between))


def _with_interval(
    score: NDArray[np.float64],
    error: NDArray[np.float64],
    there: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> Weighted:
    """Return scores with intervals; degrees of freedom are the effective number of raters minus one."""
    low, high = (np.full(len(score), np.nan) for _ in range(2))
    for system, (value, each) in enumerate(zip(score, error, strict=True)):
        degrees = effective_size(weights[there[:, system]]) - 1
        if degrees >= 1:
            low[system], high[system] = t_interval(np.float64(value), np.float64(each), degrees)  # type: ignore[arg-type]
    return Weighted(score, low, high)
