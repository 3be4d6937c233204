"""Which system beats which."""

import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.named import Named, square


def significance(analysis: Analysis) -> Named:
    """Yield the p-values of the systems, plain and corrected, and the groups that follow from them."""
    if (found := analysis.significance) is not None:
        yield "significance_pvalues.csv", square("", found.systems, found.p)
        yield "significance_holm.csv", square("", found.systems, found.holm)
    if (clusters := analysis.clusters) is not None:
        corrected = {
            system: number for number, group in enumerate(clusters.holm_groups, 1) for system in group
        }
        rows = [
            (system, number, corrected[system])
            for number, group in enumerate(clusters.groups, 1)
            for system in group
        ]
        yield "clusters.csv", pd.DataFrame(rows, columns=["system", "group", "group_holm"])
