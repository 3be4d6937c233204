"""Estimate the share of tested workers who rated at random, with an interval.

Storey, *A direct approach to false discovery rates*, Journal of the Royal Statistical Society B 64, 2002,
section 3: honest workers hardly have p above λ, random ones have it with probability 1 - λ. We take λ = 1/2,
where that holds even if p is not uniform but merely symmetric, as it is when ratings hang together. What
that equation gives may lie outside of what can be, in a run of random workers above all; the estimate is
then the nearest that can.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import generator, percentile_interval

HALF = 0.5
DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class Share:
    """A share from 0 to 1, and the ends of its interval; NaN where there is nothing to take a share of."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RandomShares:
    """Shares of the T workers who were tested and vary in their ratings, and of C who do not vary.

    P of the T passed and F failed; H have p above 1/2; g is the chance that a random worker passes; the
    estimated number of random workers among the T is N = min(H / (1 - 1/2), F / (1 - g), T), for N (1 - g) of
    them fail, and only F did.

    Attributes:
        random: (N + C) / (T + C).
        among_passed: N g / P, at most 1.
        honest_pass: (P - N g) / (T - N), the share of honest workers who pass, from 0 to 1.
        honest_failed: F - N (1 - g), how many honest workers failed, at least 0.
        among_failed: of `honest_failed` among all who failed, F + C.
    """

    random: Share
    among_passed: Share
    honest_pass: Share
    among_failed: Share
    honest_failed: float


@dataclass(frozen=True, slots=True)
class Screened:
    """How many were tested: T, P, H and C of `RandomShares`, and g."""

    tested: int
    passed: int
    high: int
    constant: int
    random_pass: float

    @property
    def failed(self) -> int:
        """F of `RandomShares`."""
        return self.tested - self.passed

    @property
    def most_among_passed(self) -> float:
        """Return N g / P, at most 1, were every worker who failed a random one; NaN if nobody passed."""
        return float(_of(self.random_pass * _most(np.array([self.failed]), self), np.array([self.passed]))[0])


def random_shares(counts: Screened, seed: int) -> RandomShares:
    """Return the shares, with percentile intervals from DRAWS draws of T workers each.

    Args:
        counts: of the run.
        seed: of the draws.

    The intervals leave out how uncertain g is. A draw in which a share does not exist counts as both ends.
    """
    point = {name: float(value[0]) for name, value in _shares(counts, *_observed(counts)).items()}
    drawn = _shares(counts, *_drawn(counts, seed))
    return RandomShares(
        random=_with_interval("random", point, drawn),
        among_passed=_with_interval("among_passed", point, drawn),
        honest_pass=_with_interval("honest_pass", point, drawn),
        among_failed=_with_interval("among_failed", point, drawn),
        honest_failed=point["honest_failed"],
    )


_Counts = NDArray[np.int64]


def _observed(counts: Screened) -> tuple[_Counts, _Counts]:
    return np.array([counts.passed]), np.array([counts.high])


def _drawn(counts: Screened, seed: int) -> tuple[_Counts, _Counts]:
    """Return how many passed and how many had p above 1/2 in each draw of workers, with replacement.

    A level above 1/2 lets workers pass whose p is above it: they are drawn as what they are, both.
    """
    both = max(counts.passed + counts.high - counts.tested, 0)
    kinds = np.array([counts.passed - both, both, counts.high - both])
    rest = counts.tested - kinds.sum()
    rng = generator(seed, "workers for random shares")
    chances = np.append(kinds, rest) / max(counts.tested, 1)
    drawn = rng.multinomial(counts.tested, chances if counts.tested else [0, 0, 0, 1], DRAWS)
    return drawn[:, 0] + drawn[:, 1], drawn[:, 1] + drawn[:, 2]


def _shares(counts: Screened, passed: _Counts, high: _Counts) -> dict[str, NDArray[np.float64]]:
    """Return each share for each of D pairs of counts, (D,)."""
    failed = counts.tested - passed
    random = np.minimum(high / (1 - HALF), _most(failed, counts))
    honest = counts.tested - random
    honest_failed = np.maximum(failed - random * (1 - counts.random_pass), 0)
    return {
        "random": _of(random + counts.constant, np.full(len(passed), counts.tested + counts.constant)),
        "among_passed": _of(random * counts.random_pass, passed),
        "honest_pass": _of(passed - random * counts.random_pass, np.where(honest >= 1, honest, 0)),
        "among_failed": _of(honest_failed, failed + counts.constant),
        "honest_failed": honest_failed,
    }


def _most(failed: _Counts, counts: Screened) -> NDArray[np.float64]:
    """Return the most random workers that there can be: only so many failed, and only T were tested."""
    if not counts.random_pass < 1:
        return np.full(len(failed), float(counts.tested))
    return np.minimum(failed / (1 - counts.random_pass), counts.tested)


def _of(part: NDArray[np.float64], whole: NDArray[np.float64] | _Counts) -> NDArray[np.float64]:
    """Return part / whole, held within 0 and 1; NaN where there is no whole."""
    return np.clip(part / np.where(whole > 0, whole, np.nan), 0, 1)


def _with_interval(name: str, point: dict[str, float], drawn: dict[str, NDArray[np.float64]]) -> Share:
    if np.isnan(point[name]):
        return Share(point[name], np.nan, np.nan)
    known = drawn[name]
    low, _ = percentile_interval(np.nan_to_num(known, nan=0.0), LEVEL)
    _, high = percentile_interval(np.nan_to_num(known, nan=1.0), LEVEL)
    return Share(point[name], float(low), float(high))
