"""Find the ordinary items that control items belong to."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.run import ItemKind, Run, codes


class Twins(NamedTuple):
    """Pairs of rows of `run.conversations`, both of one assignment: a control item, and its ordinary item."""

    control: NDArray[np.intp]
    ordinary: NDArray[np.intp]


def items_of(run: Run) -> pd.DataFrame:
    """Return the items of `run`.

    Raises:
        TypeError: workers of the run chatted; an error in the calling program.
    """
    if run.items is None:
        raise TypeError(f"the run {run.name!r} is of conversations, expected one of transcripts")
    return run.items


def of_kind(run: Run, kind: ItemKind) -> NDArray[np.bool_]:
    """Return, (presentations,), whether the item is of that kind."""
    return items_of(run)["kind"].eq(kind).to_numpy(bool)


def twins(run: Run, kind: ItemKind) -> Twins:
    """Return the control items of a kind whose ordinary item was rated in the same assignment."""
    assignment = codes(run.conversations["assignment"])
    position = run.conversations["position"].to_numpy(np.int64)
    ordinary = np.flatnonzero(of_kind(run, "ordinary"))
    control = np.flatnonzero(of_kind(run, kind))
    place = pd.MultiIndex.from_arrays([assignment[ordinary], position[ordinary]])
    named = items_of(run)["twin_of"].to_numpy(np.int64)[control]
    found = place.get_indexer(pd.MultiIndex.from_arrays([assignment[control], named]))
    return Twins(control[found >= 0], ordinary[found[found >= 0]])
