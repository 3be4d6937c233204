"""Fragility of the leader: the fewest workers who passed without whom another system has the highest score.

A worker's z do not depend on other workers, and neither does whether a worker passes. So a worker's removal
takes exactly their own counts and sums out of the systems' means. Let a be the leader and b a rival. If both
means are t after a removal, the leader is overtaken when the remaining workers' sums of s_a − t n_a become
negative, and those of s_b − t n_b positive (s: a worker's sum of z, n: their number of conversations). Every
pair of t and a weight of the two conditions orders the workers by how much they hold the leader up. For a
grid of such pairs, the first workers of the order are removed until the leader is overtaken; the smallest
removal counts. It is confirmed by scoring the run without these workers.

The result is an upper bound: a smaller removal may exist. `tests/qc/robustness/test_fragility.py` compares it
with an exact search.

Sources: Broderick, Giordano and Meager, *An Automatic Finite-Sample Robustness Metric: When Can Dropping a
Little Data Make a Big Difference?*, arXiv 2011.14999 (the question, and removal in the order of influence);
Huang, Shen, Wei and Broderick, *Dropping Just a Handful of Preferences Can Change Top Large Language Model
Rankings*, arXiv 2508.11847 (the first rank). The grid is ours: means have no error of linearisation with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, leaders, score
from qc.robustness.intervals import means_of_sums, worker_sums
from qc.statistics.confidence import without_noise
from qc.table import percent, whole

# Largest share of the workers who passed that is small enough for a note.
SMALL = 0.05
# Scores t at which the two may meet: from BEYOND below the rival to BEYOND above the leader, in z.
BEYOND, MEETING_POINTS = 0.3, 13
# Weights of the rival's condition; that of the leader has the rest.
WEIGHTS = np.linspace(0.2, 0.8, 7)
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
            `conversations` (int: with the leader or the successor), `leader_z`, `successor_z` (float: both
            scores without this worker and those above).
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
        None if several systems share the highest score, or fewer than two have a score.
    """
    first = leaders(scores)
    if len(first) != 1 or scores.z["overall"].notna().sum() < 2:
        return None
    sums = worker_sums(sample, scores, sample.overall["z"][:, None])
    names = sample.screening.workers["worker"].to_numpy()[sample.screening.workers["passed"]]
    for removal in sorted(_removals(sums), key=len):
        successors = leaders(score(_without(sample, names[removal])))
        if successors and first[0] not in successors:
            table = _table(sums[:, [0, scores.z["system"].to_list().index(successors[0])]], removal, names)
            return Fragility(first[0], successors[0], len(sums), table)
    return Fragility(first[0], None, len(sums), _table(sums[:, :2], np.zeros(0, np.intp), names))


def _without(sample: Sample, removed: NDArray[np.object_]) -> Sample:
    """Return the sample as if the `removed` workers had not passed."""
    workers = sample.screening.workers
    passed = workers["passed"] & ~workers["worker"].isin(removed)
    return replace(sample, screening=replace(sample.screening, workers=workers.assign(passed=passed)))


def _table(pair: NDArray[np.float64], removed: NDArray[np.intp], names: NDArray[np.object_]) -> pd.DataFrame:
    """Return `Fragility.workers`; `pair` is that of `_smallest`."""
    means = means_of_sums(pair.sum(axis=0) - np.cumsum(pair[removed], axis=0))[..., 0]
    return pd.DataFrame(
        {
            "worker": pd.Series(names[removed], dtype="str"),
            "conversations": pair[removed, :, 0].sum(axis=1).astype(np.intp),
            "leader_z": means[:, 0],
            "successor_z": means[:, 1],
        }
    )


def _removals(sums: NDArray[np.float64]) -> Iterator[NDArray[np.intp]]:
    """Yield the smallest removal found for every rival within reach.

    Args:
        sums: (workers, S, 2), numbers of conversations and sums of z; the leader first.
    """
    quick = {}
    for rival in range(1, sums.shape[1]):
        found = _smallest(sums[:, [0, rival]], points=1, weights=WEIGHTS[[len(WEIGHTS) // 2]])
        quick[rival] = np.inf if found is None else len(found)
    for rival, count in quick.items():
        if count <= WITHIN_REACH * min(quick.values()):
            found = _smallest(sums[:, [0, rival]], MEETING_POINTS, WEIGHTS)
            if found is not None:
                yield found


def _smallest(
    pair: NDArray[np.float64], points: int, weights: NDArray[np.float64]
) -> NDArray[np.intp] | None:
    """Return the workers to remove so that the second system has the higher mean; None if none were found.

    Args:
        pair: (workers, 2, 2), counts and sums of the leader and the rival.
        points: number of scores t at which the two may meet; 1 is the middle between their scores.
        weights: weights of the rival's condition.
    """
    total = pair.sum(axis=0)
    above, below = means_of_sums(total)[:, 0]
    if not np.isfinite(below):
        return None
    ends = (below - BEYOND, above + BEYOND)
    t = np.linspace(*ends, points) if points > 1 else np.array([(above + below) / 2])
    best: NDArray[np.intp] | None = None
    for meeting, weight in product(t, weights):
        held = (pair[..., 1] - meeting * pair[..., 0]) / total[:, 0]
        pulls = without_noise(held[:, 0] * (1 - weight) - held[:, 1] * weight)
        tried = np.argsort(-pulls, kind="stable")[: None if best is None else len(best) - 1]
        means = means_of_sums(total - np.cumsum(pair[tried], axis=0))[..., 0]
        overtaken = np.flatnonzero(without_noise(means[:, 1] - means[:, 0]) > 0)
        if len(overtaken):
            best = tried[: overtaken[0] + 1]
    return best
