"""Groups of systems such that the systems of a higher group significantly beat all those of a lower one.

Source: the convention of the human evaluations of the Conference on Machine Translation, for example
Bojar et al., *Findings of the 2016 Conference on Machine Translation*, section 3: systems within a group
cannot all be told apart by this run, systems of different groups can.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.significance import Significance

# Of the comparisons of systems; the level at which workers pass the filter has nothing to do with it.
ALPHA = 0.05


@dataclass(frozen=True)
class Clusters:
    """Groups of systems, the highest first, each in the order of the scores; as many groups as possible.

    Attributes:
        alpha: level at which a system beats another: p below it.
        groups: by the published p-values as they are.
        holm_groups: by these with Holm's correction.

    A system without a kept conversation was not tested and is in no group.
    """

    alpha: float
    groups: tuple[tuple[str, ...], ...]
    holm_groups: tuple[tuple[str, ...], ...]


def cluster(significance: Significance, alpha: float = ALPHA) -> Clusters:
    """Group the systems at level `alpha`."""
    tested = ~np.isnan(significance.p.diagonal())
    systems = tuple(name for name, there in zip(significance.systems, tested, strict=True) if there)
    groups, holm_groups = (
        tuple(tuple(systems[i] for i in group) for group in groups_of(beats[np.ix_(tested, tested)]))
        for beats in (significance.conclusions(alpha), significance.conclusions(alpha, adjusted=True))
    )
    return Clusters(alpha, groups, holm_groups)


def groups_of(beats: NDArray[np.bool_]) -> list[list[int]]:
    """Return the finest partition in which every member of a group beats all members of later groups.

    Args:
        beats: (S, S), whether the row beats the column.

    Returns:
        Groups of row numbers, each ascending; none if there are no rows.
    """
    # Whoever stands above a border beats all below it, and whoever stands below beats none above: with the
    # most victories first, what is above a border comes before what is below, wherever the border is.
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    ordered = beats[np.ix_(order, order)]
    borders = [i for i in range(1, len(order)) if ordered[:i, i:].all()]
    return [sorted(group.tolist()) for group in np.split(order, borders) if len(group)]
