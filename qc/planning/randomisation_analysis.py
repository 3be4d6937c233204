"""Test systems by randomisation, and measure how evenly a design spread them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import OptionError
from qc.planning.opinion import Opinion
from qc.planning.power_analysis import data_hash
from qc.planning.randomised_pairs import PoolAgreement, RandomisedPairs, Within, agree, randomise_pairs
from qc.progress import OnStep, no_step
from qc.signature import as_part


# With S systems and a multiple of S raters such a design lets every rater see each item once and each system
# equally often; every item is judged with every system equally often; and each system stands at each position
# equally often. Then no system profits from lenient raters, easy items or early places.
#
# Source: Belz and Reiter, EACL 2006, section 3.
@dataclass(frozen=True, slots=True)
class Imbalance:
    """How often the cells of a table of counts were met.

    Attributes:
        cells: how many there are.
        fewest: the smallest count.
        most: the largest; a balanced design has the same.
    """

    cells: int
    fewest: int
    most: int

    @property
    def difference(self) -> int:
        """0 where the design is balanced."""
        return self.most - self.fewest


def imbalance(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Imbalance:
    """Return how evenly judgments are spread over all combinations of two codes.

    Args:
        rows: (judgments,), codes from 0: of raters, items or positions.
        columns: (judgments,), codes from 0: of systems, say.
        shape: how many codes there are of each.
    """
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return Imbalance(counts.size, int(counts.min()), int(counts.max()))


@dataclass(frozen=True)
class Evenness:
    """How often the combinations of two things were judged."""

    of: str
    found: Imbalance


def evenness(opinion: Opinion) -> list[Evenness]:
    """Return the imbalance of all that the source tells; a repeated Latin square has none of it.

    Systems are counted against workers, items and positions, and workers against items. Items are left out
    where each is one system's alone, as a conversation is.
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
    """What an analyst can choose.

    Attributes:
        within: what two scores that are exchanged have in common; None for workers, or for items where the
            source does not tell who judged.
        draws: exchanges that are drawn for a pair where there are too many to go through all.
        seed: of these.

    Raises:
        OptionError: a value makes no sense.
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
    """What was found.

    Attributes:
        opinion: what people think.
        pairs: the tests of every two systems.
        pools: how raters agree with averages.
        design: how evenly judgments are spread.
        choices: name → value of all that decides the numbers.
    """

    opinion: Opinion
    pairs: RandomisedPairs
    pools: list[PoolAgreement]
    design: list[Evenness]
    choices: dict[str, str]


def analyse_randomisation(
    opinion: Opinion,
    options: RandomisationOptions,
    other: Opinion | None = None,
    on_step: OnStep = no_step,
) -> RandomisationAnalysis:
    """Return what the judgments of a source, and of a second pool of raters, say.

    Args:
        opinion: what people think.
        options: what was chosen.
        other: what another pool of raters thinks of the same systems; None if there is none.
        on_step: called with a description when a part is begun.

    Raises:
        OptionError: the source does not tell what scores are to be exchanged within.
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
