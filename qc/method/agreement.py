"""Agreement between workers who rated the same systems.

Source: Ji et al., ACL 2022, the section on consistency of raters: Pearson's r between the overall z of two
assignments with exactly the same set of systems, including the QC bot; workers who passed and workers who
failed are separate groups.

A profile is the overall z of each system in one assignment. A system that an assignment met twice (this
happens in run 2 of the published experiment) counts once, with the mean of its conversations. In the
published runs no other assignment has the same set as one with a repeated system, so this rule does not
affect the published figures. Two assignments of the same worker are a pair too, as in the published figures.
A profile is left out if it is constant or has fewer than three systems, because its r does not exist.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.run import codes
from qc.statistics.confidence import NOISE
from qc.statistics.resampling import generator

# The number of pairs grows with the square of the assignments. Above this limit, a sample of pairs is used.
LIMIT = 100_000
FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class Pairs:
    """Pairs of assignments with the same systems.

    Attributes:
        pairs: number of pairs.
        r: (pairs,) or fewer if `sampled`, Pearson's r of each, ascending.
        sampled: whether `r` is of pairs drawn uniformly without replacement.
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

    `seed` is the seed of the sampling; a group with more than `limit` pairs is sampled down to `limit`.
    """

    passed: Pairs
    failed: Pairs
    seed: int
    limit: int


@dataclass(frozen=True)
class _Profiles:
    """Profiles of the m assignments for which r exists.

    Attributes:
        sets: (m,), the number of each assignment's set of systems; equal sets have equal numbers.
        units: (m, most systems), profiles, centred and of length 1, padded with 0.
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
    # One cell per system and assignment, whether the system was met once or more often.
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
    # The length of a constant profile is rounding noise; that of a constant worker is NaN.
    length = np.sqrt((centred * centred).sum(axis=1))
    defined = (size >= FEWEST_SYSTEMS) & (length > NOISE)
    return _Profiles(
        sets=_set_numbers(systems[defined], known),
        units=centred[defined] / length[defined, None],
        passed=sample.screening.keeps(codes(run.assignments["worker"]))[defined],
    )


def _set_numbers(systems: NDArray[np.intp], known: int) -> NDArray[np.intp]:
    """Return a number for each set of systems: a row of ascending codes below `known`, padded with -1."""
    number = np.zeros(len(systems), np.intp)
    for column in systems.T:
        number = np.unique(number * (known + 1) + column + 1, return_inverse=True)[1]
    return number


def _pairs(sets: NDArray[np.intp], units: NDArray[np.float64], limit: int, rng: np.random.Generator) -> Pairs:
    """Return r of the pairs of rows with the same set, or of a sample of `limit` pairs."""
    order = np.argsort(sets, kind="stable")
    ordered = sets[order]
    # Rows are sorted by set, so each row is paired with the later rows of its set.
    after = np.searchsorted(ordered, ordered, side="right") - np.arange(1, len(ordered) + 1)
    end = np.cumsum(after)
    pairs = int(after.sum())
    chosen = np.arange(pairs) if pairs <= limit else rng.choice(pairs, limit, replace=False)
    first = np.searchsorted(end, chosen, side="right")
    second = first + 1 + chosen - (end - after)[first]
    r = np.einsum("ps,ps->p", units[order[first]], units[order[second]])
    return Pairs(pairs, np.sort(np.clip(r, -1, 1)), pairs > limit)
