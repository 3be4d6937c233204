"""Scores from comparisons of two with ties: the model of Bradley, Terry and Davidson. Arrays in, arrays out.

P(i is preferred to j) = πi / (πi + πj + nu √(πi πj)), P(a tie) = nu √(πi πj) / (the same sum); nu is 0
without ties, and the model then that of Bradley and Terry. Scores are β = log π, of mean 0.

Sources: R. A. Bradley and M. E. Terry, *Rank analysis of incomplete block designs: I*, Biometrika 39 (1952);
R. R. Davidson, *On extending the Bradley-Terry model to accommodate ties in paired comparison experiments*,
Journal of the American Statistical Association 65 (1970); when there is a maximum:
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
    """What comparisons say of systems.

    Attributes:
        scores: (systems,), of mean 0; NaN where the data do not fix them.
        nu: the tie parameter; 0 where nobody tied, NaN where scores are.
    """

    scores: NDArray[np.float64]
    nu: float


def groups(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the group of each system, (systems,); there are scores only if there is one group.

    Two systems are in one group where each is preferred to the other, or ties with it, directly or along
    others (Ford 1957: the graph of who beats whom is strongly connected). Otherwise the likelihood has no
    maximum: a system, or several together, that nobody else ever equalled could be as strong as one likes.
    """
    return np.asarray(connected_components((wins + ties) > 0, directed=True, connection="strong")[1])


def boundless(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> bool:
    """Return whether ties let the differences, and nu with them, grow without an end to the likelihood.

    Let scores move by b and log nu by 1/2. No choice becomes less likely, however far they move, if b falls
    by at least 1 from a winner to a loser and differs by at most 1 where there was a tie. There is such a b
    unless in some round of systems, each to the next, there are more wins than ties: a negative cycle, looked
    for by Floyd's algorithm in systems³ steps. So a system that only won and tied may have no score.
    """
    bound = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, np.inf))
    for through in range(len(bound)):
        bound = np.minimum(bound, bound[:, through, None] + bound[None, through, :])
        if (np.diagonal(bound) < 0).any():
            return False
    return bool(ties.any())


def separate(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the part of each system, (systems,): two parts were never compared, even along others."""
    return np.asarray(connected_components((wins + wins.T + ties) > 0, directed=False)[1])


def fit(
    wins: NDArray[np.float64], ties: NDArray[np.float64], start: NDArray[np.float64] | None = None
) -> Fit:
    """Return the scores of the greatest likelihood.

    Newton's method; the logarithm of the likelihood is concave in β and log nu, and a step that would lower
    it is halved.

    Args:
        wins: (systems, systems), how often the row's system was preferred to the column's.
        ties: (systems, systems), symmetric, how often the two were about the same.
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
    """Return the step to the top of the parabola that touches the likelihood at `at`."""
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
    information[:n, :n] += 1.0 / n  # the direction in which all scores move together tells nothing
    return np.asarray(np.linalg.solve(information, gradient), np.float64)
