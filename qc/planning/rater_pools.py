"""One against average: how single raters agree with the average of their pool, and of another pool."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.errors import ReplicationError
from qc.estimators.profiles import Agreement, against_pool, rater_profiles, within_pool
from qc.planning.opinion import Opinion

FEWEST_SYSTEMS = 3
FIRST, SECOND = "first pool", "second pool"


@dataclass(frozen=True)
class PoolAgreement:
    """Raters of one pool compared with an average.

    Attributes:
        raters: whose raters: FIRST or SECOND.
        average: of which pool.
        agreement: what was found.
    """

    raters: str
    average: str
    agreement: Agreement

    @property
    def label(self) -> str:
        """Whose raters, and against which average."""
        return f"{self.raters}: {'the others' if self.raters == self.average else self.average}"


def agree(opinion: Opinion, other: Opinion | None) -> list[PoolAgreement]:
    """Return how raters agree with the others of their pool, and, if there is another one, across both.

    Args:
        opinion: what people think.
        other: what another pool thinks of the same systems; None if there is none.

    Returns:
        One for each pool, and with two pools one for each against the other's average; none where a source
        does not tell who judged.

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


def _profiles(opinion: Opinion, systems: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the mean of each rater's judgments of each of `systems`, (raters, len(systems))."""
    raters = np.zeros(0, np.intp) if opinion.workers is None else opinion.workers
    shape = (int(raters.max(initial=-1)) + 1, len(opinion.systems))
    found = rater_profiles(opinion.values, raters, opinion.system_codes, shape)
    return found[:, [opinion.systems.index(system) for system in systems]]
