"""Look for what makes the ranking of an arena unfair: uneven sampling, deleted losses, partial voters.

Each kind of alarm has a third of ALPHA, so on a board without any of the three the chance of any alarm is at
most ALPHA (Bonferroni).

- *A system drawn more often.* The largest of what a system's votes exceed the median by, compared with boards
  whose pairs are equally likely. The median does not move if one system is drawn more or less.
- *Missing losses.* If pairs are drawn whatever their outcome will be, the number of votes of a pair is the
  product of one factor of each system (quasi-independence), whoever is stronger. Deleting losses of a system
  takes away most of its votes against strong rivals. T is the sum over its rivals of (votes − expected votes)
  · chance to lose. The lowest T of all systems, in standard deviations, is compared with boards drawn by the
  fitted factors. Only the most extreme system is named, because its missing votes bend those of its rivals.
- *A voter partial to a system.* Of a voter with at least FEWEST_CHOICES choices about a system that were no
  ties, the number for the system is compared with what the scores expect. Voters have tastes: log odds of one
  voter about one system differ by a normal amount, whose variance τ² is estimated from all of them. The p of
  a binomial is averaged over this taste, times the number of voters and systems that are looked at.

An alarm says that the board deviates from this, not why: platforms draw new systems more often on purpose.

Sources: Goodman, *The analysis of cross-classified data: independence, quasi-independence, and interactions
in contingency tables with or without missing entries*, Journal of the American Statistical Association 63,
1968; Williams, *Extra-binomial variation in logistic linear models*, Applied Statistics 31, 1982 (τ²);
Singh et al., *The leaderboard illusion*, arXiv 2504.20879, 2025 (what is unfair in an arena); Hoeffding, *On
the distribution of the number of successes in independent trials*, Annals of Mathematical Statistics 27, 1956
(a binomial of the mean chance has the heavier tails). The tests are ours; `benchmarks/qc_truth.py --part
arena` counts alarms on boards with and without defects.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit, logit

from qc.comparison.votes import VoteResults
from qc.loading.votes import Votes
from qc.statistics.confidence import ALPHA
from qc.statistics.resampling import generator, upper_quantile

Floats = NDArray[np.float64]
# What alarms are about.
DRAWN_MORE, LOSSES_MISSING, PARTIAL_VOTER = "drawn more often", "losses are missing", "partial voter"
KINDS = 3
FEWEST_CHOICES = 5
# With three systems the factors fit any three numbers.
FEWEST_SYSTEMS = 4
BOARDS = 999
_ROUNDS = 200
# Nodes of Gauss and Hermite for the mean over a normal taste.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


@dataclass(frozen=True)
class Alarm:
    """Something that a fair board would hardly show.

    Attributes:
        kind: DRAWN_MORE, LOSSES_MISSING or PARTIAL_VOTER.
        system: the system that gains by it.
        voter: number of the voter; None for the other kinds.
        seen: number of votes.
        expected: number that a fair board would have on average.
        p: upper limit of the chance of an alarm as extreme as this anywhere on a board without any defect;
            an alarm is raised below ALPHA.
    """

    kind: str
    system: str
    voter: int | None
    seen: int
    expected: float
    p: float


def alarms(found: VoteResults, seed: int = 0) -> tuple[Alarm, ...]:
    """Return the alarms, the surest of each kind first; none without scores."""
    if found.fit is None:
        return ()
    raised = [*_drawn_more(found, seed), *_losses(found, seed), *_partial(found)]
    return tuple(sorted((each for each in raised if each.p < ALPHA), key=lambda each: (each.kind, each.p)))


def _drawn_more(found: VoteResults, seed: int) -> list[Alarm]:
    n, total = len(found.scores), len(found.votes.first)
    if n < FEWEST_SYSTEMS:
        return []
    counts = _pairs(found).sum(axis=1)
    first, second = np.triu_indices(n, 1)
    rng = generator(seed, "boards of even chances")
    drawn = rng.multinomial(total, np.full(len(first), 1 / len(first)), BOARDS)
    fair = np.zeros((BOARDS, n))
    for system in range(n):
        fair[:, system] = drawn[:, (first == system) | (second == system)].sum(axis=1)
    largest = (fair - np.median(fair, axis=1, keepdims=True)).max(axis=1)
    beyond = counts - np.median(counts)
    limit = upper_quantile(largest, 1 - ALPHA / KINDS)
    return [
        Alarm(
            DRAWN_MORE,
            found.votes.systems[i],
            None,
            int(counts[i]),
            float(np.median(counts)),
            float((1 + (largest >= beyond[i]).sum()) / (BOARDS + 1) * KINDS),
        )
        for i in np.flatnonzero(beyond > limit)
    ]


def _pairs(found: VoteResults) -> Floats:
    """Return the number of votes of each pair, (S, S), symmetric."""
    return found.wins + found.wins.T + found.ties


def factors(counts: Floats) -> Floats:
    """Return a, (…, S), so that the sums over j ≠ i of a_i a_j are the `counts` of each system, (…, S).

    Each step takes the geometric mean of a and what the equation gives for it, which does not oscillate.
    """
    a = counts / np.sqrt(np.maximum(counts.sum(axis=-1, keepdims=True), 1))
    for _ in range(_ROUNDS):
        a = np.sqrt(a * counts / np.maximum(a.sum(axis=-1, keepdims=True) - a, 1e-12))
    return np.asarray(a)


def missing_losses(pairs: Floats, losing: Floats) -> tuple[Floats, Floats]:
    """Return T of each system, (…, S), and its expected votes that would be lost, by quasi-independence.

    Args:
        pairs: (…, S, S), symmetric numbers of votes.
        losing: (S, S), the chance that the row's system loses to the column's.
    """
    a = factors(pairs.sum(axis=-1))
    expected = a[..., :, None] * a[..., None, :]
    off = ~np.eye(pairs.shape[-1], dtype=bool)
    return ((pairs - expected) * losing * off).sum(axis=-1), (expected * losing * off).sum(axis=-1)


def _losses(found: VoteResults, seed: int) -> list[Alarm]:
    n = len(found.scores)
    if n < FEWEST_SYSTEMS:
        return []
    pairs = _pairs(found)
    losing = expit(found.scores - found.scores[:, None])
    seen, expected = missing_losses(pairs, losing)
    upper = np.triu_indices(n, 1)
    a = factors(pairs.sum(axis=1))
    shares = (a[:, None] * a)[upper]
    rng = generator(seed, "boards without missing losses")
    drawn = np.zeros((BOARDS, n, n))
    drawn[:, upper[0], upper[1]] = rng.multinomial(len(found.votes.first), shares / shares.sum(), BOARDS)
    fair, _ = missing_losses(drawn + drawn.transpose(0, 2, 1), losing)
    spread = fair.std(axis=0, ddof=1)
    t, lowest = -seen / spread, (-fair / spread).max(axis=1)
    worst = int(t.argmax())
    p = (1 + (lowest >= t[worst]).sum()) / (BOARDS + 1)
    if t[worst] <= upper_quantile(lowest, 1 - ALPHA / KINDS):
        return []
    lost = (pairs[worst] * losing[worst]).sum()
    name = found.votes.systems[worst]
    return [Alarm(LOSSES_MISSING, name, None, int(lost), float(expected[worst]), float(p * KINDS))]


@dataclass(frozen=True)
class _Choices:
    """Choices of voters about systems, one row for each voter and system with enough of them."""

    voter: NDArray[np.intp]
    system: NDArray[np.intp]
    number: Floats
    chosen: Floats
    expected: Floats
    variance: Floats


def _choices(votes: Votes, scores: Floats) -> _Choices:
    decided = votes.outcome != 0
    first, second, voters = votes.first[decided], votes.second[decided], votes.voters[decided]
    n = len(votes.systems)
    chance = expit(scores[first] - scores[second])
    preferred = (votes.outcome[decided] > 0).astype(np.float64)
    cells = np.concatenate([voters * n + first, voters * n + second])
    held, place = np.unique(cells, return_inverse=True)
    number, chosen, expected, variance = (
        np.bincount(place, np.concatenate([of_first, of_second]), len(held))
        for of_first, of_second in (
            (np.ones(len(first)), np.ones(len(first))),
            (preferred, 1 - preferred),
            (chance, 1 - chance),
            (chance * (1 - chance),) * 2,
        )
    )
    enough = number >= FEWEST_CHOICES
    return _Choices(
        (held // n)[enough],
        (held % n)[enough],
        *(np.asarray(each[enough], np.float64) for each in (number, chosen, expected, variance)),
    )


def taste_variance(chosen: Floats, expected: Floats, variance: Floats) -> float:
    """Return τ² from E[(chosen − expected)²] = variance + τ² · variance², by moments; at least 0.

    Each square has the weight 1 / (variance + τ² · variance²)², so that few voters with very many votes, who
    may be those looked for, count little.
    """
    squares, taste = (chosen - expected) ** 2 - variance, 0.0
    for _ in range(_ROUNDS):
        weights = 1 / np.maximum(variance + taste * variance**2, 1e-12) ** 2
        taste = float(max((weights * squares).sum() / (weights * variance**2).sum(), 0))
    return taste


def partial_p(number: Floats, chosen: Floats, expected: Floats, taste: float) -> Floats:
    """Return the chance of at least `chosen` of `number` choices, averaged over a normal taste.

    Args:
        number, chosen, expected: of each voter and system.
        taste: variance of the taste, in log odds.
    """
    middle = logit(np.clip(expected / number, 1e-9, 1 - 1e-9))
    p = np.zeros(len(number))
    for node, weight in zip(_NODES, _WEIGHTS / _WEIGHTS.sum(), strict=True):
        # The tail of a binomial as an incomplete beta function, which keeps small values.
        p += weight * betainc(
            np.maximum(chosen, 1), number - chosen + 1, expit(middle + np.sqrt(taste) * node)
        )
    return np.where(chosen > 0, p, 1.0)


def _partial(found: VoteResults) -> list[Alarm]:
    votes = found.votes
    if votes.voted_by is None:
        return []
    held = _choices(votes, found.scores)
    if not len(held.voter):
        return []
    taste = taste_variance(held.chosen, held.expected, held.variance)
    p = np.minimum(partial_p(held.number, held.chosen, held.expected, taste) * len(held.voter) * KINDS, 1)
    return [
        Alarm(
            PARTIAL_VOTER,
            votes.systems[held.system[i]],
            int(held.voter[i]),
            int(held.chosen[i]),
            float(held.expected[i]),
            float(p[i]),
        )
        for i in np.flatnonzero(p < ALPHA)
    ]
