"""Duration of a conversation.

Source: Ji et al., ACL 2022, the paragraph on duration: working time of an assignment divided by its
number of conversations, averaged over assignments.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import Run, codes


@dataclass(frozen=True, slots=True)
class Minutes:
    """Mean minutes of a conversation, or an assignment: of workers who passed, who failed, and of all.

    NaN if unknown.
    """

    passed: float
    failed: float
    all: float


def minutes_per_conversation(sample: Sample) -> Minutes:
    """Return how long conversations took, over the assignments whose working time is known.

    In a run of transcripts it is how long an item took, control items among them.
    """
    return _by_group(sample, assignment_minutes(sample.run))


def minutes_per_assignment(sample: Sample) -> Minutes:
    """Return how long whole assignments took, of those whose working time is known."""
    return _by_group(sample, sample.run.assignments["seconds"].to_numpy(np.float64) / 60)


def _by_group(sample: Sample, minutes: NDArray[np.float64]) -> Minutes:
    """Return the means of `minutes`, (assignments,)."""
    known = np.isfinite(minutes)
    passed = sample.screening.keeps(codes(sample.run.assignments["worker"]))
    return Minutes(
        passed=_mean(minutes[known & passed]),
        failed=_mean(minutes[known & ~passed]),
        all=_mean(minutes[known]),
    )


def assignment_minutes(run: Run) -> NDArray[np.float64]:
    """Return the minutes per conversation of each assignment, (assignments,); NaN if unknown.

    Conversations that were left unrated took time, too.
    """
    held = np.bincount(codes(run.conversations["assignment"]), minlength=len(run.assignments))
    if run.unrated is not None:
        held += np.bincount(codes(run.unrated.conversations["assignment"]), minlength=len(held))
    return np.asarray(run.assignments["seconds"].to_numpy(np.float64) / 60 / held)


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.sort(values).mean()) if len(values) else float("nan")
