"""Find the groups too small to be shown, and the groups to withhold with them.

A group of fewer than FEWEST people is withheld. What is left of everybody when the groups that are shown are
subtracted must be as large: otherwise the smallest that is shown is withheld, too, until it is. Who is in no
group counts as one more. The same across fields: where one group lies within another and the difference is
smaller than that, the smaller of them is withheld.

Source: Willenborg and de Waal, *Elements of Statistical Disclosure Control*, 2001 (thresholds and
complementary suppression in tables).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qc.groups.fields import Field

FEWEST = 10


def shown_groups(fields: Sequence[Field]) -> list[NDArray[np.bool_]]:
    """Return, for each field, which of its groups may be shown, (groups,)."""
    shown = [_complemented(sizes, sizes[:-1] >= FEWEST) for sizes in map(_sizes, fields)]
    while (nested := _nested(fields, shown)) is not None:
        number, group = nested
        shown[number][group] = False
        shown[number] = _complemented(_sizes(fields[number]), shown[number])
    return shown


def _complemented(sizes: NDArray[np.intp], shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which groups are left, so that nobody can subtract them and get fewer than FEWEST people.

    Args:
        sizes: (groups + 1,), people in each group, and last those in none.
        shown: (groups,), which are large enough by themselves.
    """
    shown = shown.copy()
    while shown.any() and 0 < sizes.sum() - sizes[:-1][shown].sum() < FEWEST:
        shown[np.flatnonzero(shown)[np.argmin(sizes[:-1][shown])]] = False
    return shown


def _sizes(field: Field) -> NDArray[np.intp]:
    """Return how many people are in each group, and last in none, (groups + 1,)."""
    count = len(field.groups)
    return np.bincount(np.where(field.codes < 0, count, field.codes), minlength=count + 1)


def _nested(fields: Sequence[Field], shown: Sequence[NDArray[np.bool_]]) -> tuple[int, int] | None:
    """Return field and number of a group that lies within one of another field but for too few people."""
    there = [
        (number, group, field.codes == group)
        for number, field in enumerate(fields)
        for group in np.flatnonzero(shown[number]).tolist()
    ]
    for number, group, inner in there:
        for other, _, outer in there:
            rest = int(outer.sum() - inner.sum())
            if number != other and 0 < rest < FEWEST and not (inner & ~outer).any():
                return number, group
    return None
