"""Group systems so that every system of a higher group significantly beats every system of a lower group.

Source: the convention of the human evaluations of the Conference on Machine Translation, for example
Bojar et al., *Findings of the 2016 Conference on Machine Translation*, section 3. Systems of different groups
differ significantly; systems within a group do not all differ significantly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.method.significance import Significance

# Level of the comparisons of systems; it is independent of the level of the worker filter.
ALPHA = 0.05


@dataclass(frozen=True)
class Clusters:
    """Groups of systems, the highest first, each in the order of the scores; as many groups as possible.

    Attributes:
        alpha: level at which a system beats another: p below it.
        groups: by the published p-values without correction.
        holm_groups: by the same p-values with Holm's correction.

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
    # A system above a border beats all systems below it, and one below beats none above. So ordered by the
    # number of victories, all systems above a border come before those below it.
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    ordered = beats[np.ix_(order, order)]
    borders = [i for i in range(1, len(order)) if ordered[:i, i:].all()]
    return [sorted(group.tolist()) for group in np.split(order, borders) if len(group)]
