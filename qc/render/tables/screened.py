"""Columns shared by tables that set something beside the worker filter: groups and outcomes."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.render.table import COUNT, SHARE, Column

OF_A_GROUP = (Column("group", "Workers who"), Column("workers", "Workers", COUNT))
OF_A_WORKER = (Column("worker", "Worker"), Column("outcome", "Filter"))


def outcome(workers: pd.DataFrame) -> NDArray[np.str_]:
    """Return what became of each worker, by `passed`."""
    return np.where(workers["passed"], "passed", "failed")


def share_columns(head: str) -> tuple[Column, Column, Column]:
    """Return the columns of `share`, under `head`, with its interval from `low` to `high`."""
    return (
        Column("share", head, SHARE),
        Column("low", "95 % interval", SHARE, upper="high"),
        Column("high", None, SHARE),
    )
