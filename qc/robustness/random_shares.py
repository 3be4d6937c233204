"""Estimate the share of tested workers who rated at random, with an interval.

Source: Storey, *A direct approach to false discovery rates*, Journal of the Royal Statistical Society B 64,
2002, section 3. Honest workers rarely have p above λ, random workers have it with probability 1 - λ. We use λ
= 1/2, because this then holds even if p is only symmetric and not uniform, as with correlated ratings. The
solution of the equation can be impossible, mostly in a run of random workers; the estimate is then the
nearest possible value.
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
    """A share from 0 to 1, and the ends of its interval; NaN if the denominator is 0."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RandomShares:
    """Shares among the T workers who were tested and have varying ratings, and the C with constant ratings.

    P of the T passed, F failed, and H have p above 1/2. g is the chance that a random worker passes. The
    estimated number of random workers among the T is N = min(H / (1 - 1/2), F / (1 - g), T). The second term
    is a limit because N (1 - g) random workers fail, and only F workers failed.

    Attributes:
        random: (N + C) / (T + C).
        among_passed: N g / P, at most 1.
        honest_pass: (P - N g) / (T - N), the share of honest workers who pass, from 0 to 1.
        honest_failed: F - N (1 - g), the number of honest workers who failed, at least 0.
        among_failed: share of `honest_failed` among all who failed, F + C.
    """

    random: Share
    among_passed: Share
    honest_pass: Share
    among_failed: Share
    honest_failed: float


@dataclass(frozen=True, slots=True)
class Screened:
    """Counts of the screening: T, P, H and C of `RandomShares`, and g."""

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
        """N g / P, at most 1, if every worker who failed were random; NaN if nobody passed."""
        return float(_of(self.random_pass * _most(np.array([self.failed]), self), np.array([self.passed]))[0])


def random_shares(counts: Screened, seed: int) -> RandomShares:
    """Return the shares, with percentile intervals from DRAWS draws of T workers each.

    Args:
        counts: the counts of the run.
        seed: seed of the draws.

    The intervals ignore the uncertainty of g. A draw in which a share does not exist counts at both ends.
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
    """Return the numbers who passed, and who have p above 1/2, in draws of workers with replacement.

    If the level is above 1/2, a worker can count as both.
    """
    both = max(counts.passed + counts.high - counts.tested, 0)
    kinds = np.array([counts.passed - both, both, counts.high - both])
    rest = counts.tested - kinds.sum()
    rng = generator(seed, "workers for random shares")
    chances = np.append(kinds, rest) / max(counts.tested, 1)
    drawn = rng.multinomial(counts.tested, chances if counts.tested else [0, 0, 0, 1], DRAWS)
    return drawn[:, 0] + drawn[:, 1], drawn[:, 1] + drawn[:, 2]


def _shares(counts: Screened, passed: _Counts, high: _Counts) -> dict[str, NDArray[np.float64]]:
    """Return each share for D pairs of counts, (D,)."""
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
    """Return the largest possible number of random workers: min(F / (1 - g), T)."""
    if not counts.random_pass < 1:
        return np.full(len(failed), float(counts.tested))
    return np.minimum(failed / (1 - counts.random_pass), counts.tested)


def _of(part: NDArray[np.float64], whole: NDArray[np.float64] | _Counts) -> NDArray[np.float64]:
    """Return part / whole, limited to 0 to 1; NaN if whole is 0."""
    return np.clip(part / np.where(whole > 0, whole, np.nan), 0, 1)


def _with_interval(name: str, point: dict[str, float], drawn: dict[str, NDArray[np.float64]]) -> Share:
    if np.isnan(point[name]):
        return Share(point[name], np.nan, np.nan)
    known = drawn[name]
    low, _ = percentile_interval(np.nan_to_num(known, nan=0.0), LEVEL)
    _, high = percentile_interval(np.nan_to_num(known, nan=1.0), LEVEL)
    return Share(point[name], float(low), float(high))
