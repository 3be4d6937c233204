"""Test for each ordered pair of systems whether the first scores higher, and group systems by these tests.

Source: Ji et al., ACL 2022, the section on significance (thesis: figures of chapter 5): a one-sided rank-sum
test on the overall z of the kept conversations of the two systems, without rounding noise. In a run of
transcripts the test uses their items, each with the mean over the workers who judged it.

That test assumes independent conversations, but those of one worker are dependent: a worker who likes a
system likes it in every conversation, and z makes the scores of a worker add up to a constant. If workers
have many conversations or strong preferences, the test finds differences between equal systems too often. So
there is a second test of the same question with workers as the independent units
(`qc.statistics.clustered_ranks`), on conversations or judgments.

Source: the convention of the human evaluations of the Conference on Machine Translation, for example
Bojar et al., *Findings of the 2016 Conference on Machine Translation*, section 3. Systems of different groups
differ significantly; systems within a group do not all differ significantly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.statistics.clustered_ranks import clustered_rank_matrix
from qc.statistics.confidence import ALPHA, holm
from qc.statistics.rank_tests import rank_sum_matrix


@dataclass(frozen=True)
class Significance:
    """p-values of every system against every other; S systems.

    Attributes:
        systems: names, best first, in the order of the scores.
        p: (S, S), one-sided: the row's system is rated higher than the column's. The diagonal is 1. The row
            and column of a system without a kept conversation are NaN, including its diagonal.
        holm: (S, S), `p` with Holm's correction. The family is all ordered pairs that can be tested, at most
            S (S - 1). The diagonal is not corrected.
        by_worker: (S, S), like `p`, for the test with workers as the independent units; NaN also for a
            system that only one worker rated.
        by_worker_holm: (S, S), `by_worker` with Holm's correction.
    """

    systems: tuple[str, ...]
    p: NDArray[np.float64]
    holm: NDArray[np.float64]
    by_worker: NDArray[np.float64]
    by_worker_holm: NDArray[np.float64]

    def conclusions(self, alpha: float, adjusted: bool = False) -> NDArray[np.bool_]:
        """Return, (S, S), whether the row is significantly higher than the column: p below `alpha`.

        Args:
            alpha: level of significance.
            adjusted: use the published p-values with Holm's correction.
        """
        return (self.holm if adjusted else self.p) < alpha


def compare_systems(sample: Sample, scores: Scores) -> Significance:
    """Test every competing system against every other, on the ratings of the workers who passed."""
    systems, (values, of) = tuple(scores.z["system"]), sample.tested
    p = rank_sum_matrix(values, ranks_of(sample, scores)[of], len(systems))
    by_worker = compare_by_worker(sample, scores)
    return Significance(systems, p, _holm(p), by_worker, _holm(by_worker))


def compare_by_worker(sample: Sample, scores: Scores) -> NDArray[np.float64]:
    """Compute `Significance.by_worker`, (S, S)."""
    ranks, counted = ranks_of(sample, scores), sample.counted
    return clustered_rank_matrix(
        sample.overall_rounded[counted],
        ranks[sample.systems[counted]],
        sample.workers[counted],
        sample.weights[counted],
        len(scores.z),
    )


def _holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    tested = ~np.eye(len(p), dtype=bool)
    adjusted = p.copy()
    adjusted[tested] = holm(p[tested])
    return adjusted


@dataclass(frozen=True)
class Clusters:
    """Groups of systems, the highest first, each in the order of the scores; as many groups as possible.

    Attributes:
        alpha: level at which a system beats another: p below it.
        groups: by the published p-values without correction.
        holm_groups: by the same p-values with Holm's correction.

    A system without a kept conversation was not tested and is in no group.
    """

    alpha: float
    groups: tuple[tuple[str, ...], ...]
    holm_groups: tuple[tuple[str, ...], ...]


def cluster(significance: Significance, alpha: float = ALPHA) -> Clusters:
    """Group the systems at level `alpha`."""
    tested = ~np.isnan(significance.p.diagonal())
    systems = tuple(name for name, there in zip(significance.systems, tested, strict=True) if there)
    groups, holm_groups = (
        tuple(tuple(systems[i] for i in group) for group in groups_of(beats[np.ix_(tested, tested)]))
        for beats in (significance.conclusions(alpha), significance.conclusions(alpha, adjusted=True))
    )
    return Clusters(alpha, groups, holm_groups)


def groups_of(beats: NDArray[np.bool_]) -> list[list[int]]:
    """Return the finest partition in which every member of a group beats all members of later groups.

    Args:
        beats: (S, S), whether the row beats the column.

    Returns:
        Groups of row numbers, each ascending; none if there are no rows.
    """
    # A system above a border beats all systems below it, and one below beats none above. So ordered by the
    # number of victories, all systems above a border come before those below it.
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    ordered = beats[np.ix_(order, order)]
    borders = [i for i in range(1, len(order)) if ordered[:i, i:].all()]
    return [sorted(group.tolist()) for group in np.split(order, borders) if len(group)]
