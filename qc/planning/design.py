"""Measure how evenly a run's judgments are spread over workers, items, systems and positions."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.estimators.balance import Imbalance, imbalance
from qc.planning.opinion import Opinion


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
