"""How criteria, and runs, go together."""

import numpy as np

from qc.analysis import Analysis
from qc.method.replication import Correlations
from qc.number_format import decimal
from qc.render.html_tables.html_table import HtmlTable, matrix, shade, two
from qc.render.tables.correlations import triangles
from qc.render.tables.named import OVERALL


def criteria(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return the correlations of the criteria."""
    return {
        f"criteria {scale}": matrix("", found.names, found.names, triangles(found), two, shade)
        for scale, found in (analysis.criteria or {}).items()
    }


def replication(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return how the second run agrees with this one."""
    second = analysis.replication
    if second is None:
        return {}
    found = {
        "z": second.z,
        "raw": second.raw,
        "without shared z": second.without_shared,
        "without shared raw": second.without_shared_raw,
    }
    return {f"replication {name}": _coefficients(each) for name, each in found.items() if each is not None}


def _coefficients(found: Correlations) -> HtmlTable:
    rows = {"Pearson": found.pearson, "Spearman": found.spearman, "Kendall": found.kendall}
    values = np.array([list(row.values()) for row in rows.values()], dtype=np.float64)
    return matrix("", list(rows), list(found.pearson), values, decimal)


def forecast(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return how a second run would correlate with this one."""
    found = analysis.forecast
    if found is None:
        return {}
    r = {OVERALL: found.r, **found.criteria}
    return {"forecast": matrix("", ["forecast r"], list(r), np.array([list(r.values())]), decimal)}
