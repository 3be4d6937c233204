"""Analyse votes of an arena: scores, groups, how few voters decide the leader, and style held constant.

**Scores** are those of `side_by_side`: Bradley, Terry and Davidson, by maximum likelihood. With style, the
difference of two systems has γ · (difference of the replies' style) added, and γ is fitted along.

**Errors** are by voter: the covariance of the estimates is H⁻¹ (Σ g gᵀ) H⁻¹, where H is the information, and
g the sum of the gradients of a voter's votes, divided by 1 − h for each system of whose votes the share h is
theirs. `side_by_side` draws whole workers anew instead; with a million votes that takes too long.

**Two systems are distinguished** if their difference is larger than a limit: the 95 % quantile of the largest
|t| of all pairs among normal draws with this covariance, widened by Student's t for few voters. The chance of
distinguishing any two equal systems is 5 %. A system has an interval only if its votes come from voters worth
FEWEST_VOTERS who vote equally often (Kish).

**Fragility**: voters are removed in the order in which they hold the leader above a rival, to first order in
the gradients, until a new fit has the rival ahead. It is an upper bound.

Sources: Bradley and Terry 1952, Davidson 1970 (see `side_by_side`); Liang and Zeger, *Longitudinal data
analysis using generalized linear models*, Biometrika 73, 1986 (errors by voter); MacKinnon, Nielsen and Webb,
*Fast and reliable jackknife and bootstrap methods for cluster-robust inference*, Journal of Applied
Econometrics 38, 2023 (1 − h); Chernozhukov, Chetverikov
and Kato, *Gaussian approximations and multiplier bootstrap for maxima of sums of high-dimensional random
vectors*, Annals of Statistics 41, 2013 (the largest |t|); Huang, Shen, Wei and Broderick, arXiv 2508.11847
(fragility); Li, Angelopoulos and Chiang, *Does style matter?*, LMSYS Org, 2024 (style).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri, stdtrit

from qc.comparison.side_by_side import fit, why_unfixed
from qc.loading.votes import STYLES, Votes
from qc.method.significance import groups_of
from qc.options import OnStep, no_step
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import generator, upper_quantile

Floats = NDArray[np.float64]
FEWEST_VOTERS = 30
DRAWS = 9_999
# Largest share of a voter that errors are adjusted for; systems with such voters have no interval.
LARGEST_SHARE = 0.5
# Rivals whose removal is confirmed by a new fit, those that need the fewest voters first.
RIVALS = 3
_ROUNDS, _CLOSE = 50, 1e-9
# A removal to first order may be too small; it grows by this share until a new fit confirms it.
_GROWTH = 0.05


@dataclass(frozen=True)
class VoteFit:
    """A fit to votes; p parameters are n scores, K weights of style, and log nu (the ties).

    Attributes:
        at: (p,), the estimates; scores have mean 0.
        inverse: (p, p), the inverse of the information.
        gradients: (voters, p), sums of the gradients of each voter's votes.
        covariance: (p, p), by voter.
    """

    at: Floats
    inverse: Floats
    gradients: sparse.csr_matrix
    covariance: Floats


@dataclass(frozen=True)
class VoteFragility:
    """The fewest voters found whose removal gives the highest score to `successor` instead of `leader`."""

    leader: str
    successor: str
    voters: int
    votes: int


@dataclass(frozen=True)
class Style:
    """Scores with style held constant.

    Attributes:
        scores: (S,), with mean 0.
        weights: by name of STYLES, the change of log odds if all of it is one system's.
        low, high: 95 % intervals of the weights.
    """

    scores: Floats
    weights: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class VoteResults:
    """Results of an arena with S systems.

    Attributes:
        votes: the analysed votes.
        wins: (S, S), how often the row's system was preferred to the column's.
        ties: (S, S), symmetric.
        scores: (S,), with mean 0; NaN if the votes do not determine them, and `unfixed` says why.
        low, high: (S,), 95 % intervals; NaN if too few voters voted on the system.
        effective_voters: (S,), number of voters with equal numbers of votes that would be worth as much.
        above: (S, S), whether the row's system is distinguished as better, for all pairs together.
        groups: systems with a score, best first, as `qc.robustness.intervals.Intervals.groups`.
        fragility: None if no removal was found.
        style: None without texts, and if the style goes with the systems, or both styles with one another.
        fit: None without scores.
    """

    votes: Votes
    wins: Floats
    ties: Floats
    scores: Floats
    low: Floats
    high: Floats
    effective_voters: Floats
    above: NDArray[np.bool_]
    groups: tuple[tuple[str, ...], ...]
    fragility: VoteFragility | None
    style: Style | None
    fit: VoteFit | None
    unfixed: str | None


def analyse_votes(votes: Votes, seed: int = 0, on_step: OnStep = no_step) -> VoteResults:
    """Return the results of an arena; the same seed gives the same numbers."""
    n = len(votes.systems)
    wins, ties = tables_of(votes)
    worth = _effective(votes)
    unfixed = why_unfixed(wins, ties, votes.systems)
    if unfixed is not None:
        nothing = np.full(n, np.nan)
        apart = np.zeros((n, n), bool)
        return VoteResults(
            votes, wins, ties, nothing, nothing, nothing, worth, apart, (), None, None, None, unfixed
        )
    on_step("Scores and their intervals")
    found = fit_votes(votes, None)
    low, high = _bounds(found, np.arange(n), worth)
    above = _above(found, worth, seed)
    order = np.argsort(-found.at[:n], kind="stable")
    groups = tuple(
        tuple(votes.systems[order[i]] for i in group) for group in groups_of(above[np.ix_(order, order)])
    )
    on_step("Fragility and style")
    return VoteResults(
        votes,
        wins,
        ties,
        found.at[:n],
        low,
        high,
        worth,
        above,
        groups,
        _fragility(votes, found, wins, ties),
        _with_style(votes),
        found,
        None,
    )


def tables_of(votes: Votes, kept: NDArray[np.bool_] | None = None) -> tuple[Floats, Floats]:
    """Return wins and symmetric ties, (S, S), of all votes, or of the `kept` ones."""
    n = len(votes.systems)
    winner = np.where(votes.outcome < 0, votes.second, votes.first)
    loser = np.where(votes.outcome < 0, votes.first, votes.second)
    cells, chosen = winner * n + loser, votes.outcome != 0
    kept = np.ones(len(cells), bool) if kept is None else kept
    wins, ties = (
        np.bincount(cells[kept & which], minlength=n * n).reshape(n, n).astype(np.float64)
        for which in (chosen, ~chosen)
    )
    return wins, ties + ties.T


def fit_votes(votes: Votes, style: Floats | None) -> VoteFit:
    """Return the fit, which must exist (`why_unfixed`); with `style`, (V, K), as a covariate."""
    x = np.zeros((len(votes.first), 0)) if style is None else style
    n, k = len(votes.systems), x.shape[1]
    wins, ties = tables_of(votes)
    start = fit(wins, ties)
    at = np.concatenate([start.scores, np.zeros(k), [np.log(start.nu) if ties.any() else 0.0]])
    for _ in range(_ROUNDS):
        of_difference, of_tie, information = _derivatives(votes, x, at, untied=not ties.any())
        step = np.linalg.solve(information, _columns(votes, x, of_difference, of_tie).sum(axis=0).A1)
        at = at + step
        if np.abs(step).max() < _CLOSE:
            break
    of_difference, of_tie, information = _derivatives(votes, x, at, untied=not ties.any())
    inverse = np.asarray(np.linalg.inv(information), np.float64)
    gradients = _columns(votes, x, of_difference, of_tie)
    adjusted = _adjusted(votes, gradients)
    middle = np.asarray((adjusted.T @ adjusted).toarray(), np.float64)
    at[:n] -= at[:n].mean()
    # Divided by 1 − h, gradients no longer sum to 0 over the systems. That shifts all scores alike, and they
    # have mean 0.
    centred = inverse.copy()
    centred[:n] -= inverse[:n].mean(axis=0)
    return VoteFit(np.asarray(at, np.float64), inverse, gradients, centred @ middle @ centred.T)


def _derivatives(votes: Votes, x: Floats, at: Floats, *, untied: bool) -> tuple[Floats, Floats, Floats]:
    """Return the derivatives of each vote by the difference and by log nu, and the information of all."""
    n, k = len(votes.systems), x.shape[1]
    difference = at[votes.first] - at[votes.second] + x @ at[n : n + k]
    half = np.exp(np.clip(difference / 2, -300, 300))
    odds = 0.0 if untied else np.exp(at[-1])
    total = half + 1 / half + odds
    net, tie = (half - 1 / half) / total, odds / total
    of_difference = (votes.outcome - net) / 2
    of_tie = np.zeros(len(tie)) if untied else (votes.outcome == 0) - tie
    weight, cross = ((1 - tie) - net**2) / 4, -net / 2 * tie
    information = np.zeros((n + k + 1, n + k + 1))
    pairs = np.bincount(votes.first * n + votes.second, weight, n * n).reshape(n, n)
    pairs += pairs.T
    information[:n, :n] = np.diag(pairs.sum(axis=1)) - pairs + 1.0 / n  # a common shift is not identified
    for each in range(k):
        information[:n, n + each] = _net(votes, weight * x[:, each])
    information[n : n + k, n : n + k] = x.T @ (weight[:, None] * x)
    if untied:
        information[-1, -1] = 1.0
    else:
        information[:n, -1] = _net(votes, cross)
        information[n : n + k, -1] = x.T @ cross
        information[-1, -1] = (tie * (1 - tie)).sum()
    upper = np.triu(information)
    return of_difference, of_tie, upper + np.triu(upper, 1).T


def _net(votes: Votes, values: Floats) -> Floats:
    """Return the sums by the first system minus those by the second, (S,)."""
    n = len(votes.systems)
    return np.asarray(np.bincount(votes.first, values, n) - np.bincount(votes.second, values, n))


def _columns(votes: Votes, x: Floats, of_difference: Floats, of_tie: Floats) -> sparse.csr_matrix:
    """Return the gradients summed by voter, (voters, p)."""
    n, k = len(votes.systems), x.shape[1]
    rows = np.tile(votes.voters, 3 + k)
    place = np.repeat(np.arange(n, n + k + 1), len(votes.first))
    columns = np.concatenate([votes.first, votes.second, place])
    values = np.concatenate(
        [of_difference, -of_difference, *(of_difference * x[:, each] for each in range(k)), of_tie]
    )
    shape = (int(votes.voters.max()) + 1, n + k + 1)
    return sparse.csr_matrix((values, (rows, columns)), shape=shape)


def _adjusted(votes: Votes, gradients: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the gradients, divided by 1 − h for the scores: a voter pulls the fit towards their votes."""
    n = len(votes.systems)
    h = _shares(votes)
    h.data = 1 / (1 - np.minimum(h.data, LARGEST_SHARE))
    return sparse.csr_matrix(sparse.hstack([gradients[:, :n].multiply(h), gradients[:, n:]]))


def _shares(votes: Votes) -> sparse.csr_matrix:
    """Return each voter's share h of the votes on each system, (voters, S)."""
    n, ones = len(votes.systems), np.ones(2 * len(votes.first))
    rows, columns = np.tile(votes.voters, 2), np.concatenate([votes.first, votes.second])
    counts = sparse.csr_matrix((ones, (rows, columns)), shape=(int(votes.voters.max()) + 1, n))
    return sparse.csr_matrix(counts.multiply(1 / counts.sum(axis=0)))


def _effective(votes: Votes) -> Floats:
    """Return the effective number of voters of each system (Kish)."""
    return np.asarray(1 / np.asarray(_shares(votes).power(2).sum(axis=0)).ravel())


def _bounds(found: VoteFit, which: NDArray[np.intp], worth: Floats) -> tuple[Floats, Floats]:
    known = worth >= FEWEST_VOTERS
    reach = stdtrit(np.maximum(worth - 1, 1), (1 + LEVEL) / 2) * np.sqrt(np.diag(found.covariance)[which])
    reach = np.where(known, reach, np.nan)
    return found.at[which] - reach, found.at[which] + reach


def _above(found: VoteFit, worth: Floats, seed: int) -> NDArray[np.bool_]:
    """Return whether the row's system is distinguished as better than the column's, (S, S)."""
    n = len(worth)
    known = np.flatnonzero(worth >= FEWEST_VOTERS)
    above = np.zeros((n, n), bool)
    if len(known) < 2:
        return above
    covariance = found.covariance[np.ix_(known, known)]
    rows, columns = np.triu_indices(len(known), 1)
    variance = np.diag(covariance)
    spread = np.sqrt(variance[rows] + variance[columns] - 2 * covariance[rows, columns])
    rng = generator(seed, "pairs of an arena")
    largest = np.concatenate(list(_largest(covariance, (rows, columns), spread, rng)))
    wider = stdtrit(worth[known].min() - 1, (1 + LEVEL) / 2) / ndtri((1 + LEVEL) / 2)
    seen = found.at[known[rows]] - found.at[known[columns]]
    reach = upper_quantile(largest, LEVEL) * wider * spread
    above[known[rows], known[columns]] = seen > reach
    above[known[columns], known[rows]] = seen < -reach
    return above


def _largest(
    covariance: Floats,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    spread: Floats,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """Yield the largest |t| of all pairs in normal draws, some draws at a time."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    some = 303
    for _ in range(DRAWS // some):
        drawn = rng.standard_normal((some, len(root))) @ root.T
        yield np.abs((drawn[:, pairs[0]] - drawn[:, pairs[1]]) / spread).max(axis=1)


def _fragility(votes: Votes, found: VoteFit, wins: Floats, ties: Floats) -> VoteFragility | None:
    n = len(votes.systems)
    leader = int(found.at[:n].argmax())
    orders = {}
    for rival in set(range(n)) - {leader}:
        pulls = found.gradients @ (found.inverse[:, leader] - found.inverse[:, rival])
        order = np.argsort(-pulls, kind="stable")
        gap = found.at[leader] - found.at[rival]
        enough = np.flatnonzero(np.cumsum(pulls[order]) > gap)
        if len(enough):
            orders[rival] = (int(enough[0]) + 1, order)
    best: VoteFragility | None = None
    for rival, (least, order) in sorted(orders.items(), key=lambda item: item[1][0])[:RIVALS]:
        for count in _growing(least, len(order) if best is None else best.voters - 1):
            removed = np.isin(votes.voters, order[:count])
            scores = fit(*tables_of(votes, ~removed), start=found.at[:n]).scores
            if scores[rival] > scores[leader]:
                names = votes.systems[leader], votes.systems[rival]
                best = VoteFragility(*names, count, int(removed.sum()))
                break
    return best


def _growing(least: int, most: int) -> Iterator[int]:
    """Yield numbers from `least` to `most`, each larger by the share _GROWTH."""
    count = least
    while count <= most:
        yield count
        count += max(1, int(_GROWTH * count))


def _with_style(votes: Votes) -> Style | None:
    n, k = len(votes.systems), len(STYLES)
    if votes.style is None:
        return None
    *_, information = _derivatives(votes, votes.style, np.zeros(n + k + 1), untied=True)
    if np.linalg.matrix_rank(information) < len(information):
        return None
    found = fit_votes(votes, votes.style)
    weights, errors = found.at[n : n + k], np.sqrt(np.diag(found.covariance)[n : n + k])
    voters = found.gradients.shape[0]
    reach = stdtrit(max(voters - 1, 1), (1 + LEVEL) / 2) * errors if voters >= FEWEST_VOTERS else np.nan
    return Style(found.at[:n], weights, weights - reach, weights + reach)
