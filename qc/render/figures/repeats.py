"""How far workers agree with themselves."""

import numpy as np

from qc.number_format import decimal, whole
from qc.render.figures.density import density, density_key, density_scale, share_axis
from qc.render.figures.figure import Drawing
from qc.render.figures.panel import Panel, Scale, tick_labels
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import MARGIN
from qc.transcripts.repeats import Repeats, SelfAgreement

BINS = np.linspace(-1, 1, 21)
TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)
HEIGHT, HEAD, FOOT, LEFT, RIGHT = 336.0, 88.0, 56.0, 50.0, 16.0


def repeats(result: Repeats) -> Drawing | None:
    """Draw how r of items with their repeats is distributed over workers who passed and who failed.

    None if no worker has an r.
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
        panel.x_axis(TICKS, tick_labels(TICKS), "Pearson r of a worker’s two ratings")
        panel.vertical(0)
        for values, passed in zip(groups, (True, False), strict=True):
            density(panel, values, BINS, passed=passed)
        density_key(page, MARGIN, 20, *words)
        return page

    alt = (
        "Distributions of the correlation of each worker’s ratings of items with those of their repeats: "
        f"{'; '.join(words)}."
    )
    return Drawing("Agreement of workers with themselves", alt, draw)


def _words(name: str, group: SelfAgreement) -> str:
    if len(group.r) == 0:
        return f"{name}: no worker with r"
    return f"{name}: {whole(len(group.r))} workers, median r {decimal(group.quartiles[1], 2)}"
