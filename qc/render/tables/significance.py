"""Tables of pairwise tests between systems."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.render.table import SIGNIFICANT, SUGGESTIVE, P, Table, matrix, square
from qc.robustness.clusters import Clusters


def p_values(systems: Sequence[str], p: NDArray[np.float64]) -> Table:
    """Return p-values of systems, row against column; the diagonal is not displayed."""
    numbers = range(1, len(p) + 1)
    return matrix(
        square(systems, p),
        "",
        [f"{number} {system}" for number, system in zip(numbers, systems, strict=True)],
        map(str, numbers),
        np.where(np.eye(len(p), dtype=bool), np.nan, p),
        P,
        _tone,
    )


def _tone(p: float) -> str:
    if p < SIGNIFICANT:
        return "significant"
    return "suggestive" if p < SUGGESTIVE else ""


def clusters(found: Clusters) -> Table:
    """Return the groups from the p-values, uncorrected and corrected."""
    corrected = {system: number for number, group in enumerate(found.holm_groups, 1) for system in group}
    plain = [(system, number) for number, group in enumerate(found.groups, 1) for system in group]
    rows = [(system, number, corrected[system]) for system, number in plain]
    return Table(pd.DataFrame(rows, columns=["system", "group", "group_holm"]))
