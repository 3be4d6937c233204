"""Test every pair of systems by randomisation within workers or items, and compare pools of raters."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import OptionError, ReplicationError
from qc.estimators.randomisation import (
    Randomisation,
    RaterAgreement,
    against_pool,
    randomise,
    rater_profiles,
    within_pool,
)
from qc.planning.opinion import SystemOpinion
from qc.progress import OnStep, no_step
from qc.statistics.confidence import holm
from qc.statistics.resampling import generator

FEWEST_SYSTEMS = 3
FIRST, SECOND = "first pool", "second pool"


@dataclass(frozen=True)
class PoolAgreement:
    """Raters of one pool compared with an average.

    Attributes:
        raters: pool of the raters: FIRST or SECOND.
        average: pool of the average.
        agreement: the agreement of the two.
    """

    raters: str
    average: str
    agreement: RaterAgreement

    @property
    def label(self) -> str:
        """Names of the raters' pool and of the average's pool."""
        return f"{self.raters}: {'the others' if self.raters == self.average else self.average}"


def agree(opinion: SystemOpinion, other: SystemOpinion | None) -> list[PoolAgreement]:
    """Return the agreement of raters within their pool, and with another pool if there is one.

    Args:
        opinion: people's judgments.
        other: another pool's judgments of the same systems; None if there is none.

    Returns:
        One for each pool, and with two pools also one for each against the other's average; none if a source
        does not say who judged.

    Raises:
        ReplicationError: the two pools have fewer than three systems in common.
    """
    if opinion.workers is None or (other is not None and other.workers is None):
        return []
    if other is None:
        return [PoolAgreement(FIRST, FIRST, within_pool(_profiles(opinion, opinion.systems)))]
    common = tuple(system for system in opinion.systems if system in other.systems)
    if len(common) < FEWEST_SYSTEMS:
        raise ReplicationError(
            f"--other: only {len(common)} of its systems are in the first source, too few for a correlation. "
            "Give a source with the same systems."
        )
    one, two = _profiles(opinion, common), _profiles(other, common)
    return [
        PoolAgreement(FIRST, FIRST, within_pool(one)),
        PoolAgreement(SECOND, SECOND, within_pool(two)),
        PoolAgreement(FIRST, SECOND, against_pool(one, two)),
        PoolAgreement(SECOND, FIRST, against_pool(two, one)),
    ]


def _profiles(opinion: SystemOpinion, systems: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the mean of each rater's judgments of each of `systems`, (raters, len(systems))."""
    raters = np.zeros(0, np.intp) if opinion.workers is None else opinion.workers
    shape = (int(raters.max(initial=-1)) + 1, len(opinion.systems))
    found = rater_profiles(opinion.values, raters, opinion.system_codes, shape)
    return found[:, [opinion.systems.index(system) for system in systems]]


class Within(StrEnum):
    """Unit within which two scores are exchanged."""

    WORKER = "worker"
    ITEM = "item"
    BOTH = "both"


@dataclass(frozen=True)
class RandomisedPairs:
    """The tests of all P pairs of systems.

    Attributes:
        within: unit within which scores were exchanged.
        first: (P,), names.
        second: (P,), names.
        tests: the P tests.
        holm: (P,), their p with Holm's correction; NaN if no unit scored both.
    """

    within: Within
    first: tuple[str, ...]
    second: tuple[str, ...]
    tests: tuple[Randomisation, ...]
    holm: NDArray[np.float64]


def randomise_pairs(
    opinion: SystemOpinion, within: Within, draws: int, seed: int, on_step: OnStep = no_step
) -> RandomisedPairs:
    """Test every pair of systems; a unit's score of a system is the mean of its judgments.

    Args:
        opinion: people's judgments.
        within: unit within which scores are exchanged.
        draws: exchanges to draw for a pair if there are too many to enumerate.
        seed: seed of the draws.
        on_step: called once.

    Raises:
        OptionError: workers are requested but the source does not have them, or no unit judged two systems.
    """
    on_step("Exchanging scores")
    units = _units(opinion, within)
    shape = (int(units.max()) + 1, len(opinion.systems))
    scores = rater_profiles(opinion.values, units, opinion.system_codes, shape)
    if not (np.isfinite(scores).sum(axis=1) > 1).any():
        raise OptionError(
            f"--within is {within}, but no such unit judged two systems, so there is nothing "
            "to exchange. Name another one."
        )
    first, second = np.triu_indices(len(opinion.systems), 1)
    tests = tuple(
        randomise(
            scores[:, a],
            scores[:, b],
            generator(seed, f"exchanges of {opinion.systems[a]}\x1d{opinion.systems[b]}"),
            draws,
        )
        for a, b in zip(first, second, strict=True)
    )
    return RandomisedPairs(
        within,
        tuple(opinion.systems[a] for a in first),
        tuple(opinion.systems[b] for b in second),
        tests,
        holm(np.array([test.p for test in tests])),
    )


def _units(opinion: SystemOpinion, within: Within) -> NDArray[np.intp]:
    """Return, (K,), the unit of each judgment, as codes from 0."""
    if within is Within.ITEM:
        return opinion.items
    if opinion.workers is None:
        raise OptionError(
            f"--within is {within}, but the source does not tell who judged. Add a column `worker`, or use "
            f"--within {Within.ITEM}."
        )
    if within is Within.WORKER:
        return opinion.workers
    both = pd.MultiIndex.from_arrays([opinion.workers, opinion.items])
    return pd.factorize(both)[0].astype(np.intp)
