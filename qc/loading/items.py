"""Validate the items of a run of transcripts from any source, and convert them to their final types."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import REPAIR, Problem, joined, quoted
from qc.run import ITEM_KIND, ITEM_KINDS

ITEM_COLUMNS = ["item", "kind", "twin_of", "output", "edit_share"]
# Kinds that need the ordinary item that they belong to.
NEEDING_TWIN = ("bad", "repeat")


def item_problems(presented: pd.DataFrame, items: pd.DataFrame, *, partial: bool) -> list[Problem]:
    """Return the problems of the items of a run.

    Args:
        presented: `where`, `assignment`, `position`, `system`, one row for each item shown to a worker.
        items: ITEM_COLUMNS, a row for each of `presented`.
        partial: whether assignments may be incomplete, so that a twin's ordinary item may be missing.
    """
    return [
        *_unknown_kinds(presented, items),
        *_lonely_twins(presented, items, partial=partial),
        *_changing_systems(presented, items),
        *_bad_shares(presented, items),
    ]


def ordinary_systems(presented: pd.DataFrame, items: pd.DataFrame) -> pd.Series:
    """Return the systems that made ordinary items, each once."""
    return presented.loc[items["kind"].eq("ordinary").to_numpy(), "system"].drop_duplicates()


def typed_items(items: pd.DataFrame, order: NDArray[np.intp]) -> pd.DataFrame:
    """Return the rows of `items` in `order`, with the types of `Run.items`."""
    names = sorted(set(items["item"].astype(str)))
    return (
        pd.DataFrame(
            {
                "item": pd.Categorical(items["item"].astype(str), names),
                "kind": pd.Categorical(items["kind"], dtype=ITEM_KIND),
                "twin_of": items["twin_of"].fillna(0).astype(np.int64).to_numpy(),
                "output": items["output"].astype(str).to_numpy(),
                "edit_share": items["edit_share"].astype(np.float64).to_numpy(),
            }
        )
        .iloc[order]
        .reset_index(drop=True)
    )


def _unknown_kinds(presented: pd.DataFrame, items: pd.DataFrame) -> list[Problem]:
    unknown = ~items["kind"].isin(ITEM_KINDS).to_numpy()
    return [
        Problem(where, f"the kind of the item is {quoted(kind)}.", f"Known are: {joined(ITEM_KINDS)}.")
        for where, kind in zip(presented["where"][unknown], items["kind"][unknown], strict=True)
    ]


def _lonely_twins(presented: pd.DataFrame, items: pd.DataFrame, *, partial: bool) -> list[Problem]:
    """Return a problem for each twin without the ordinary item that it belongs to."""
    ordinary = items["kind"].eq("ordinary").to_numpy()
    twin_of = items["twin_of"].astype(np.float64)
    place, twin = (
        pd.MultiIndex.from_arrays([presented["assignment"], position.astype(np.float64)])
        for position in (presented["position"], twin_of)
    )
    unsaid, missing = twin_of.isna().to_numpy(), ~twin.isin(place[ordinary])
    lonely = items["kind"].isin(NEEDING_TWIN).to_numpy() & (unsaid | (missing & (not partial)))
    return [
        Problem(
            where,
            f"the kind of the item is {kind!r}, but position {position:g} has no ordinary item."
            if np.isfinite(position)
            else f"the kind of the item is {kind!r}, but it does not name its ordinary item.",
            REPAIR,
        )
        for where, kind, position in zip(
            presented["where"][lonely], items["kind"][lonely], twin_of[lonely], strict=True
        )
    ]


def _changing_systems(presented: pd.DataFrame, items: pd.DataFrame) -> list[Problem]:
    """Return a problem for each ordinary item that is of another system elsewhere."""
    ordinary = items["kind"].eq("ordinary").to_numpy()
    rows = presented[ordinary].assign(item=items["item"][ordinary])
    first = rows.groupby("item")["system"].transform("first")
    changed = rows["system"] != first
    return [
        Problem(where, f"item {item!r} is of the system {system!r}, elsewhere of {made!r}.", REPAIR)
        for where, item, system, made in zip(
            rows["where"][changed],
            rows["item"][changed],
            rows["system"][changed],
            first[changed],
            strict=True,
        )
    ]


def _bad_shares(presented: pd.DataFrame, items: pd.DataFrame) -> list[Problem]:
    shares = items["edit_share"].to_numpy(np.float64)
    wrong = (shares < 0) | np.isinf(shares)
    return [
        Problem(where, f"the share of edited words is {share:g}.", REPAIR)
        for where, share in zip(presented["where"][wrong], shares[wrong], strict=True)
    ]
