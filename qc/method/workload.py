"""How many assignments a worker did. Source: Ji et al., ACL 2022, the section on workers."""

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
class Workload:
    """Assignments per worker: of workers who passed, who failed, and of all."""

    passed: Spread
    failed: Spread
    all: Spread


def workload(sample: Sample) -> Workload:
    """Return how many of the analysed assignments each worker did."""
    passed = sample.screening.workers["passed"].to_numpy(bool)
    done = np.bincount(codes(sample.run.assignments["worker"]), minlength=len(passed))
    return Workload(passed=_spread(done[passed]), failed=_spread(done[~passed]), all=_spread(done))


def _spread(done: NDArray[np.intp]) -> Spread:
    if not len(done):
        return Spread(float("nan"), float("nan"), float("nan"), 0)
    return Spread(float(done.mean()), float(np.median(done)), float(done.max()), len(done))
