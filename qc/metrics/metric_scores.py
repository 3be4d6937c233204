"""Scores of one metric for every conversation and every system."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.statistics.groups import group_means


@dataclass(frozen=True)
class MetricScores:
    """The scores of one metric. C conversations and S systems, in the order of the run's.

    Attributes:
        name: what it is called.
        made_of: what it was computed from: `replies`, `references`, the name of a model, a judge or a file.
        higher_is_better: whether a higher score is meant to be better; else the scores are turned around
            before they are held against people.
        conversations: (C,), NaN where there is none; None if the metric only scores systems.
        systems: (S,), NaN where there is none; None if a system's score is the mean over its conversations.
        unrated: (U,), the scores of the conversations that were left unrated, likewise; they are in no
            system's score, and None if there are none.
    """

    name: str
    made_of: str
    higher_is_better: bool
    conversations: NDArray[np.float64] | None
    systems: NDArray[np.float64] | None = None
    unrated: NDArray[np.float64] | None = None

    def split(self, rated: int) -> "MetricScores":
        """Return it for scores of which the first `rated` are the run's, and the others the unrated ones'."""
        if self.conversations is None or len(self.conversations) == rated:
            return self
        return replace(self, conversations=self.conversations[:rated], unrated=self.conversations[rated:])


def mean_by_system(
    scores: NDArray[np.float64], systems: NDArray[np.intp], count: int, taken: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the mean score of each system over its conversations that have a score, (count,).

    Args:
        scores: (C,).
        systems: (C,), codes.
        count: number of systems.
        taken: (C,), whether the conversation counts.
    """
    known = taken & np.isfinite(scores)
    return group_means(scores[known], systems[known], count)
