"""Scores from pairwise comparisons with ties: the model of Bradley, Terry and Davidson.

P(i is preferred to j) = πi / (πi + πj + nu √(πi πj)), P(a tie) = nu √(πi πj) / (the same sum). Without ties
nu is 0, and the model is that of Bradley and Terry. Scores are β = log π, with mean 0.

Sources: R. A. Bradley and M. E. Terry, *Rank analysis of incomplete block designs: I*, Biometrika 39 (1952);
R. R. Davidson, *On extending the Bradley-Terry model to accommodate ties in paired comparison experiments*,
Journal of the American Statistical Association 65 (1970); existence of the maximum:
L. R. Ford Jr., *Solution of a ranking problem from binary comparisons*, American Mathematical Monthly 64
(1957).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

_ROUNDS = 100
_CLOSE = 1e-10


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


def boundless(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> bool:
    """Return whether ties let the differences, and nu with them, grow without limit.

    Move the scores along b, and log nu by 1/2. No choice becomes less likely, at any distance, if b falls by
    at least 1 from a winner to a loser, and differs by at most 1 where there was a tie. Such a b exists
    unless some cycle of systems has more wins than ties along it. That is a negative cycle, which Floyd's
    algorithm finds in systems³ steps. So a system that only won and tied may have no score.
    """
    bound = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, np.inf))
    for through in range(len(bound)):
        bound = np.minimum(bound, bound[:, through, None] + bound[None, through, :])
        if (np.diagonal(bound) < 0).any():
            return False
    return bool(ties.any())


def separate(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the connected part of each system, (systems,): parts were never compared, even indirectly."""
    return np.asarray(connected_components((wins + wins.T + ties) > 0, directed=False)[1])


def fit(
    wins: NDArray[np.float64], ties: NDArray[np.float64], start: NDArray[np.float64] | None = None
) -> Fit:
    """Return the scores with the greatest likelihood, by Newton's method.

    The log-likelihood is concave in β and log nu; a step that would lower it is halved.

    Args:
        wins: (systems, systems), how often the row's system was preferred to the column's.
        ties: (systems, systems), symmetric, number of ties.
        start: scores to start from.
    """
    n = len(wins)
    untied = not ties.any()
    if n < 2 or (groups(wins, ties) != 0).any() or boundless(wins, ties):
        return Fit(np.full(n, np.nan), np.nan)
    at = np.zeros(n + 1)
    if start is not None and np.isfinite(start).all():
        at[:n] = start
    value = _log_likelihood(at, wins, ties, untied)
    for _ in range(_ROUNDS):
        step = _newton_step(at, wins, ties, untied)
        size = 1.0
        while (after := _log_likelihood(at + size * step, wins, ties, untied)) < value and size > _CLOSE:
            size /= 2
        at, gained, value = at + size * step, after - value, max(after, value)
        if gained <= 0 or np.abs(size * step).max() < _CLOSE:
            break
    return Fit(at[:n] - at[:n].mean(), 0.0 if untied else float(np.exp(at[n])))


def _shares(at: NDArray[np.float64], untied: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the chance that the row's system is preferred to the column's, and that of a tie."""
    difference = at[:-1, None] - at[None, :-1]
    half = np.clip(difference / 2, -300, 300)
    win, loss = np.exp(half), np.exp(-half)
    tie = 0.0 if untied else np.exp(np.clip(at[-1], -300, 300))
    total = win + loss + tie
    return win / total, np.broadcast_to(tie / total, win.shape)


def _log_likelihood(
    at: NDArray[np.float64], wins: NDArray[np.float64], ties: NDArray[np.float64], untied: bool
) -> float:
    win, tie = _shares(at, untied)
    value = float((wins * np.log(win)).sum())
    return value if untied else value + float((np.triu(ties) * np.log(tie)).sum())


def _newton_step(
    at: NDArray[np.float64], wins: NDArray[np.float64], ties: NDArray[np.float64], untied: bool
) -> NDArray[np.float64]:
    """Return the Newton step: to the maximum of the quadratic approximation of the likelihood at `at`."""
    n = len(wins)
    win, tie = _shares(at, untied)
    number = wins + wins.T + ties
    loss = win.T
    gradient, information = np.zeros(n + 1), np.zeros((n + 1, n + 1))
    gradient[:n] = ((wins - wins.T) / 2 - number * (win - loss) / 2).sum(axis=1)
    # Of one comparison: (win − loss)/2 is the score of the difference, tie that of log nu.
    of_difference = number * ((win + loss) - (win - loss) ** 2) / 4
    information[:n, :n] = np.diag(of_difference.sum(axis=1)) - of_difference
    if not untied:
        upper = np.triu(number, 1)
        gradient[n] = np.triu(ties, 1).sum() - (upper * tie).sum()
        information[n, n] = (upper * tie * (1 - tie)).sum()
        cross = -(number * (win - loss) / 2 * tie).sum(axis=1)
        information[:n, n] = information[n, :n] = cross
    else:
        information[n, n] = 1.0
    information[:n, :n] += 1.0 / n  # a common shift of all scores is not identified
    return np.asarray(np.linalg.solve(information, gradient), np.float64)
