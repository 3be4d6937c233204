"""Scores with order and context taken out, beside the plain ones."""

import numpy as np

from qc.number_format import decimal
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import interval, point, rows
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import BLUE, VERMILION
from qc.robustness.adjusted import Adjusted

# Rows that plain and adjusted stand above and below the line.
APART = 0.17
KEY = (("◇", VERMILION, "plain"), ("●", BLUE, "adjusted"))


def adjusted_scores(result: Adjusted) -> Drawing | None:
    """Draw plain and adjusted overall z of every system; the interval is that of the adjusted score.

    None if there is no adjusted score.
    """
    plain, adjusted = result.plain, result.adjusted
    if not np.isfinite(adjusted - plain).any():
        return None
    extent = np.concatenate([plain, adjusted, result.low, result.high])
    names = list(result.systems)

    def draw(width: float) -> Sheet:
        panel = rows(width, names, "overall score (z)", extent, legend=KEY)
        for i in range(len(names)):
            interval(panel, result.low[i], result.high[i], i + APART, BLUE)
            point(panel, adjusted[i], i + APART, BLUE, size=8)
            point(panel, plain[i], i - APART, VERMILION, "D", filled=False, size=6.5)
        return panel.page

    most = int(np.nanargmax(np.abs(adjusted - plain)))
    alt = (
        "Plain and adjusted overall z of every system; the largest change is that of "
        f"{names[most]}, from {decimal(plain[most])} to {decimal(adjusted[most])}."
    )
    return Drawing("Scores adjusted for order and context", alt, draw)
