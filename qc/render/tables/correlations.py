"""How criteria, and runs, go together."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.analysis import Analysis
from qc.method.criteria import CriteriaCorrelation
from qc.method.replication import Correlations
from qc.render.tables.named import OVERALL, Named, square


def criteria(analysis: Analysis) -> Named:
    """Yield the correlations of the criteria."""
    if (found := analysis.criteria) is not None:
        yield "corr_between_scores.csv", _both_triangles(found["z"], "z")
        yield "corr_between_raw_scores.csv", _both_triangles(found["raw"], "raw")


def _both_triangles(found: CriteriaCorrelation, overall: str) -> pd.DataFrame:
    """Return the authors' table: Pearson above the diagonal, Spearman below, nothing on it."""
    return square("", (overall, *found.names[1:]), triangles(found))


def triangles(found: CriteriaCorrelation) -> NDArray[np.float64]:
    """Return (1 + K, 1 + K): Pearson above the diagonal, Spearman below, NaN on it."""
    values = np.triu(found.pearson, 1) + np.tril(found.spearman, -1)
    np.fill_diagonal(values, np.nan)
    return values


def replication(analysis: Analysis) -> Named:
    """Yield how the second run agrees with this one."""
    found = analysis.replication
    if found is None:
        return
    yield "corr_zscore_r1r2.csv", _correlations(found.z, "z")
    yield "corr_rawscore_r1r2.csv", _correlations(found.raw, "raw")
    if found.without_shared is not None:
        yield "corr_zscore_r1r2_without_shared_workers.csv", _correlations(found.without_shared, "z")
    if found.without_shared_raw is not None:
        yield "corr_rawscore_r1r2_without_shared_workers.csv", _correlations(found.without_shared_raw, "raw")
    same = found.same_conclusions
    yield (
        "replication.csv",
        pd.DataFrame(
            {
                "run": [found.name],
                "systems": [len(found.systems)],
                "same_conclusions": [same.n],
                "pairs": [same.of],
                "alpha": [same.alpha],
                "shared_workers": [found.shared_workers],
            }
        ),
    )
    yield "replication_points.csv", found.points


def _correlations(found: Correlations, overall: str) -> pd.DataFrame:
    """Return the authors' table: a row per coefficient, a column per criterion."""
    rows = {"pearson": found.pearson, "spearman": found.spearman, "kendall": found.kendall}
    table = pd.DataFrame(list(rows.values())).rename(columns={OVERALL: overall})
    table.insert(0, "", list(rows), allow_duplicates=True)
    return table


def forecast(analysis: Analysis) -> Named:
    """Yield how a second run would correlate with this one."""
    if (found := analysis.forecast) is not None:
        yield (
            "forecast.csv",
            pd.DataFrame(
                [(OVERALL, found.r, found.low, found.high)]
                + [(label, r, np.nan, np.nan) for label, r in found.criteria.items()],
                columns=["criterion", "r", "low", "high"],
            ),
        )
