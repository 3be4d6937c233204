"""Tables of correlations between criteria, and between runs."""

import numpy as np
import pandas as pd

from qc.method.replication import Correlations, Replication
from qc.method.scores import CriteriaCorrelation
from qc.render.table import OVERALL, THREE, TWO, Table, matrix, shade, square
from qc.robustness.forecast import ReplicationForecast


def criteria(found: CriteriaCorrelation, overall: str) -> Table:
    """Return the authors' table: Pearson above the diagonal, Spearman below it, nothing on it.

    Args:
        found: the correlations.
        overall: heading of the overall score in the file.
    """
    values = np.triu(found.pearson, 1) + np.tril(found.spearman, -1)
    np.fill_diagonal(values, np.nan)
    file = square((overall, *found.names[1:]), values)
    return matrix(file, "", found.names, found.names, values, TWO, shade)


def runs(found: Correlations | None, overall: str) -> Table | None:
    """Return the authors' table: a row per coefficient, a column per criterion; `overall` as above."""
    if found is None:
        return None
    rows = {"pearson": found.pearson, "spearman": found.spearman, "kendall": found.kendall}
    values = pd.DataFrame(list(rows.values()))
    file = values.rename(columns={OVERALL: overall})
    file.insert(0, "", list(rows), allow_duplicates=True)
    names = map(str.capitalize, rows)
    return matrix(file, "", names, values.columns, values.to_numpy(np.float64), THREE)


def same_conclusions(found: Replication) -> Table:
    """Return the number of pairs of systems with the same conclusion in both runs."""
    same = found.same_conclusions
    record = {
        "run": found.name,
        "systems": len(found.systems),
        "same_conclusions": same.n,
        "pairs": same.of,
        "alpha": same.alpha,
        "shared_workers": found.shared_workers,
    }
    return Table(pd.DataFrame([record]))


def replication_points(found: Replication) -> Table:
    """Return the overall z of each system in both runs."""
    return Table(found.points)


def forecast(found: ReplicationForecast) -> Table:
    """Return the forecast of the correlation with a second run; a reader sees the criteria side by side."""
    r = {OVERALL: found.r, **found.criteria}
    frame = pd.DataFrame({"criterion": list(r), "r": list(r.values()), "low": np.nan, "high": np.nan})
    frame.loc[0, ["low", "high"]] = found.low, found.high
    return matrix(frame, "", ["forecast r"], r, np.array([list(r.values())]), THREE)
