"""Test systems by randomisation, and measure how balanced the design is."""

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
from qc.options import OnStep, no_step
from qc.planning.opinion import SystemOpinion
from qc.planning.power_analysis import data_hash
from qc.signature import as_part
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


# Repeated Latin square, with S systems and a multiple of S raters: every rater sees each item once and each
# system equally often, every item is judged with every system equally often, and each system is at each
# position equally often. So no system benefits from lenient raters, easy items or early positions.
#
# Source: Belz and Reiter, EACL 2006, section 3.
@dataclass(frozen=True, slots=True)
class Imbalance:
    """Counts of the cells of a table.

    Attributes:
        cells: number of cells.
        fewest: the smallest count.
        most: the largest count; equal to the smallest in a balanced design.
    """

    cells: int
    fewest: int
    most: int

    @property
    def difference(self) -> int:
        """Difference of the largest and smallest count; 0 if the design is balanced."""
        return self.most - self.fewest


def imbalance(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Imbalance:
    """Return the imbalance of judgments over all combinations of two codes.

    Args:
        rows: (judgments,), codes from 0, of raters, items or positions.
        columns: (judgments,), codes from 0, for example of systems.
        shape: number of codes of each.
    """
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return Imbalance(counts.size, int(counts.min()), int(counts.max()))


@dataclass(frozen=True)
class Evenness:
    """How often the combinations of two things were judged."""

    of: str
    found: Imbalance


def evenness(opinion: SystemOpinion) -> list[Evenness]:
    """Return the imbalances of the design, as far as the source allows; a repeated Latin square has none.

    Systems are counted against workers, items and positions, and workers against items. Items are left out if
    each belongs to only one system, like a conversation.
    """
    systems = opinion.system_codes
    found = []
    per_item = pd.DataFrame({"item": opinion.items, "system": systems}).groupby("item")["system"].nunique()
    shared = int(per_item.max()) > 1
    if opinion.workers is not None:
        found.append(_evenness("worker × system", opinion.workers, systems))
    if shared:
        found.append(_evenness("item × system", opinion.items, systems))
    if shared and opinion.workers is not None:
        found.append(_evenness("worker × item", opinion.workers, opinion.items))
    known = np.isfinite(opinion.positions)
    if known.any():
        positions = opinion.positions[known]
        found.append(_evenness("position × system", positions, systems[known]))
    return found


def _evenness(
    of: str,
    rows: NDArray[np.generic],
    columns: NDArray[np.generic],
) -> Evenness:
    (row_names, row_codes), (column_names, column_codes) = (
        np.unique(each, return_inverse=True) for each in (rows, columns)
    )
    return Evenness(of, imbalance(row_codes, column_codes, (len(row_names), len(column_names))))


FEWEST_DRAWS = 100
STEPS = 2


@dataclass(frozen=True)
class RandomisationOptions:
    """Options of a randomisation analysis.

    Attributes:
        within: unit within which two scores are exchanged; None for workers, or for items if the source does
            not say who judged.
        draws: exchanges to draw for a pair if there are too many to enumerate.
        seed: seed of the draws.

    Raises:
        OptionError: a value is invalid.
    """

    within: Within | None
    draws: int
    seed: int

    def __post_init__(self) -> None:
        if self.draws < FEWEST_DRAWS:
            raise OptionError(f"--draws is {self.draws}, but a test needs at least {FEWEST_DRAWS} exchanges.")
        if self.seed < 0:
            raise OptionError(f"--seed is {self.seed}, but a seed is a whole number from 0.")


@dataclass(frozen=True)
class RandomisationAnalysis:
    """Results of a randomisation analysis.

    Attributes:
        opinion: people's judgments.
        pairs: the tests of every pair of systems.
        pools: agreement of raters with averages.
        design: balance of the design.
        choices: name → value of everything that determines the numbers.
    """

    opinion: SystemOpinion
    pairs: RandomisedPairs
    pools: list[PoolAgreement]
    design: list[Evenness]
    choices: dict[str, str]


def analyse_randomisation(
    opinion: SystemOpinion,
    options: RandomisationOptions,
    other: SystemOpinion | None = None,
    on_step: OnStep = no_step,
) -> RandomisationAnalysis:
    """Test systems with the judgments of a source, and compare its raters, also with a second pool.

    Args:
        opinion: people's judgments.
        options: the options.
        other: another pool's judgments of the same systems; None if there is none.
        on_step: called with a description when a part begins.

    Raises:
        OptionError: the source does not have the unit within which scores are exchanged.
        ReplicationError: the other pool has too few systems in common with this one.
    """
    within = options.within or (Within.ITEM if opinion.workers is None else Within.WORKER)
    pairs = randomise_pairs(opinion, within, options.draws, options.seed, on_step)
    on_step("Comparing raters with averages")
    choices = {
        "data": f"sha256:{data_hash(opinion)}",
        "criterion": as_part(opinion.criterion),
        "within": within.value,
    }
    if other is not None:
        choices["other"] = f"sha256:{data_hash(other)}"
    choices |= {"draws": str(options.draws), "seed": str(options.seed)}
    pools = agree(opinion, other)
    return RandomisationAnalysis(opinion, pairs, pools, evenness(opinion), choices)
