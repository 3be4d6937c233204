"""Which system beats which."""

import numpy as np

from qc.analysis import Analysis
from qc.number_format import decimal, probability
from qc.render.html_tables.html_table import Column, HtmlTable, Span, html_table, matrix
from qc.render.levels import SIGNIFICANT, SUGGESTIVE
from qc.render.tables import Tables


def significance(analysis: Analysis) -> dict[str, HtmlTable]:
    """Return the p-values of the systems, plain and corrected."""
    found = analysis.significance
    if found is None:
        return {}
    names = [f"{number} {system}" for number, system in enumerate(found.systems, start=1)]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    diagonal = np.eye(len(names), dtype=bool)
    return {
        name: matrix("", names, numbers, np.where(diagonal, np.nan, p), probability, _tone)
        for name, p in (("p", found.p), ("holm", found.holm))
    }


def _tone(p: float) -> str:
    if p < SIGNIFICANT:
        return "significant"
    return "suggestive" if p < SUGGESTIVE else ""


def differences(tables: Tables) -> dict[str, HtmlTable]:
    """Return the pairs that cannot be told apart."""
    pairs = tables.get("differences.csv")
    if pairs is None:
        return {}
    columns = (
        Column("system", "System"),
        Column("other", "Other"),
        Column("difference", "Difference in z", decimal),
        Span(),
    )
    return {"indistinct": html_table(pairs[pairs["told_apart"].eq(False).fillna(value=False)], *columns)}
