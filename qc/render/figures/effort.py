"""Figure: time and words that workers spent."""

import numpy as np
from numpy.typing import NDArray

from qc.number_format import decimal
from qc.render.figures.density import density, density_key, density_scale, share_axis
from qc.render.figures.figure import Drawing
from qc.render.figures.panel import Panel, Scale, round_ticks, tick_labels
from qc.render.figures.sheet import Sheet
from qc.render.figures.style import MARGIN
from qc.robustness.filter_check import FilterCheck

MEASURES = {
    "minutes": "minutes per conversation, median of a worker",
    "words": "words per input, median of a worker",
}
SHOWN = 97.5
BIN_COUNT = 24
HEAD, TITLE, HEIGHT, FOOT, LEFT, RIGHT = 48.0, 32.0, 130.0, 58.0, 50.0, 16.0


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
    shown = {name: _groups(values, passed) for name, values in known.items()}

    def draw(width: float) -> Sheet:
        block = TITLE + HEIGHT + FOOT
        page = Sheet(width, HEAD + block * len(shown) + MARGIN)
        for i, (name, (groups, bins)) in enumerate(shown.items()):
            size = (width - LEFT - RIGHT, HEIGHT)
            ends = Scale(0.0, float(bins[-1])), density_scale(groups, bins)
            panel = Panel(page, LEFT, HEAD + block * i + TITLE, *size, *ends)
            share_axis(panel)
            ticks = round_ticks(0.0, float(bins[-1]), 6)
            panel.x_axis(ticks, tick_labels(ticks), MEASURES[name])
            for values, of_passed in zip(groups, (True, False), strict=True):
                density(panel, values, bins, passed=of_passed)
        density_key(page, MARGIN, 18, "passed", "failed")
        return page

    alts = [
        f"{MEASURES[name].split(',')[0]} {_median(groups[0])} passed, {_median(groups[1])} failed"
        for name, (groups, _) in shown.items()
    ]
    alt = f"Distributions over the workers; in the middle: {'; '.join(alts)}."
    return Drawing("Time and words of the workers", alt, draw)


def _groups(
    values: NDArray[np.float64], passed: NDArray[np.bool_]
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
    """Return what is known of those who passed and of those who failed, and the ends of the bins."""
    finite = np.isfinite(values)
    bins = np.linspace(0, float(np.percentile(values[finite], SHOWN)) or 1.0, BIN_COUNT + 1)
    return (values[finite & passed], values[finite & ~passed]), bins


def _median(values: NDArray[np.float64]) -> str:
    return decimal(float(np.median(values)) if len(values) else np.nan, 1)
