"""Agreement of two workers who met the same systems.

Source: Ji et al., ACL 2022, the section on consistency of raters: Pearson's r between the overall z of two
assignments that had exactly the same set of systems, the qc bot included; passed and failed workers apart.

A profile is what one assignment says of its systems. A system met twice in an assignment (run 2 of the
published experiment has such) counts once, with the mean of its conversations; in the published runs no
other assignment has the set of one with a system twice, so the published figures do not depend on this. Two
assignments of the same worker are a pair like any other, as they are in the published figures. A profile
has no r, and takes no part, if it is constant or has fewer than three systems.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import codes
from qc.statistics.noise import NOISE
from qc.statistics.resampling import generator

# Pairs grow with the square of the assignments; beyond this many, a sample of them shows the distribution.
LIMIT = 100_000
FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class Pairs:
    """Pairs of assignments with the same systems.

    Attributes:
        pairs: how many there are.
        r: (pairs,) or fewer if `sampled`, Pearson's r of each, ascending.
        sampled: whether `r` is of pairs drawn at random, each equally likely, none twice.
    """

    pairs: int
    r: NDArray[np.float64]
    sampled: bool

    @cached_property
    def median_r(self) -> float:
        """The median of `r`; NaN if there are no pairs."""
        return float(np.median(self.r)) if len(self.r) else float("nan")


@dataclass(frozen=True)
class Agreement:
    """Agreement among workers who passed, and among those who failed.

    `seed` is that of the sampling; past `limit` pairs in a group it samples as many.
    """

    passed: Pairs
    failed: Pairs
    seed: int
    limit: int


@dataclass(frozen=True)
class _Profiles:
    """Those of m assignments that have an r.

    Attributes:
        sets: (m,), equal numbers for equal sets of systems.
        units: (m, most systems), centred and of length 1; 0 beyond an assignment's number of systems.
        passed: (m,), whether the worker passed.
    """

    sets: NDArray[np.intp]
    units: NDArray[np.float64]
    passed: NDArray[np.bool_]


def rater_agreement(sample: Sample, seed: int, limit: int = LIMIT) -> Agreement:
    """Return the agreement among the workers who passed and among those who failed."""
    profiles = _profiles(sample)
    passed, failed = (
        _pairs(profiles.sets[group], profiles.units[group], limit, generator(seed, f"pairs: {name}"))
        for name, group in (("passed", profiles.passed), ("failed", ~profiles.passed))
    )
    return Agreement(passed, failed, seed, limit)


def _profiles(sample: Sample) -> _Profiles:
    run = sample.run
    assignments, known = len(run.assignments), len(run.systems)
    # One cell for every system of every assignment, whether met once or more often.
    cells, cell, times = np.unique(
        codes(run.conversations["assignment"]) * known + sample.systems,
        return_inverse=True,
        return_counts=True,
    )
    overall = np.bincount(cell, weights=sample.overall_rounded, minlength=len(cells)) / times
    assignment, system = np.divmod(cells, known)
    size = np.bincount(assignment, minlength=assignments)
    column = np.arange(len(cells)) - (np.cumsum(size) - size)[assignment]
    systems = np.full((assignments, size.max(initial=0)), -1)
    systems[assignment, column] = system
    centred = np.zeros(systems.shape)
    centred[assignment, column] = overall
    present = systems >= 0
    centred -= centred.sum(axis=1, keepdims=True) / size[:, None]
    centred[~present] = 0
    # A profile of equal values has no length but for rounding noise; that of a constant worker is NaN.
    length = np.sqrt((centred * centred).sum(axis=1))
    defined = (size >= FEWEST_SYSTEMS) & (length > NOISE)
    return _Profiles(
        sets=_set_numbers(systems[defined], known),
        units=centred[defined] / length[defined, None],
        passed=sample.screening.keeps(codes(run.assignments["worker"]))[defined],
    )


def _set_numbers(systems: NDArray[np.intp], known: int) -> NDArray[np.intp]:
    """Return a number for each row of codes below `known`, ascending and then filled up with -1."""
    number = np.zeros(len(systems), np.intp)
    for column in systems.T:
        number = np.unique(number * (known + 1) + column + 1, return_inverse=True)[1]
    return number


def _pairs(sets: NDArray[np.intp], units: NDArray[np.float64], limit: int, rng: np.random.Generator) -> Pairs:
    """Return r of the pairs of rows with the same set, or of `limit` of them."""
    order = np.argsort(sets, kind="stable")
    ordered = sets[order]
    # With the rows of a set side by side, each row is paired with those after it in its set.
    after = np.searchsorted(ordered, ordered, side="right") - np.arange(1, len(ordered) + 1)
    end = np.cumsum(after)
    pairs = int(after.sum())
    chosen = np.arange(pairs) if pairs <= limit else rng.choice(pairs, limit, replace=False)
    first = np.searchsorted(end, chosen, side="right")
    second = first + 1 + chosen - (end - after)[first]
    r = np.einsum("ps,ps->p", units[order[first]], units[order[second]])
    return Pairs(pairs, np.sort(np.clip(r, -1, 1)), pairs > limit)
