"""Correlations between criteria, over system scores.

Source: Ji et al., ACL 2022; thesis, table 5.7, which is printed as if computed from z but holds the
correlations of raw scores. Here both are given, each under its name.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.scores import Scores
from qc.statistics.correlation import correlation_matrix


@dataclass(frozen=True)
class CriteriaCorrelation:
    """Correlations over the systems between their scores on K criteria and overall.

    Attributes:
        names: "overall", then the labels of the criteria in the order of the run's.
        pearson: (1 + K, 1 + K), symmetric.
        spearman: (1 + K, 1 + K), symmetric.

    NaN with fewer than 3 systems that have a score, and where a criterion's scores do not vary, the
    diagonal included.
    """

    names: tuple[str, ...]
    pearson: NDArray[np.float64]
    spearman: NDArray[np.float64]


def correlate_criteria(scores: Scores) -> dict[str, CriteriaCorrelation]:
    """Return the correlations of the `z` and of the `raw` scores; systems without a score take no part."""
    return {"z": _correlate(scores.z), "raw": _correlate(scores.raw)}


def _correlate(table: pd.DataFrame) -> CriteriaCorrelation:
    columns = table.drop(columns=["system", "n"])
    values = columns.to_numpy(np.float64)
    return CriteriaCorrelation(
        names=tuple(columns.columns),
        pearson=correlation_matrix(values, "pearson"),
        spearman=correlation_matrix(values, "spearman"),
    )
