"""Figure: p-values of all ordered pairs of systems."""

import numpy as np
from numpy.typing import NDArray

from qc.method.significance import Significance
from qc.render.drawing.figure import Drawing
from qc.render.drawing.heat import MARGIN, NONE, Cells, heat_map
from qc.render.drawing.sheet import Sheet
from qc.render.drawing.style import BLUE, QUIET, WIDE
from qc.render.table import SIGNIFICANT, SUGGESTIVE

DEEP, LIGHT = "#003d66", "#a6cde6"
# The first colour marks pairs that are significant by worker after Holm's correction.
KEY = (
    (DEEP, f"p < {SIGNIFICANT:g} by worker, with Holm"),
    (BLUE, f"p < {SIGNIFICANT:g}"),
    (LIGHT, f"p < {SUGGESTIVE:g}"),
    (QUIET, "not significant"),
)
# From this number of systems on, p is printed with two digits.
MANY = 12
FOOT, LINE = 62.0, 22.0


def significance(result: Significance) -> Drawing | None:
    """Draw the p-values of the systems, best first: the row scores higher than the column.

    None if there is no pair to compare.
    """
    p, count = result.p, len(result.systems)
    if not np.isfinite(p[~np.eye(count, dtype=bool)]).any():
        return None
    holm = (result.by_worker_holm < SIGNIFICANT) & ~np.eye(count, dtype=bool)
    step = np.where(holm, 0, 1 + np.searchsorted((SIGNIFICANT, SUGGESTIVE), p, side="right"))
    known = np.isfinite(p) & ~np.eye(count, dtype=bool)
    colours = [[KEY[step[i, j]][0] if known[i, j] else NONE for j in range(count)] for i in range(count)]
    digits = 3 if count <= MANY else 2
    texts = [["" if i == j else _short(p[i, j], digits) for j in range(count)] for i in range(count)]
    labels = [f"{name}  {i}" for i, name in enumerate(result.systems, start=1)]
    numbers = [str(i + 1) for i in range(count)]

    def draw(width: float) -> Sheet:
        foot = FOOT if width >= WIDE else FOOT + 2 * LINE
        panel = heat_map(width, labels, numbers, Cells(colours, texts), foot)
        panel.page.keys(
            (MARGIN, panel.bottom + LINE + 4), [("■", colour, text) for colour, text in KEY], LINE
        )
        return panel.page

    return Drawing("Which system scores higher than which", _alt(result, holm), draw)


def _short(p: float, digits: int) -> str:
    """Return p with `digits` digits, without the leading zero, never rounded to 0 or to 1."""
    if not np.isfinite(p):
        return ""
    least = 10.0**-digits
    if p < least:
        return f"<{least:.{digits}f}".replace("0.", ".")
    return f">{1 - least:.{digits}f}".replace("0.", ".") if p > 1 - least else f"{p:.{digits}f}"[1:]


def _alt(result: Significance, holm: NDArray[np.bool_]) -> str:
    count = len(result.systems)
    pairs = count * (count - 1) // 2
    below = int((result.p < SIGNIFICANT).sum())
    return (
        f"Heat map of one-sided p-values, row against column, of {count} systems: in {below} of {pairs} "
        f"pairs one system scores higher at p < {SIGNIFICANT:g}, in {int(holm.sum())} by worker with "
        "Holm’s correction."
    )
