"""Test for each ordered pair of systems that one scores higher than the other.

Source: Ji et al., ACL 2022, the section on significance (thesis: figures of chapter 5): for each ordered
pair of systems a one-sided rank-sum test on the overall z of their kept conversations, noise rounded off; in
a run of transcripts on that of their items, each with the mean over the workers who judged it.

That test takes conversations as independent. A worker's are not: whoever has a taste for a system has it in
all conversations with it, and z makes a worker's add up to a constant. Where workers have many conversations
or strong tastes, it finds differences between equal systems too often. Beside it stands a test of the same
question whose error is that of workers (`qc.statistics.clustered_ranks`), on conversations, or judgments.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.statistics.clustered_ranks import clustered_rank_matrix
from qc.statistics.confidence import holm
from qc.statistics.rank_tests import rank_sum_matrix


@dataclass(frozen=True)
class Significance:
    """p-values of every system against every other; S systems.

    Attributes:
        systems: names, best first, in the order of the scores.
        p: (S, S), one-sided: the system of the row is rated higher than that of the column. The diagonal
            is 1; row and column of a system without a kept conversation are NaN, its diagonal included.
        holm: (S, S), `p` with Holm's correction. The family is that of all ordered pairs that can be
            tested, at most S (S - 1); the diagonal does not belong to it and stays as it is.
        by_worker: (S, S), as `p`, of the test whose error is that of workers; NaN also for a system that a
            single worker rated.
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
            adjusted: whether the published p-values with Holm's correction are taken.
        """
        return (self.holm if adjusted else self.p) < alpha


def compare_systems(sample: Sample, scores: Scores) -> Significance:
    """Test every competing system against every other, on what the workers who passed rated."""
    systems, (values, of) = tuple(scores.z["system"]), sample.tested
    p = rank_sum_matrix(values, ranks_of(sample, scores)[of], len(systems))
    by_worker = compare_by_worker(sample, scores)
    return Significance(systems, p, _holm(p), by_worker, _holm(by_worker))


def compare_by_worker(sample: Sample, scores: Scores) -> NDArray[np.float64]:
    """Return `by_worker` of `Significance`, (S, S)."""
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
