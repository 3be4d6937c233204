"""Scores with order and context taken out, beside the plain ones."""

import numpy as np

from qc.number_format import decimal
from qc.render.figures.figure import Drawing
from qc.render.figures.rows import FOOT, HEAD, ROW, interval, point, rows, stripes
from qc.render.figures.style import BLUE, MARGIN, VERMILION, key
from qc.robustness.adjusted import Adjusted

# Rows that plain and adjusted stand above and below the line.
APART = 0.17


def adjusted_scores(result: Adjusted) -> Drawing | None:
    """Draw plain and adjusted overall z of every system; the interval is that of the adjusted score.

    None if there is no adjusted score.
    """
    plain, adjusted = result.plain, result.adjusted
    if not np.isfinite(adjusted - plain).any():
        return None
    extent = np.concatenate([plain, adjusted, result.low, result.high])
    names = list(result.systems)
    page, axes = rows(names, "overall score (z)", extent)
    stripes(axes, len(names))
    for i in range(len(names)):
        interval(axes, result.low[i], result.high[i], i + APART, BLUE)
        point(axes, adjusted[i], i + APART, BLUE, size=8)
        point(axes, plain[i], i - APART, VERMILION, "D", filled=False, size=6.5)
    bottom = HEAD + ROW * len(names) + FOOT - 10
    left = key(page, MARGIN, bottom, "◇", VERMILION, "plain")
    key(page, left + MARGIN, bottom, "●", BLUE, "adjusted")
    most = int(np.nanargmax(np.abs(adjusted - plain)))
    alt = (
        "Plain and adjusted overall z of every system; the largest change is that of "
        f"{names[most]}, from {decimal(plain[most])} to {decimal(adjusted[most])}."
    )
    return Drawing(page, "Scores adjusted for order and context", alt)
