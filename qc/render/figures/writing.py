"""Figure: pasted share of what workers wrote."""

import numpy as np

from qc.number_format import percent, whole
from qc.render.figures.figure import Drawing
from qc.render.figures.panel import round_ticks
from qc.render.figures.rootogram import height, rootogram
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import FAILED, MARGIN, PASSED
from qc.robustness.writing import WritingResults

BINS = np.linspace(0.0, 1.0, 21)


def pasted_shares(found: WritingResults) -> Drawing | None:
    """Draw how the share of pasted characters is distributed over the workers; None if none wrote any."""
    shares = found.workers["pasted_share"].to_numpy(np.float64)
    passed = found.workers["passed"].to_numpy(bool)
    known = np.isfinite(shares)
    if not known.any():
        return None
    bars = rootogram(shares, passed, BINS)

    def draw(width: float) -> Sheet:
        page = Sheet(width, height(2))
        panel = bars.panel(page)
        across = round_ticks(0.0, 1.0, 5)
        panel.x_axis(across, [whole(100 * tick) for tick in across], "% of a worker’s characters were pasted")
        for top, sign, colour, words, group in (
            (20, "■", PASSED, "passed", passed),
            (40, "□", FAILED, "failed", ~passed),
        ):
            page.key((MARGIN, top), sign, colour, f"{words}: {whole((group & known).sum())} workers")
        return page

    alt = (
        f"Histogram of the share of pasted characters of {whole(known.sum())} workers: "
        f"{whole((shares == 0).sum())} pasted nothing, {whole((shares >= found.threshold).sum())} "
        f"{percent(found.threshold, 0)} or more."
    )
    return Drawing("Workers by what they pasted", alt, draw)
