"""Fragility of the leader: the fewest workers who passed without whom another system has the highest score.

A worker's z do not depend on other workers, and neither does whether a worker passes. So a worker's removal
takes exactly their own counts and sums out of the systems' means. Let a be the leader and b a rival. If both
means are t after a removal, the leader is overtaken when the remaining workers' sums of s_a − t n_a become
negative, and those of s_b − t n_b positive (s: a worker's sum of z, n: their number of conversations). Every
pair of t and a weight of the two conditions orders the workers by how much they hold the leader up. For a
grid of such pairs, the first workers of the order are removed until the leader is overtaken; the smallest
removal counts. It is confirmed by scoring the run without these workers. In a run of items the weights of an
item's other judgments grow with a removal, so the order is approximate: the removal is corrected until the
leader is just overtaken, and of small runs all removals of few workers are tried.

The result is an upper bound: a smaller removal may exist. `tests/qc/robustness/test_fragility.py` compares it
with an exact search.

Sources: Broderick, Giordano and Meager, *An Automatic Finite-Sample Robustness Metric: When Can Dropping a
Little Data Make a Big Difference?*, arXiv 2011.14999 (the question, and removal in the order of influence);
Huang, Shen, Wei and Broderick, *Dropping Just a Handful of Preferences Can Change Top Large Language Model
Rankings*, arXiv 2508.11847 (the first rank). The grid is ours: means have no error of linearisation with it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, leaders, ranks_of
from qc.robustness.intervals import means_of_sums, systems_alike, worker_sums
from qc.statistics.confidence import without_noise
from qc.table import percent, whole

# Largest share of the workers who passed that is small enough for a note.
SMALL = 0.05
# Scores t at which the two may meet: from BEYOND below the rival to BEYOND above the leader, in z.
BEYOND, MEETING_POINTS = 0.3, 13
# Weights of the rival's condition; that of the leader has the rest.
WEIGHTS = np.linspace(0.2, 0.8, 7)
# By so many workers at most a removal is corrected in a run of items.
CORRECTED = 4
# Of a small run, all removals of a size are tried if they are no more than this: of 14 workers, one or two.
TRIED = 91
# A rival is searched closely if the middle order removes at most so many times the fewest for any rival.
WITHIN_REACH = 2


@dataclass(frozen=True)
class Fragility:
    """The fewest workers found whose removal changes the leader.

    Attributes:
        leader: the system with the highest score.
        successor: the system that has it after the removal; None if no removal was found.
        passed: number of workers who passed.
        workers: the removed workers, those who hold the leader up most first. `worker` (str),
            `conversations` (int: with the leader or the successor, or judgments of their items), `leader_z`,
            `successor_z` (float: both scores without this worker and those above).
    """

    leader: str
    successor: str | None
    passed: int
    workers: pd.DataFrame

    @property
    def share(self) -> float:
        """Share of the workers who passed that is removed; NaN if no removal was found."""
        return len(self.workers) / self.passed if self.successor else np.nan

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence if the share is small."""
        if not self.share <= SMALL:
            return ()
        count = len(self.workers)
        return (
            f"Without {whole(count)} of the {whole(self.passed)} workers who passed "
            f"({percent(self.share)}), {self.successor} would have the highest score instead of "
            f"{self.leader}.",
        )


def fragility(sample: Sample, scores: Scores) -> Fragility | None:
    """Return the fewest workers found whose removal changes the leader.

    Time is linear in workers, but for sorting them.

    Returns:
        None if several systems share the highest score, fewer than two have a score, or all were rated alike.
    """
    first = leaders(scores)
    scored = int(scores.z["overall"].notna().sum())
    if len(first) != 1 or scored < 2 or systems_alike(sample, scores):
        return None
    sums = worker_sums(sample, scores, sample.overall["z"][:, None])
    names = sample.screening.workers["worker"].to_numpy()[sample.screening.workers["passed"]]
    found = [
        each
        for order, k in sorted(_removals(sums), key=lambda each: each[1])
        if (each := _confirmed(sample, scores, names, order, k)) is not None
    ]
    best = min(found, key=lambda each: len(each[1]), default=None)
    if sample.items is not None:
        best = _smaller(sample, scores, names, len(names) if best is None else len(best[1])) or best
    successor, removed = (None, np.zeros(0, np.intp)) if best is None else best
    rival = 1 if successor is None else scores.z["system"].to_list().index(successor)
    return Fragility(first[0], successor, len(sums), _table(sample, scores, sums, removed, [0, rival]))


def _confirmed(
    sample: Sample, scores: Scores, names: NDArray[np.object_], order: NDArray[np.intp], k: int
) -> tuple[str, NDArray[np.intp]] | None:
    """Return who leads without the first k of `order`, and these workers; None if the leader still does.

    In a run of items that may be a few more or fewer.
    """
    more = 0 if sample.items is None else min(CORRECTED, len(order) - k)
    for count in range(k, k + more + 1):
        if _successor(sample, scores, names[order[:count]]) is not None:
            break
    else:
        return None
    while sample.items is not None and count > 1 and _successor(sample, scores, names[order[: count - 1]]):
        count -= 1
    return str(_successor(sample, scores, names[order[:count]])), order[:count]


def _smaller(
    sample: Sample, scores: Scores, names: NDArray[np.object_], size: int
) -> tuple[str, NDArray[np.intp]] | None:
    """Return a removal of fewer than `size` workers, of all in a small run; None if there is none."""
    for removed in small_removals(len(names), size):
        if (successor := _successor(sample, scores, names[removed])) is not None:
            return successor, removed
    return None


def small_removals(workers: int, size: int) -> Iterator[NDArray[np.intp]]:
    """Yield all removals of fewer than `size` workers of a small run, the smallest first."""
    for count in range(1, size):
        if math.comb(workers, count) > TRIED:
            return
        for removed in combinations(range(workers), count):
            yield np.array(removed, np.intp)


def _successor(sample: Sample, scores: Scores, removed: NDArray[np.object_]) -> str | None:
    """Return the first system that leads without these workers; None if the leader has no score or leads."""
    sums = worker_sums(without(sample, removed), scores, sample.overall["z"][:, None])
    means = without_noise(means_of_sums(sums.sum(axis=0))[:, 0])
    if not (means > means[0]).any():  # a system without a score is neither above nor below
        return None
    return str(scores.z["system"].iloc[int(np.nanargmax(means))])


def without(sample: Sample, removed: NDArray[np.object_]) -> Sample:
    """Return the sample as if the `removed` workers had not passed."""
    workers = sample.screening.workers
    passed = workers["passed"] & ~workers["worker"].isin(removed)
    return replace(sample, screening=replace(sample.screening, workers=workers.assign(passed=passed)))


def _table(
    sample: Sample, scores: Scores, sums: NDArray[np.float64], removed: NDArray[np.intp], pair: list[int]
) -> pd.DataFrame:
    """Return `Fragility.workers`; `sums` are those of `_removals`, `pair` are leader and successor."""
    names = sample.screening.workers["worker"].to_numpy()[sample.screening.workers["passed"]]
    if sample.items is None:
        left = sums.sum(axis=0) - np.cumsum(sums[removed], axis=0)
    else:
        kept = (without(sample, names[removed[: k + 1]]) for k in range(len(removed)))
        each = [worker_sums(one, scores, sample.overall["z"][:, None]).sum(axis=0) for one in kept]
        left = np.array(each).reshape(-1, *sums.shape[1:])
    means = means_of_sums(left[:, pair])[..., 0]
    met = sample.counted & np.isin(ranks_of(sample, scores)[sample.systems], pair)
    codes = np.flatnonzero(sample.screening.workers["passed"])[removed]
    return pd.DataFrame(
        {
            "worker": pd.Series(names[removed], dtype="str"),
            "conversations": np.bincount(sample.workers[met], minlength=len(sample.screening.workers))[codes],
            "leader_z": means[:, 0],
            "successor_z": means[:, 1],
        }
    )


def _removals(sums: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Yield, for every rival within reach, an order of the workers and how many of them to remove.

    Args:
        sums: (workers, S, 2), numbers of conversations and sums of z; the leader first.
    """
    quick = {}
    for rival in range(1, sums.shape[1]):
        found = _smallest(sums[:, [0, rival]], points=1, weights=WEIGHTS[[len(WEIGHTS) // 2]])
        quick[rival] = np.inf if found is None else found[1]
    for rival, count in quick.items():
        if count <= WITHIN_REACH * min(quick.values()):
            found = _smallest(sums[:, [0, rival]], MEETING_POINTS, WEIGHTS)
            if found is not None:
                yield found


def _smallest(
    pair: NDArray[np.float64], points: int, weights: NDArray[np.float64]
) -> tuple[NDArray[np.intp], int] | None:
    """Return an order of the workers, and how many to remove so that the second system has the higher mean.

    Args:
        pair: (workers, 2, 2), counts and sums of the leader and the rival.
        points: number of scores t at which the two may meet; 1 is the middle between their scores.
        weights: weights of the rival's condition.

    Returns:
        None if no removal was found.
    """
    total = pair.sum(axis=0)
    above, below = means_of_sums(total)[:, 0]
    if not np.isfinite(below):
        return None
    ends = (below - BEYOND, above + BEYOND)
    t = np.linspace(*ends, points) if points > 1 else np.array([(above + below) / 2])
    best: tuple[NDArray[np.intp], int] | None = None
    for meeting, weight in product(t, weights):
        held = (pair[..., 1] - meeting * pair[..., 0]) / total[:, 0]
        pulls = without_noise(held[:, 0] * (1 - weight) - held[:, 1] * weight)
        order = np.argsort(-pulls, kind="stable")
        tried = order[: None if best is None else best[1] - 1]
        means = means_of_sums(total - np.cumsum(pair[tried], axis=0))[..., 0]
        overtaken = np.flatnonzero(without_noise(means[:, 1] - means[:, 0]) > 0)
        if len(overtaken):
            best = order, int(overtaken[0]) + 1
    return best
