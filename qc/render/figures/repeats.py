"""How far workers agree with themselves."""

import numpy as np

from qc.number_format import decimal, whole
from qc.render.figures.density import density, density_key
from qc.render.figures.figure import Drawing
from qc.render.figures.style import MARGIN, MUTED, WIDTH, panel, sheet
from qc.transcripts.repeats import Repeats, SelfAgreement

BINS = np.linspace(-1, 1, 21)
HEIGHT, HEAD, FOOT, SIDE = 320.0, 66.0, 56.0, 26.0


def repeats(result: Repeats) -> Drawing | None:
    """Draw how r of items with their repeats is distributed over workers who passed and who failed.

    None if no worker has an r.
    """
    if len(result.passed.r) + len(result.failed.r) == 0:
        return None
    page = sheet(HEIGHT)
    axes = panel(page, SIDE, HEAD, WIDTH - 2 * SIDE, HEIGHT - HEAD - FOOT)
    axes.set(xlim=(-1, 1), xlabel="Pearson r of a worker’s two ratings", yticks=[])
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.axvline(0, color=MUTED, linewidth=1, zorder=0)
    for group, passed in ((result.passed, True), (result.failed, False)):
        density(axes, np.clip(group.r, -1, 1), BINS, passed=passed)
    words = [_words("passed", result.passed), _words("failed", result.failed)]
    density_key(page, MARGIN, 20, *words)
    alt = (
        "Distributions of the correlation of each worker’s ratings of items with those of their repeats: "
        f"{'; '.join(words)}."
    )
    return Drawing(page, "Agreement of workers with themselves", alt)


def _words(name: str, group: SelfAgreement) -> str:
    if len(group.r) == 0:
        return f"{name}: no worker with r"
    return f"{name}: {whole(len(group.r))} workers, median r {decimal(group.quartiles[1], 2)}"
