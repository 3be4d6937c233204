"""Which systems score higher than which, pair by pair.

Source: Ji et al., ACL 2022, the section on significance (thesis: figures of chapter 5): for each ordered
pair of systems a one-sided rank-sum test on the overall z of their kept conversations, noise rounded off; in
a run of transcripts on that of their items, each with the mean over the workers who judged it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of
from qc.statistics.multiplicity import holm
from qc.statistics.rank_sum import rank_sum_matrix


@dataclass(frozen=True)
class Significance:
    """p-values of every system against every other; S systems.

    Attributes:
        systems: names, best first, in the order of the scores.
        p: (S, S), one-sided: the system of the row is rated higher than that of the column. The diagonal
            is 1; row and column of a system without a kept conversation are NaN, its diagonal included.
        holm: (S, S), `p` with Holm's correction. The family is that of all ordered pairs that can be
            tested, at most S (S - 1); the diagonal does not belong to it and stays as it is.
    """

    systems: tuple[str, ...]
    p: NDArray[np.float64]
    holm: NDArray[np.float64]

    def conclusions(self, alpha: float, adjusted: bool = False) -> NDArray[np.bool_]:
        """Return, (S, S), whether the row is significantly higher than the column: p below `alpha`.

        Args:
            alpha: level of significance.
            adjusted: whether the p-values with Holm's correction are taken.
        """
        return (self.holm if adjusted else self.p) < alpha


def compare_systems(sample: Sample, scores: Scores) -> Significance:
    """Test every competing system against every other, on what the workers who passed rated."""
    systems, (values, of) = tuple(scores.z["system"]), sample.tested
    p = rank_sum_matrix(values, ranks_of(sample, scores)[of], len(systems))
    return Significance(systems, p, _holm(p))


def _holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    tested = ~np.eye(len(p), dtype=bool)
    adjusted = p.copy()
    adjusted[tested] = holm(p[tested])
    return adjusted
