"""How far workers agree who met the same systems."""

import numpy as np

from qc.method.agreement import Agreement, Pairs
from qc.number_format import decimal, whole
from qc.render.figures.density import density, density_key
from qc.render.figures.figure import Drawing
from qc.render.figures.style import MARGIN, MUTED, WIDTH, panel, sheet

BINS = np.linspace(-1, 1, 21)
HEIGHT, HEAD, FOOT, SIDE = 320.0, 66.0, 56.0, 26.0


def agreement(result: Agreement) -> Drawing | None:
    """Draw how r is distributed over pairs of workers, for those who passed and for those who failed.

    None if there is no pair.
    """
    if len(result.passed.r) + len(result.failed.r) == 0:
        return None
    page = sheet(HEIGHT)
    axes = panel(page, SIDE, HEAD, WIDTH - 2 * SIDE, HEIGHT - HEAD - FOOT)
    axes.set(xlim=(-1, 1), xlabel="Pearson r of two workers’ scores", yticks=[])
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.axvline(0, color=MUTED, linewidth=1, zorder=0)
    for pairs, passed in ((result.passed, True), (result.failed, False)):
        density(axes, np.clip(pairs.r, -1, 1), BINS, passed=passed)
    words = [_words("passed", result.passed), _words("failed", result.failed)]
    density_key(page, MARGIN, 20, *words)
    alt = (
        f"Distributions of the correlation between two workers who met the same systems: {'; '.join(words)}."
    )
    return Drawing(page, "Agreement between workers", alt)


def _words(group: str, pairs: Pairs) -> str:
    if len(pairs.r) == 0:
        return f"{group}: no pair"
    return f"{group}: {whole(pairs.pairs)} pairs, median r {decimal(pairs.median_r, 2)}"
