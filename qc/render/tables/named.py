"""What every table has: a file to be in."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

Named = Iterator[tuple[str, pd.DataFrame]]

GROUPS = ("passed", "failed", "all")
OVERALL = "overall"


def square(corner: str, names: Sequence[str], values: ArrayLike) -> pd.DataFrame:
    """Return a matrix as the authors write it: its names above, and in a first column without a name."""
    table = pd.DataFrame(np.asarray(values, dtype=np.float64), columns=list(names))
    table.insert(0, corner, list(names), allow_duplicates=True)
    return table
