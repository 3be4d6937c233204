"""A population's margins, held against the groups that a run has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qc.errors import OptionError, joined
from qc.groups.disclosure import FEWEST
from qc.groups.fields import Field
from qc.options import Margins

# What groups that are withheld are called together.
OTHERS = "others"


@dataclass(frozen=True)
class MarginField:
    """A field of the margins as it can be used: groups that are withheld are one.

    Attributes:
        field: the groups that are shown, then OTHERS if any are withheld.
        shares: (groups,), of the population, which add up to 1.
        missing: share of the population whose groups nobody is in; the shares are of the rest.
    """

    field: Field
    shares: NDArray[np.float64]
    missing: float


def margin_fields(
    margins: Margins, fields: Sequence[Field], shown: Sequence[NDArray[np.bool_]]
) -> list[MarginField]:
    """Return the fields of the margins; those of which fewer than two groups are left tell nothing.

    Raises:
        OptionError: a field or a group is known of the one and not of the other.
    """
    known = {field.name: (field, of_field) for field, of_field in zip(fields, shown, strict=True)}
    unknown = sorted(set(margins) - known.keys())
    if unknown:
        raise OptionError(
            f"--margins is about {joined(unknown)}, but of the workers of this run is known: "
            f"{joined(sorted(known)) or 'nothing'}. Name fields as --background or the study does."
        )
    found = [_margin_field(*known[name], shares) for name, shares in margins.items()]
    return [each for each in found if len(each.shares) > 1]


def _margin_field(field: Field, shown: NDArray[np.bool_], shares: Mapping[str, float]) -> MarginField:
    stray = [group for group in field.groups if group not in shares]
    if stray:
        raise OptionError(
            f"--margins has no share of {joined(stray)} in {field.name}, where workers of this run are. Add "
            f"it, or give those workers one of its groups: {joined(list(shares))}."
        )
    present = sum(shares[group] for group in field.groups)
    wanted = np.array([shares[group] for group in field.groups]) / present
    # Of groups that may not be shown the score must not be found by subtraction: they are weighted as one.
    shown = _enough_others(field, shown)
    order = np.where(shown, np.cumsum(shown) - 1, shown.sum())
    names = (*(group for group, may in zip(field.groups, shown, strict=True) if may), OTHERS)
    merged = np.asarray(np.bincount(order, wanted), np.float64)
    codes = np.where(field.codes < 0, -1, order[field.codes])
    used = replace(field, groups=names[: len(merged)], codes=codes)
    return MarginField(used, merged, 1 - present)


def _enough_others(field: Field, shown: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which groups stay by themselves, so that the others together have FEWEST people or are none."""
    shown, sizes = shown.copy(), np.bincount(field.codes[field.codes >= 0], minlength=len(field.groups))
    while shown.any() and 0 < sizes[~shown].sum() < FEWEST:
        shown[np.flatnonzero(shown)[np.argmin(sizes[shown])]] = False
    return shown
