"""How far workers agree who met the same systems."""

import numpy as np

from qc.method.agreement import Agreement, Pairs
from qc.number_format import decimal, whole
from qc.render.figures.density import density, density_key, density_scale, share_axis
from qc.render.figures.figure import Drawing
from qc.render.figures.panel import Panel, Scale, tick_labels
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import MARGIN

BINS = np.linspace(-1, 1, 21)
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
HEIGHT, HEAD, FOOT, LEFT, RIGHT = 336.0, 88.0, 56.0, 50.0, 16.0


def agreement(result: Agreement) -> Drawing | None:
    """Draw how r is distributed over pairs of workers, for those who passed and for those who failed.

    None if there is no pair.
    """
    if len(result.passed.r) + len(result.failed.r) == 0:
        return None
    words = [_words("passed", result.passed), _words("failed", result.failed)]
    groups = tuple(np.clip(group.r, -1, 1) for group in (result.passed, result.failed))

    def draw(width: float) -> Sheet:
        page = Sheet(width, HEIGHT)
        size = (width - LEFT - RIGHT, HEIGHT - HEAD - FOOT)
        panel = Panel(page, LEFT, HEAD, *size, Scale(-1.0, 1.0), density_scale(groups, BINS))
        share_axis(panel)
        panel.x_axis(TICKS, tick_labels(TICKS), "Pearson r of two workers’ scores")
        panel.vertical(0)
        for values, passed in zip(groups, (True, False), strict=True):
            density(panel, values, BINS, passed=passed)
        density_key(page, MARGIN, 20, *words)
        return page

    alt = (
        f"Distributions of the correlation between two workers who met the same systems: {'; '.join(words)}."
    )
    return Drawing("Agreement between workers", alt, draw)


def _words(group: str, pairs: Pairs) -> str:
    if len(pairs.r) == 0:
        return f"{group}: no pair"
    return f"{group}: {whole(pairs.pairs)} pairs, median r {decimal(pairs.median_r, 2)}"
