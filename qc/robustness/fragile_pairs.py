"""Fragility of what is told apart: the fewest workers without whom two systems no longer are.

A pair of systems is told apart while its difference is larger than q standard errors (`Intervals`). A
worker's removal takes their influence out of the difference, and their square out of its variance. For a few
weights of the two, workers are put in order by how much they keep the pair apart, and removed in this order.
Every removal is confirmed by computing what the report of the run without these workers tells apart, with the
same draws; this also counts that fewer workers widen all intervals.

Two groups become one if any pair with a system in each is no longer told apart. So the fewest workers for a
border between groups are those for its most fragile pair.

The result is an upper bound: a smaller removal may exist, but not of one or two of at most 14 workers, of
whom all are tried. `tests/qc/robustness/test_fragile_pairs.py`
compares it with an exact search.

Sources: Broderick, Giordano and Meager, *An Automatic Finite-Sample Robustness Metric: When Can Dropping a
Little Data Make a Big Difference?*, arXiv 2011.14999, section 2 (loss of significance, by influence). The
weights and the confirmation are ours.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from qc.method.sample import Sample
from qc.method.scores import Scores
from qc.robustness.fragility import SMALL, small_removals, without
from qc.robustness.intervals import Intervals, told_apart, worker_sums
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import influences
from qc.table import percent, whole

Pair = tuple[int, int]
# So many pairs that look most fragile are searched closely, and a removal is corrected by so many workers.
SEARCHED, CORRECTED = 4, 4
# Largest share of the workers that is removed: what takes more of them is not fragile.
LARGEST = 0.25


@dataclass(frozen=True)
class Removal:
    """Workers without whom two systems are no longer told apart.

    Attributes:
        first, second: the systems, the better one first.
        workers: names, those who keep the two apart most first.
    """

    first: str
    second: str
    workers: tuple[str, ...]


@dataclass(frozen=True)
class FragilePairs:
    """The fewest workers found whose removal takes back what is told apart.

    Attributes:
        passed: number of workers who passed.
        pair: of all pairs that are told apart, the one that takes the fewest workers; None if no removal
            was found.
        border: the same of the pairs whose systems are in different groups: two groups become one.
        lead: the same of the pairs of the system with the highest score and another.
    """

    passed: int
    pair: Removal | None
    border: Removal | None
    lead: Removal | None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence if few workers decide which systems may be as good as the one with the highest score."""
        if self.lead is None or not self.is_small(self.lead):
            return ()
        count = len(self.lead.workers)
        return (
            f"Without {whole(count)} of the {whole(self.passed)} workers who passed "
            f"({percent(count / self.passed)}), {self.lead.second} would no longer be told apart from "
            f"{self.lead.first}, which has the highest score.",
        )

    def is_small(self, found: Removal | None) -> bool:
        """Return whether a removal is small enough for the verdict."""
        return found is not None and len(found.workers) <= SMALL * self.passed


def fragile_pairs(sample: Sample, scores: Scores, found: Intervals, seed: int) -> FragilePairs | None:
    """Return the fewest workers found whose removal takes back what is told apart.

    Args:
        sample: the sample.
        scores: its scores.
        found: its intervals.
        seed: seed of the intervals.

    Returns:
        None if no two systems are told apart.
    """
    apart = found.simultaneous_low > 0
    if not apart.any():
        return None
    search = _Search(sample, scores, found, seed)
    group = {name: number for number, names in enumerate(found.groups) for name in names}
    pairs: list[Pair] = [(int(i), int(j)) for i, j in np.argwhere(apart)]
    across = [(i, j) for i, j in pairs if group[found.systems[i]] != group[found.systems[j]]]
    border, lead = search.fewest(across), search.fewest([(i, j) for i, j in pairs if i == 0])
    removals = [each for each in (search.fewest(pairs), border, lead) if each is not None]
    fewest = min(removals, key=lambda each: len(each.workers), default=None)
    return FragilePairs(len(search.names), fewest, border, lead)


class _Search:
    """A search for small removals, by pairs of systems, which remembers what it found."""

    def __init__(self, sample: Sample, scores: Scores, found: Intervals, seed: int) -> None:
        self._sample, self._scores, self._found, self._seed = sample, scores, found, seed
        workers = sample.screening.workers
        self.names = workers["worker"].to_numpy()[workers["passed"]]
        self._sums = worker_sums(sample, scores, sample.overall["z"][:, None])
        self._influences = influences(self._sums)
        self._removals: dict[Pair, NDArray[np.intp] | None] = {}
        self._apart: dict[frozenset[int], NDArray[np.bool_]] = {}

    def fewest(self, pairs: list[Pair]) -> Removal | None:
        """Return the smallest removal found that takes back one of `pairs`."""
        looks = sorted(pairs, key=self._spare)[:SEARCHED]
        found = [(pair, removal) for pair in looks if (removal := self._removal(pair)) is not None]
        best = min(found, key=lambda each: len(each[1]), default=None)
        best = self._smaller(pairs, None if best is None else len(best[1])) or best
        if best is None:
            return None
        (first, second), removal = best
        systems = self._found.systems
        return Removal(systems[first], systems[second], tuple(map(str, self.names[removal])))

    def _smaller(self, pairs: list[Pair], size: int | None) -> tuple[Pair, NDArray[np.intp]] | None:
        """Return a removal of fewer than `size` workers, of all in a small run; None if there is none."""
        largest = math.ceil(LARGEST * len(self.names)) + 1
        for removed in small_removals(len(self.names), largest if size is None else size):
            if lost := [pair for pair in pairs if not self._tells(pair, removed)]:
                return lost[0], removed
        return None

    def _spare(self, pair: Pair) -> float:
        """Return by how many standard errors the difference is larger than it must be."""
        return float(self._found.simultaneous_low[pair]) / self._error(pair)

    def _error(self, pair: Pair) -> float:
        return float(self._influences.standard_errors_of_differences()[pair])

    def _removal(self, pair: Pair) -> NDArray[np.intp] | None:
        if pair not in self._removals:
            order, k = self._foreseen(pair)
            self._removals[pair] = self._corrected(pair, order, k)
        return self._removals[pair]

    def _foreseen(self, pair: Pair) -> tuple[NDArray[np.intp], int]:
        """Return the workers in the order of their removal, and how many it should take."""
        kept = self._sums[:, list(pair)].copy()
        difference = float(self._influences.mean[pair[0], 0] - self._influences.mean[pair[1], 0])
        limit = (difference - float(self._found.simultaneous_low[pair])) / self._error(pair)
        workers, order, k = len(kept), list[int](), 0
        for removed in range(1, math.ceil(LARGEST * workers) + 1):
            spare = _spare_without(kept, limit * _wider(workers, removed))
            spare[order] = np.nan
            if np.isnan(spare).all():
                break
            worker = int(np.nanargmin(spare))
            order.append(worker)
            kept[worker] = 0
            if not k and not spare[worker] > 0:
                k = removed
            if k and removed >= k + CORRECTED:
                break
        return np.array(order, np.intp), k or len(order)

    def _corrected(self, pair: Pair, order: NDArray[np.intp], k: int) -> NDArray[np.intp] | None:
        """Return the shortest part of `order`, about `k` long, that takes the pair back; None if none."""
        while k <= len(order) and self._tells(pair, order[:k]):
            k += 1
        if k > len(order):
            return None
        while k > 1 and not self._tells(pair, order[: k - 1]):
            k -= 1
        return order[:k]

    def _tells(self, pair: Pair, removed: NDArray[np.intp]) -> bool:
        """Return whether the report of the run without these workers tells the pair apart."""
        key = frozenset(removed.tolist())
        if key not in self._apart:
            sample = without(self._sample, self.names[removed])
            self._apart[key] = told_apart(sample, self._scores, self._found.count, self._seed)
        return bool(self._apart[key][pair])


def _wider(workers: int, removed: int) -> float:
    """Return about by how much the limit grows with so many workers removed."""
    fewer = max(workers - removed - 1, 1)
    return float(stdtrit(fewer, (1 + LEVEL) / 2) / stdtrit(workers - 1, (1 + LEVEL) / 2))


def _spare_without(pair: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    """Return the difference less `limit` standard errors without each worker, (W,); NaN if nobody is left.

    The share of a worker in the factor 1 / (1 − h) is the one with all workers of `pair`.

    Args:
        pair: (W, 2, 2), counts and sums of the two systems.
        limit: number of standard errors.
    """
    left = pair[..., 0].sum(axis=0) - pair[..., 0]
    left = np.where(left > 0, left, np.nan)
    means = (pair[..., 1].sum(axis=0) - pair[..., 1]) / left
    # A residual is linear in a worker's counts and sums, so all squares follow from one product of these.
    shares = pair[..., 0] / pair[..., 0].sum(axis=0)
    terms = (pair / np.sqrt(np.where(shares < 1, 1 - shares, 1))[..., None]).reshape(len(pair), 4)
    others = np.einsum("wi,wj->ij", terms, terms) - terms[:, :, None] * terms[:, None, :]
    linear = np.stack([-means / left, 1 / left], axis=2) * np.array([1, -1])[:, None]
    linear = linear.reshape(len(pair), 4)
    variance = np.einsum("wi,wij,wj->w", linear, others, linear)
    return np.asarray(means[:, 0] - means[:, 1] - limit * np.sqrt(np.maximum(variance, 0)))
