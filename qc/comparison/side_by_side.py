"""Analyse side-by-side comparisons: scores with intervals, wins and ties, sides, workers.

**Scores** are those of the model of Bradley, Terry and Davidson: P(i is preferred to j) = πi / (πi + πj + nu
√(πi πj)), P(a tie) = nu √(πi πj) / (the same sum). Without ties nu is 0. Scores are β = log π, with mean 0.

Workers are resampled, each with all of their choices. With W workers, a score's interval is score ± t · √(W /
(W − 1)) · (standard deviation of the draws), where t is the quantile of Student's t with W − 1 degrees of
freedom. Percentiles of the draws would have only 84 to 94 % coverage for equal systems with 5 to 40 workers
(`benchmarks/qc_truth.py --runs 300 --part choices`).

**Two systems are distinguished** if their difference, in standard deviations, is larger than a limit. The
limit is the 95 % quantile of the largest deviation of all differences from the observed ones in the draws,
multiplied by the same two factors. So the chance that any two equal systems are distinguished is at most 5 %,
in any order.

Where workers made uneven numbers of choices, W is their effective number (`effective_number`): W workers of
uneven work vary as fewer would. If a few of many made most of the choices about some system
(`carried_by_fewer_than`), there is no interval, and no systems are distinguished.

Sources: Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8 (whole clusters);
Romano and Wolf, *Exact and approximate stepdown methods for multiple hypothesis testing*, Journal of the
American Statistical Association 100, 2005 (the largest over all pairs). The two factors are ours.

Sources: R. A. Bradley and M. E. Terry, *Rank analysis of incomplete block designs: I*, Biometrika 39 (1952);
R. R. Davidson, *On extending the Bradley-Terry model to accommodate ties in paired comparison experiments*,
Journal of the American Statistical Association 65 (1970); existence of the maximum:
L. R. Ford Jr., *Solution of a ranking problem from binary comparisons*, American Mathematical Monthly 64
(1957).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri, stdtrit

from qc.loading.choices import Choices
from qc.method.filter import require_level
from qc.options import OnStep, no_step
from qc.statistics.confidence import LEVEL, NOISE, t_interval
from qc.statistics.rank_tests import sign_test, sign_test_greater
from qc.statistics.resampling import (
    FEWEST_EFFECTIVE,
    carried_by_fewer_than,
    effective_number,
    generator,
    unit_sums,
    upper_quantile,
)

_ROUNDS = 100
_CLOSE = 1e-10
# Resamples are fitted together, as many as have so many pairs of systems.
_CELLS = 1_000_000


@dataclass(frozen=True)
class Fit:
    """Scores of systems from comparisons.

    Attributes:
        scores: (systems,), with mean 0; NaN if the data do not determine them.
        nu: the tie parameter; 0 without ties, NaN if the scores are NaN.
    """

    scores: NDArray[np.float64]
    nu: float


def groups(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the group of each system, (systems,); scores exist only if there is one group.

    Two systems are in one group if each is preferred to the other, or ties with it, directly or through other
    systems (Ford 1957: the graph of preferences is strongly connected). With several groups the likelihood
    has no maximum: a set of systems that no other system ever equalled could be arbitrarily strong.
    """
    return np.asarray(connected_components((wins + ties) > 0, directed=True, connection="strong")[1])


def _connected(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each of (B, systems, systems) tables has one group, (B,)."""
    reached = (wins + ties > 0) | np.eye(wins.shape[1], dtype=bool)
    for _ in range(int(np.ceil(np.log2(max(wins.shape[1], 2))))):
        reached = np.matmul(reached.astype(np.float32), reached.astype(np.float32)) > 0
    return np.asarray(reached.all(axis=(1, 2)))


def boundless(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether ties let the differences, and nu with them, grow without limit, (…,).

    Move the scores along b, and log nu by 1/2. No choice becomes less likely, at any distance, if b falls by
    at least 1 from a winner to a loser, and differs by at most 1 where there was a tie. Such a b exists
    unless some cycle of systems has more wins than ties along it. That is a negative cycle, which Floyd's
    algorithm finds in systems³ steps. So a system that only won and tied may have no score.
    """
    bound = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, np.inf))
    for through in range(bound.shape[-1]):
        bound = np.minimum(bound, bound[..., :, through, None] + bound[..., None, through, :])
    negative = np.diagonal(bound, axis1=-2, axis2=-1).min(axis=-1, initial=0) < 0
    return np.asarray(~negative & ties.any(axis=(-2, -1)))


def separate(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the connected part of each system, (systems,): parts were never compared, even indirectly."""
    return np.asarray(connected_components((wins + wins.T + ties) > 0, directed=False)[1])


def fit(
    wins: NDArray[np.float64], ties: NDArray[np.float64], start: NDArray[np.float64] | None = None
) -> Fit:
    """Return the scores with the greatest likelihood.

    Args:
        wins: (systems, systems), how often the row's system was preferred to the column's.
        ties: (systems, systems), symmetric, number of ties.
        start: scores to start from.
    """
    at = _fits(wins[None], ties[None], start)[0]
    nu = 0.0 if not ties.any() and np.isfinite(at).all() else float(np.exp(at[-1]))
    return Fit(at[:-1] - at[:-1].mean(), nu)


def _fits(
    wins: NDArray[np.float64], ties: NDArray[np.float64], start: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return scores and log nu of each of B tables, (B, systems + 1); NaN if the data do not determine them.

    Newton's method: the log-likelihood is concave in both; a step that would lower it is halved.

    Args:
        wins, ties: (B, systems, systems).
        start: (systems,), scores to start from.
    """
    n = wins.shape[1]
    at = np.full((len(wins), n + 1), np.nan)
    solved = _connected(wins, ties) & ~boundless(wins, ties) & (n > 1)
    with_ties = ties.any(axis=(1, 2))
    for untied in (False, True):
        which = np.flatnonzero(solved & (with_ties != untied))
        first = np.zeros((len(which), n + 1))
        if start is not None and np.isfinite(start).all():
            first[:, :n] = start
        at[which] = _climbed(first, wins[which], ties[which], untied)
    return at


def _climbed(
    at: NDArray[np.float64], wins: NDArray[np.float64], ties: NDArray[np.float64], untied: bool
) -> NDArray[np.float64]:
    """Return the maxima of the likelihoods that Newton's steps reach from `at`, (B, systems + 1)."""
    value = _log_likelihood(at, wins, ties, untied)
    moving = np.arange(len(at))
    for _ in range(_ROUNDS):
        if not len(moving):
            break
        here, won, tied = at[moving], wins[moving], ties[moving]
        step = _newton_step(here, won, tied, untied)
        size = np.ones(len(moving))
        after = _log_likelihood(here + step, won, tied, untied)
        while (lower := np.flatnonzero((after < value[moving]) & (size > _CLOSE))).size:
            size[lower] /= 2
            moved = here[lower] + size[lower, None] * step[lower]
            after[lower] = _log_likelihood(moved, won[lower], tied[lower], untied)
        step *= size[:, None]
        at[moving] += step
        gained = after - value[moving]
        value[moving] = np.maximum(after, value[moving])
        moving = moving[(gained > 0) & (np.abs(step).max(axis=1) >= _CLOSE)]
    return at


def _win_and_tie(at: NDArray[np.float64], untied: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the chance that the row's system is preferred to the column's, and that of a tie."""
    difference = at[:, :-1, None] - at[:, None, :-1]
    half = np.clip(difference / 2, -300, 300)
    win, loss = np.exp(half), np.exp(-half)
    tie = np.zeros((len(at), 1, 1)) if untied else np.exp(np.clip(at[:, -1], -300, 300))[:, None, None]
    total = win + loss + tie
    return win / total, tie / total


def _summed(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(tables.reshape(len(tables), tables.shape[1] * tables.shape[2]).sum(axis=1))


def _log_likelihood(
    at: NDArray[np.float64], wins: NDArray[np.float64], ties: NDArray[np.float64], untied: bool
) -> NDArray[np.float64]:
    win, tie = _win_and_tie(at, untied)
    value = _summed(wins * np.log(win))
    return value if untied else value + _summed(np.triu(ties) * np.log(tie))


def _newton_step(
    at: NDArray[np.float64], wins: NDArray[np.float64], ties: NDArray[np.float64], untied: bool
) -> NDArray[np.float64]:
    """Return the Newton steps: to the maxima of the quadratic approximations of the likelihoods at `at`."""
    count, n = len(wins), wins.shape[1]
    win, tie = _win_and_tie(at, untied)
    lost = wins.swapaxes(1, 2)
    number = wins + lost + ties
    net = win - win.swapaxes(1, 2)
    gradient, information = np.zeros((count, n + 1)), np.zeros((count, n + 1, n + 1))
    gradient[:, :n] = ((wins - lost) / 2 - number * net / 2).sum(axis=2)
    # Of one comparison: (win − loss)/2 is the score of the difference, tie that of log nu.
    of_difference = number * ((win + win.swapaxes(1, 2)) - net**2) / 4
    information[:, :n, :n] = np.eye(n) * of_difference.sum(axis=2)[:, :, None] - of_difference
    if not untied:
        upper = np.triu(number, 1)
        gradient[:, n] = _summed(np.triu(ties, 1)) - _summed(upper * tie)
        information[:, n, n] = _summed(upper * tie * (1 - tie))
        cross = -(number * net / 2 * tie).sum(axis=2)
        information[:, :n, n] = information[:, n, :n] = cross
    else:
        information[:, n, n] = 1.0
    information[:, :n, :n] += 1.0 / n  # a common shift of all scores is not identified
    return np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0], np.float64)


# With two workers, a resample has both, or one of them twice, which does not show how workers differ. Workers
# who always tie do not count: where ties are frequent, 5 workers told equal systems apart in 13 % of runs.
FEWEST_WORKERS = 5
# With fewer draws, the standard deviation is uncertain by more than a tenth, 1 / √(2 · 50).
FEWEST_DRAWS = 50
# Fewest choices against the QC bot to test a worker: with 5 of 5 the sign test gives 1/32.
FEWEST_AGAINST_QC = 5


@dataclass(frozen=True)
class ComparisonScores:
    """Bradley-Terry-Davidson scores, with intervals over workers.

    Attributes:
        fit: fit to all choices; its scores are NaN if the data do not determine them, and `unfixed` says why.
        low, high: (systems,), ends of the 95 % intervals; NaN if there are none.
        above: (systems, systems), whether the row's system is distinguished as better than the column's, for
            all pairs together.
        workers: number of workers who made these choices.
        effective_workers: effective number of workers (Kish), for the system that has the fewest.
        carried_by_few: whether a few of many workers made most choices about some system.
        draws: resamples of the workers; `unusable` of them do not determine the scores, and are left out.
    """

    fit: Fit
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    above: NDArray[np.bool_]
    workers: int
    effective_workers: float
    carried_by_few: bool
    draws: int
    unusable: int
    unfixed: str | None


@dataclass(frozen=True)
class SystemComparison:
    """All results of a run of comparisons.

    Attributes:
        choices: the analysed choices.
        systems: their names, in the order of all arrays.
        wins: (systems, systems), how often the row's system was preferred to the column's, by all workers.
        ties: (systems, systems), symmetric.
        scores: scores from all workers.
        trusted: the same without the workers who are `suspicious`; None if there are none.
        left_first: number of choices for the left system and for the right one, then of workers who chose the
            left one more often, and less often.
        side_p: two-sided sign test over workers, for no effect of the side; NaN without choices.
        workers: `worker`, `choices`, `over_qc`, `under_qc`, `ties_qc`, `p` (one-sided sign test; NaN with
            fewer than FEWEST_AGAINST_QC choices that were not ties), `suspicious`.
    """

    choices: Choices
    systems: tuple[str, ...]
    wins: NDArray[np.float64]
    ties: NDArray[np.float64]
    scores: ComparisonScores
    trusted: ComparisonScores | None
    left_first: tuple[int, int, int, int]
    side_p: float
    workers: pd.DataFrame


def compare(
    choices: Choices, alpha: float = 0.05, bootstrap: int = 2_000, seed: int = 0, on_step: OnStep = no_step
) -> SystemComparison:
    """Analyse the choices of a run.

    Args:
        choices: the choices of a run.
        alpha: level of the test that a worker prefers systems to the QC bot; with p at or above it, the
            worker is suspicious.
        bootstrap: number of resamples of the workers.
        seed: random seed.
        on_step: called with a description when a part begins.

    Raises:
        OptionError: `alpha` is not a valid level.
    """
    require_level(alpha)
    rows, systems = choices.choices, choices.systems
    compared = rows[~rows["left"].isin(choices.qc) & ~rows["right"].isin(choices.qc)]
    workers = _workers(rows, choices.qc, alpha)
    tables = worker_tables(compared, systems)
    wins, ties = _totals(tables.sum(axis=0))
    on_step("Scores and their intervals")
    scores = score_choices(tables, systems, bootstrap, seed)
    trusted = None
    if workers["suspicious"].any():
        kept = compared[~compared["worker"].isin(workers.loc[workers["suspicious"], "worker"])]
        trusted = score_choices(worker_tables(kept, systems), systems, bootstrap, seed)
    on_step("Sides")
    left_first, side_p = _sides(compared)
    return SystemComparison(choices, systems, wins, ties, scores, trusted, left_first, side_p, workers)


def worker_tables(rows: pd.DataFrame, systems: tuple[str, ...]) -> NDArray[np.float64]:
    """Return each worker's sums, (workers, 2, systems, systems): wins of the row's system, and ties."""
    n = len(systems)
    names = pd.CategoricalDtype(list(systems))
    left = rows["left"].astype(names).cat.codes.to_numpy(np.intp)
    right = rows["right"].astype(names).cat.codes.to_numpy(np.intp)
    workers = pd.factorize(rows["worker"], sort=True)[0].astype(np.intp)
    preference = rows["preference"].to_numpy()
    winner, loser = np.where(preference == "right", right, left), np.where(preference == "right", left, right)
    tie = preference == "tie"
    first, second = np.minimum(left, right), np.maximum(left, right)
    cell = np.where(tie, n * n + first * n + second, winner * n + loser)
    shape = (int(workers.max(initial=-1)) + 1, 2 * n * n)
    sums = unit_sums(np.ones((len(rows), 1)), workers, cell.astype(np.intp), shape)
    return sums.reshape(shape[0], 2, n, n)


def _totals(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return wins and symmetric ties of summed tables."""
    return sums[0], sums[1] + sums[1].T


def score_choices(
    tables: NDArray[np.float64], systems: tuple[str, ...], bootstrap: int, seed: int
) -> ComparisonScores:
    """Return scores with intervals from resampled workers, each with all of their choices."""
    n = len(systems)
    wins, ties = _totals(tables.sum(axis=0))
    fitted = fit(wins, ties)
    unfixed = why_unfixed(wins, ties, systems)
    shares = _shares(tables)
    worth = float(effective_number(shares).min(initial=np.inf))
    carried = bool(carried_by_fewer_than(FEWEST_EFFECTIVE, shares).any())

    def without(draws: int, unusable: int) -> ComparisonScores:
        nothing, none_above = np.full(n, np.nan), np.zeros((n, n), bool)
        return ComparisonScores(
            fitted, nothing, nothing, none_above, len(tables), worth, carried, draws, unusable, unfixed
        )

    if unfixed is not None:
        return without(0, 0)
    rng = generator(seed, "comparison")
    drawn = drawn_scores(tables, fitted.scores, bootstrap, rng)
    usable = drawn[~np.isnan(drawn[:, 0])]
    unusable = bootstrap - len(usable)
    deciding = np.count_nonzero(tables[:, 0].sum(axis=(1, 2)))
    if deciding < FEWEST_WORKERS or carried or len(usable) < FEWEST_DRAWS:
        return without(bootstrap, unusable)
    uneven = bool(carried_by_fewer_than(np.inf, shares).any())
    counted = worth if uneven else float(len(tables))
    low, high = t_interval(fitted.scores, _errors(usable, counted), counted - 1)
    above = _above(fitted.scores, usable, counted)
    return ComparisonScores(fitted, low, high, above, len(tables), worth, carried, bootstrap, unusable, None)


def drawn_scores(
    tables: NDArray[np.float64], start: NDArray[np.float64], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the scores of `count` resamples of the workers, (count, S); NaN if not determined."""
    flat, workers, n = tables.reshape(len(tables), -1), len(tables), len(start)
    some = max(1, _CELLS // n**2)
    drawn = np.empty((count, n))
    for first in range(0, count, some):
        rows = slice(first, min(first + some, count))
        times = (np.bincount(rng.integers(workers, size=workers), minlength=workers) for _ in drawn[rows])
        wins, once = np.array([each @ flat for each in times]).reshape(-1, 2, n, n).swapaxes(0, 1)
        drawn[rows] = _fits(wins, once + once.swapaxes(1, 2), start)[:, :-1]
    return np.asarray(drawn - drawn.mean(axis=1, keepdims=True))


def _shares(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each worker's share of the choices about each system, (workers, systems)."""
    wins, ties = tables[:, 0], tables[:, 1]
    about = (wins + ties).sum(axis=2) + (wins + ties).sum(axis=1)
    of_all = about.sum(axis=0)
    return np.asarray(about / np.where(of_all > 0, of_all, 1))


def _errors(drawn: NDArray[np.float64], workers: float) -> NDArray[np.float64]:
    """Return standard errors, (V,), from (draws, V), corrected by W / (W − 1) for W workers."""
    return np.asarray(drawn.std(axis=0, ddof=1) * np.sqrt(workers / (workers - 1)))


def _above(scores: NDArray[np.float64], drawn: NDArray[np.float64], workers: float) -> NDArray[np.bool_]:
    """Return whether the row's system is distinguished as better than the column's, (S, S)."""
    rows, columns = np.triu_indices(len(scores), 1)
    seen, differences = scores[rows] - scores[columns], drawn[:, rows] - drawn[:, columns]
    spread = differences.std(axis=0, ddof=1)
    varies = spread > NOISE
    largest = (np.abs(differences - seen)[:, varies] / spread[varies]).max(axis=1, initial=0)
    wider = stdtrit(workers - 1, (1 + LEVEL) / 2) / ndtri((1 + LEVEL) / 2)
    reach = upper_quantile(largest, LEVEL) * wider * _errors(differences, workers)
    above = np.zeros((len(scores), len(scores)), bool)
    above[rows, columns] = varies & (seen > reach)
    above[columns, rows] = varies & (seen < -reach)
    return above


def why_unfixed(wins: NDArray[np.float64], ties: NDArray[np.float64], systems: tuple[str, ...]) -> str | None:
    """Return a sentence on why there are no scores; None if there are."""
    parts = separate(wins, ties)
    if parts.max() > 0:
        named = "; ".join(
            ", ".join(name for name, part in zip(systems, parts, strict=True) if part == each)
            for each in range(int(parts.max()) + 1)
        )
        return f"There are no scores: no comparison connects these groups of systems: {named}."
    group = groups(wins, ties)
    if group.max() > 0:
        never = [
            each
            for each in range(int(group.max()) + 1)
            if not wins[np.ix_(group != each, group == each)].any()
            and not ties[np.ix_(group != each, group == each)].any()
        ]
        named = "; ".join(
            ", ".join(name for name, of in zip(systems, group, strict=True) if of == each) for each in never
        )
        return (
            f"There are no scores: no other system was ever preferred to, or as good as, {named}, so that "
            "how much better that is cannot be said. More comparisons may change this."
        )
    if not wins.any():
        return "There are no scores: every choice was a tie."
    if boundless(wins, ties):
        return (
            "There are no scores: preferences go one way only, and what goes the other way is ties."
            " However large the differences are taken to be, frequent ties explain the rest, so that"
            " how large they are cannot be said. More comparisons may change this."
        )
    return None


def _sides(rows: pd.DataFrame) -> tuple[tuple[int, int, int, int], float]:
    left, right = (rows["preference"] == side for side in ("left", "right"))
    net = (left.astype(int) - right.astype(int)).groupby(rows["worker"]).sum()
    more, less = int((net > 0).sum()), int((net < 0).sum())
    return (int(left.sum()), int(right.sum()), more, less), sign_test(more, less)


def _workers(rows: pd.DataFrame, qc: frozenset[str], alpha: float) -> pd.DataFrame:
    """Return a row for each worker: how often they preferred a system to the QC bot, and the test of it.

    This filter is ours and not published. A worker who reads the replies prefers almost any system to a bot
    that answers at random. A worker is suspicious if a one-sided sign test, over the choices that are not
    ties, does not show this preference. With fewer than five such choices a worker cannot be tested.
    """
    against = rows["left"].isin(qc) != rows["right"].isin(qc)
    wanted = np.where(rows["left"].isin(qc), "right", "left")
    over = against & (rows["preference"] == wanted)
    tied = against & (rows["preference"] == "tie")
    counts = pd.DataFrame(
        {
            "worker": rows["worker"],
            "choices": 1,
            "over_qc": over.astype(int),
            "under_qc": (against & ~over & ~tied).astype(int),
            "ties_qc": tied.astype(int),
        }
    )
    found = counts.groupby("worker", sort=True).sum().reset_index()
    found["p"] = [
        sign_test_greater(up, down) if up + down >= FEWEST_AGAINST_QC else np.nan
        for up, down in zip(found["over_qc"], found["under_qc"], strict=True)
    ]
    return found.assign(suspicious=found["p"].ge(alpha))
