"""Assignments per worker. Source: Ji et al., ACL 2022, the section on workers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import codes


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median and maximum over `count` workers; NaN if there are none."""

    mean: float
    median: float
    maximum: float
    count: int


@dataclass(frozen=True, slots=True)
class Times:
    """How many workers who passed, and who failed, did so many assignments."""

    assignments: int
    passed: int
    failed: int


@dataclass(frozen=True, slots=True)
class Workload:
    """Assignments per worker: of workers who passed, who failed, and of all.

    `distribution` has an entry for every number of assignments that somebody did, ascending.
    """

    passed: Spread
    failed: Spread
    all: Spread
    distribution: tuple[Times, ...]


def workload(sample: Sample) -> Workload:
    """Return how many of the analysed assignments each worker did."""
    passed = sample.screening.workers["passed"].to_numpy(bool)
    done = np.bincount(codes(sample.run.assignments["worker"]), minlength=len(passed))
    return Workload(
        passed=_spread(done[passed]),
        failed=_spread(done[~passed]),
        all=_spread(done),
        distribution=tuple(
            Times(each, int((done[passed] == each).sum()), int((done[~passed] == each).sum()))
            for each in np.unique(done).tolist()
        ),
    )


def _spread(done: NDArray[np.intp]) -> Spread:
    if not len(done):
        return Spread(float("nan"), float("nan"), float("nan"), 0)
    return Spread(float(done.mean()), float(np.median(done)), float(done.max()), len(done))
