"""How much time and how many words workers spent."""

import numpy as np
from numpy.typing import NDArray

from qc.number_format import decimal
from qc.render.figures.density import density, density_key
from qc.render.figures.figure import Drawing
from qc.render.figures.style import INK, MARGIN, SMALL, WIDTH, panel, sheet
from qc.robustness.filter_check import FilterCheck

MEASURES = {
    "minutes": "minutes per conversation, median of a worker",
    "words": "words per input, median of a worker",
}
SHOWN = 97.5
BIN_COUNT = 24
HEAD, TITLE, HEIGHT, FOOT, SIDE = 52.0, 34.0, 130.0, 32.0, 20.0


def worker_effort(check: FilterCheck) -> Drawing | None:
    """Draw how minutes and words are distributed over workers who passed and who failed; None if unknown.

    The highest values, above the percentile SHOWN, are beyond the axis.
    """
    workers = check.workers
    passed = workers["passed"].to_numpy(bool)
    known = {name: workers[name].to_numpy(np.float64) for name in MEASURES}
    known = {name: values for name, values in known.items() if np.isfinite(values).any()}
    if not known:
        return None
    block = TITLE + HEIGHT + FOOT
    page = sheet(HEAD + block * len(known) + MARGIN)
    alts = []
    for i, (name, values) in enumerate(known.items()):
        finite = np.isfinite(values)
        groups = (values[finite & passed], values[finite & ~passed])
        bins = np.linspace(0, float(np.percentile(values[finite], SHOWN)) or 1.0, BIN_COUNT + 1)
        axes = panel(page, SIDE, HEAD + block * i + TITLE, WIDTH - 2 * SIDE, HEIGHT)
        axes.set(xlim=(0, bins[-1]), yticks=[])
        axes.set_title(MEASURES[name], loc="left", size=SMALL, color=INK, pad=14)
        density(axes, groups[0], bins, passed=True)
        density(axes, groups[1], bins, passed=False)
        alts.append(
            f"{MEASURES[name].split(',')[0]} {_median(groups[0])} passed, {_median(groups[1])} failed"
        )
    density_key(page, MARGIN, 18, "passed", "failed")
    alt = f"Distributions over the workers; in the middle: {'; '.join(alts)}."
    return Drawing(page, "Time and words of the workers", alt)


def _median(values: NDArray[np.float64]) -> str:
    return decimal(float(np.median(values)) if len(values) else np.nan, 1)
