"""The chain from judgments to tests by randomisation, agreement of raters and evenness of the design."""

from dataclasses import dataclass

from qc.errors import OptionError
from qc.planning.design import Evenness, evenness
from qc.planning.opinion import Opinion
from qc.planning.power_analysis import data_hash
from qc.planning.randomised_pairs import RandomisedPairs, Within, randomise_pairs
from qc.planning.rater_pools import PoolAgreement, agree
from qc.progress import OnStep, no_step
from qc.signature import as_part

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
